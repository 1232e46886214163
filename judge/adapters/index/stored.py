"""What the engines share: passages as JSON, the texts searched and embedded, and rank fusion."""

from collections.abc import Sequence
from hashlib import blake2b

from pydantic import TypeAdapter

from judge.text.english import strip_accents
from judge.text.index_tokens import identifier_parts
from judge.types.search import Hit, IndexedDocument, Passage

PASSAGE: TypeAdapter[Passage] = TypeAdapter(Passage)
RECORD: TypeAdapter[IndexedDocument] = TypeAdapter(IndexedDocument)

WORDS_ONLY = "Only the words were searched, not their meaning: {reason}"
"""The warning of a search without vectors."""

UNUSED_VECTORS = "the index has vectors of {name}, and JUDGE_EMBEDDER names no embedder."
"""The reason for it where the embedder, or its key, is gone."""


TOP_HITS = 100
"""How many hits of each ranking are fused by rank; further hits of the words come after them."""

RANK_CONSTANT = 2
"""Of reciprocal rank fusion: the first of a ranking counts 1/2, the next 1/3. Qdrant's default, so
that both engines rank alike, and not 60 as in Cormack, Clarke and Büttcher, SIGIR 2009."""


def embedded_text(passage: Passage) -> str:
    """The title, the section and the text of *passage*."""
    return "\n".join(filter(None, (passage.title, passage.section, passage.text)))


def text_key(text: str) -> int:
    """A signed 64-bit hash; among 100,000 texts the odds that two collide are 1 in 4e9."""
    digest = blake2b(text.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def searched_text(passage: Passage) -> str:
    """The text by which the words of *passage* are found."""
    heads = dict.fromkeys((passage.title, passage.chapter or "", passage.section or ""))
    text = strip_accents(passage.text)
    return "\n".join((text, *heads, identifier_parts(text)))


def fused(text: Sequence[Hit], near: Sequence[Passage]) -> tuple[Hit, ...]:
    """The best of both rankings by reciprocal rank fusion, then the rest of *text*.

    On ties the hits of *text* come first.
    """
    ranked = [hit.passage for hit in text]
    passages = {passage.id: passage for passage in (*ranked, *near)}
    scores: dict[str, float] = {}
    for ranking in (ranked[:TOP_HITS], near):
        for rank, passage in enumerate(ranking):
            scores[passage.id] = scores.get(passage.id, 0.0) + 1 / (rank + RANK_CONSTANT)
    best = sorted(scores.items(), key=lambda pair: -pair[1])
    rest = [passage.id for passage in ranked[TOP_HITS:] if passage.id not in scores]
    best += [(key, 1 / (rank + RANK_CONSTANT)) for rank, key in enumerate(rest, TOP_HITS)]
    return tuple(Hit(passages[key], score) for key, score in best)
