"""Search results and errors, in the formats that scripts rely on.

Every line is part of the interface; tests compare them byte for byte.
"""

from dataclasses import asdict, dataclass
from typing import Any

from judge.entrypoints.cli.options import COULD_NOT_ANSWER
from judge.entrypoints.cli.output import format_json
from judge.entrypoints.cli.plain_text import one_line, plain_lines
from judge.library.search.answer_format import ReplyMark
from judge.types.search import Hit

NOTHING = "No matching content found in the knowledge base."
ABSENT = "-"
_WIDTH = 50
_DOUBLE = "=" * _WIDTH
_SINGLE = "-" * _WIDTH


@dataclass(frozen=True, slots=True)
class Results:
    """The hits of a query, and the collections that were searched."""

    query: str
    collection: str
    hits: tuple[Hit, ...]
    warnings: tuple[str, ...] = ()
    hint: str | None = None

    @property
    def context(self) -> dict[str, Any]:
        """The hits as one context: how many, how long, and their paths, the best hit's first."""
        return {
            "chunk_count": len(self.hits),
            "total_chars": sum(len(hit.passage.text) for hit in self.hits),
            "sources": list(dict.fromkeys(hit.passage.path for hit in self.hits)),
        }


@dataclass(frozen=True, slots=True)
class CheckedMarks:
    """The citation marks of a reply, and how many sources they may name."""

    source_count: int
    marks: tuple[ReplyMark, ...]
    warnings: tuple[str, ...] = ()

    @property
    def bad(self) -> tuple[ReplyMark, ...]:
        """The marks that name no source."""
        return tuple(mark for mark in self.marks if not mark.in_range)


@dataclass(frozen=True, slots=True)
class SearchFailure:
    """Why there is no answer; `code` is a stable name."""

    code: str
    message: str
    details: str


def results_text(results: Results) -> str:
    """For people; ends with a line end."""
    lines = [
        _DOUBLE,
        "Search Results",
        _DOUBLE,
        f'Query: "{one_line(results.query)}"',
        f"Collection: {one_line(results.collection)}",
        f"Results: {len(results.hits)}",
        "",
    ]
    if results.hits:
        lines += [_DOUBLE, ""]
        for rank, hit in enumerate(results.hits, start=1):
            lines += _hit_lines(rank, hit)
        count, characters, sources = results.context.values()
        lines += [
            _DOUBLE,
            f"Context assembled: {count} chunks, {characters} characters",
            f"Sources: {len(sources)} unique pages",
        ]
    else:
        lines.append(NOTHING)
    return "\n".join([*lines, _DOUBLE, ""])


def results_json(results: Results) -> str:
    """For programs; ends with a line end."""
    body: dict[str, Any] = {
        "status": "success",
        "query": results.query,
        "collection": results.collection,
        "count": len(results.hits),
        "chunks": [_chunk(rank, hit) for rank, hit in enumerate(results.hits, start=1)],
    }
    if results.hits:
        body["context"] = results.context
    else:
        body["message"] = NOTHING
    if results.hint:
        body["hint"] = results.hint
    if results.warnings:
        body["warnings"] = list(results.warnings)
    return format_json(body) + "\n"


def checked_text(checked: CheckedMarks) -> str:
    """For people: a line for each mark without a source."""
    there_are = f"there {'is' if checked.source_count == 1 else 'are'} {checked.source_count}"
    return "".join(
        f"line {mark.line}: {one_line(mark.text)} has no source; {there_are}.\n"
        for mark in checked.bad
    )


def checked_json(checked: CheckedMarks) -> str:
    """For programs; ends with a line end."""
    body = {"status": "success", **asdict(checked)}
    if not checked.warnings:
        del body["warnings"]
    return format_json(body) + "\n"


def failure_text(failure: SearchFailure) -> str:
    """For people; ends with a line end."""
    lines = [
        _DOUBLE,
        "Error",
        _DOUBLE,
        f"Code: {failure.code}",
        f"Message: {one_line(failure.message)}",
        f"Details: {one_line(failure.details)}",
        "",
        f"Exit code: {COULD_NOT_ANSWER}",
        _DOUBLE,
    ]
    return "\n".join([*lines, ""])


def failure_json(failure: SearchFailure) -> str:
    """For programs; ends with a line end."""
    return format_json({"status": "error", **asdict(failure)}) + "\n"


def _hit_lines(rank: int, hit: Hit) -> list[str]:
    passage = hit.passage
    return [
        f"[{rank}] Score: {hit.score:.3f}",
        f"Source: {one_line(passage.path)}",
        f"Chapter: {one_line(passage.chapter or ABSENT)}",
        f"Section: {one_line(passage.section or ABSENT)}",
        "---",
        plain_lines(passage.text.strip("\n")),
        "",
        _SINGLE,
        "",
    ]


def _chunk(rank: int, hit: Hit) -> dict[str, Any]:
    passage = hit.passage
    return {
        "rank": rank,
        "score": round(hit.score, 3),
        "source_url": passage.path,
        "chapter": passage.chapter,
        "section": passage.section,
        "title": passage.title,
        "chunk_index": passage.position,
        "chunk_id": passage.id,
        "text": passage.text,
    }
