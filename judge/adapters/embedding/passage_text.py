"""What an embedder is shown of a passage, and the number by which the vector of a text is kept."""

from hashlib import blake2b

from judge.types.search import Passage


def embedded_text(passage: Passage) -> str:
    """The passage with the headings that tell what it is about."""
    return "\n".join(filter(None, (passage.title, passage.section, passage.text)))


def text_key(text: str) -> int:
    """A signed number of 64 bits; among 100,000 texts the odds that two share one are 1 to 4e9."""
    digest = blake2b(text.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
