"""Response models: the JSON that more than one entrypoint sends."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from judge.library.search.highlight import highlighter
from judge.library.sources.catalog import SourceCatalog
from judge.types.search import Hit, Passage, SearchQuery

METADATA = (
    "chapter", "section", "folder", "start_line", "end_line", "language", "tags", "modified",
)  # fmt: skip
"""The attributes of a passage in its `metadata`, beside its path."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage that was found; scores compare only within one search."""

    id: str
    text: str
    score: float
    document_id: str
    document_title: str
    collection_id: str
    collection_name: str
    position: int
    highlight: str
    metadata: dict[str, Any]
    """Where it stands: `path`, `source_url` (an address or a path), `chapter`, `section`, `folder`,
    `start_line` and `end_line` from 1, `language`, `tags` and `modified`; or empty.
    """


class SearchResponse(TypedDict):
    """What was found; `hint` and `warnings` are there when there is one."""

    query: str
    context: str | None
    chunks: list[Chunk]
    total_found: int
    search_time_ms: float
    filters_applied: dict[str, Any]
    """The scope as understood: `scope` as it is written, and its `clauses`; empty is everywhere."""
    hint: NotRequired[str]
    """What of the scope held nothing, or that nothing is indexed."""
    warnings: NotRequired[Sequence[str]]


@dataclass(frozen=True, slots=True)
class SourceResponse:
    """A page that is quoted."""

    url: str
    title: str


@dataclass(frozen=True, slots=True)
class DomainResponse:
    """What a dispute can be about, and the pages that are quoted for it."""

    name: str
    title: str
    sources: tuple[SourceResponse, ...]


class DomainsResponse(TypedDict):
    """All domains, in the order of the sources file."""

    domains: list[DomainResponse]


def chunks(hits: Iterable[Hit], question: SearchQuery, *, with_metadata: bool) -> Iterator[Chunk]:
    """*hits* as chunks, with the words of *question* marked in their highlights."""
    highlight = highlighter(question)
    for hit in hits:
        passage = hit.passage
        yield Chunk(
            id=passage.id,
            text=passage.text,
            score=round(hit.score, 4),
            document_id=passage.document_id,
            document_title=passage.title,
            collection_id=passage.collection,
            collection_name=passage.collection,
            position=passage.position,
            highlight=highlight(passage.text),
            metadata=metadata(passage) if with_metadata else {},
        )


def metadata(passage: Passage) -> dict[str, Any]:
    """Where *passage* stands; lines count from 1, `source_url` is an address or a path."""
    metadata = {name: getattr(passage, name) for name in METADATA}
    return {"path": passage.path, "source_url": passage.path} | metadata


def domains(catalog: SourceCatalog) -> list[DomainResponse]:
    """The domains in the order of the sources file."""
    return [
        DomainResponse(
            domain.name,
            domain.title,
            tuple(SourceResponse(page.url, page.title) for page in domain.sources),
        )
        for domain in catalog.domains
    ]
