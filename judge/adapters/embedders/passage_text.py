"""The text of a passage that is embedded, and the key under which a text's vector is stored."""

from hashlib import blake2b

from judge.types.search import Passage


def embedded_text(passage: Passage) -> str:
    """The title, the section and the text of *passage*."""
    return "\n".join(filter(None, (passage.title, passage.section, passage.text)))


def text_key(text: str) -> int:
    """A signed 64-bit hash; among 100,000 texts the odds that two collide are 1 in 4e9."""
    digest = blake2b(text.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
