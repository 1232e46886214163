"""What the engines share: the stored passage, the question's terms and vector, rank fusion."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import blake2b

from pydantic import TypeAdapter

from judge.errors import EmbedderUnavailable
from judge.ports import Embedder
from judge.text.index_tokens import identifier_parts, idf, query_term_weight, term_id, terms_of
from judge.types.search import Hit, IndexedDocument, Passage, SearchQuery, fold_name

PASSAGE: TypeAdapter[Passage] = TypeAdapter(Passage)
RECORD: TypeAdapter[IndexedDocument] = TypeAdapter(IndexedDocument)

WORDS_ONLY = "Only the words were searched, not their meaning: {reason}"
"""The warning of a search without vectors."""

TOP_HITS = 100
"""How many hits of each ranking are fused by rank, at least; further hits of the words come after
them."""

RANK_CONSTANT = 2
"""Of reciprocal rank fusion: the first of a ranking counts 1/2, the next 1/3. Qdrant's default, so
that both engines rank alike, and not 60 as in Cormack, Clarke and Büttcher, SIGIR 2009."""

AVERAGE_TERMS = 200
"""Of a passage: about what the splitter makes."""


def embedded_text(passage: Passage) -> str:
    """The title, the section and the text of *passage*."""
    return "\n".join(filter(None, (passage.title, passage.section, passage.text)))


def text_key(text: str) -> int:
    """A signed 64-bit hash; among 100,000 texts the odds that two collide are 1 in 4e9."""
    digest = blake2b(text.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def passage_terms(passage: Passage) -> list[str]:
    """The terms of *passage*: those of its text, headings and parts of identifiers."""
    heads = dict.fromkeys((passage.title, passage.chapter or "", passage.section or ""))
    text = "\n".join((passage.text, *heads))
    return terms_of(f"{text}\n{identifier_parts(text)}")


def query_terms(query: SearchQuery) -> Counter[str]:
    """How often each term is in the words and phrases of *query*."""
    return Counter(terms_of(" ".join(query.words + query.phrases)))


def query_weights(
    terms: Mapping[str, int], frequencies: Mapping[str, int], passages: int
) -> dict[int, float]:
    """The weight of each of *terms* by `term_id`, from its frequency among *passages*."""
    total = max(passages, 1)
    return {
        term_id(term): query_term_weight(count) * idf(frequencies[term], total)
        for term, count in terms.items()
    }


async def query_vector(
    embedder: Embedder | None, query: SearchQuery, kept: Collection[str]
) -> tuple[list[float] | None, tuple[str, ...]]:
    """The vector of *query*, or None and a warning; *kept* names embedders with vectors."""
    if embedder is None:  # or its key is gone
        told = "the index has vectors of {}, and JUDGE_EMBEDDER names no embedder."
        reasons = [told.format(name) for name in sorted(kept)]
    elif embedder.name not in kept:
        reasons = [f"the documents were indexed without vectors of {embedder.name}."]
    else:
        try:
            return await embedder.embed_query(query.text), ()
        except EmbedderUnavailable as error:
            reasons = [str(error)]
    return None, tuple(WORDS_ONLY.format(reason=reason) for reason in reasons)


def neighbours(passage_id: str, before: int, after: int) -> list[str]:
    """The ids of a passage and of those around it; none for what is no id."""
    document, _, position = passage_id.rpartition(":")
    if not (position.isascii() and position.isdecimal()):
        return []
    positions = range(max(0, int(position) - before), int(position) + after + 1)
    return [f"{document}:{number}" for number in positions]


def window(passage_id: str, found: Iterable[Passage]) -> tuple[Passage, ...]:
    """The passages *found* in order; none if the passage itself is not among them."""
    passages = sorted(found, key=lambda passage: passage.position)
    is_there = any(fold_name(passage.id) == fold_name(passage_id) for passage in passages)
    return tuple(passages) if is_there else ()


def fused(text: Sequence[Hit], near: Sequence[Passage]) -> tuple[Hit, ...]:
    """The best of both by reciprocal rank fusion, on ties *text* first, then the rest of *text*."""
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
