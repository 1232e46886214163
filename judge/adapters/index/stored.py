"""What the engines share: passages as JSON, and the text that is embedded with its key."""

from hashlib import blake2b

from pydantic import TypeAdapter

from judge.types.search import IndexedDocument, Passage

PASSAGE: TypeAdapter[Passage] = TypeAdapter(Passage)
RECORD: TypeAdapter[IndexedDocument] = TypeAdapter(IndexedDocument)

WORDS_ONLY = "Only the words were searched, not their meaning: {reason}"
"""The warning of a search without vectors."""

UNUSED_VECTORS = "the index has vectors of {name}, and JUDGE_EMBEDDER names no embedder."
"""The reason for it where the embedder, or its key, is gone."""


def embedded_text(passage: Passage) -> str:
    """The title, the section and the text of *passage*."""
    return "\n".join(filter(None, (passage.title, passage.section, passage.text)))


def text_key(text: str) -> int:
    """A signed 64-bit hash; among 100,000 texts the odds that two collide are 1 in 4e9."""
    digest = blake2b(text.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
