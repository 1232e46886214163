"""The work of `judge check`: read the files, check the citations, and print the findings."""

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judge.bootstrap.library import open_library
from judge.citations.check import CheckedAnswer, CheckedMark, UncitedClaim
from judge.entrypoints.check_requests import MAX_ANSWER, MAX_BYTES, CheckRequest
from judge.entrypoints.check_requests import check as check_request
from judge.entrypoints.cli.options import FOUND_SOMETHING, read_file
from judge.entrypoints.cli.output import show
from judge.entrypoints.cli.plain_text import one_line
from judge.ports import Journal
from judge.settings import load_settings
from judge.types.request_fields import BadFields, FieldError, parse_fields


def check_files(
    journal: Journal, *, answer: str, sources: Sequence[str], marks: str | None, form: str
) -> Awaitable[int]:
    """Check the *answer* in a file or on stdin against *sources*, and print it; the exit code."""
    # Line ends stay as they are, since the report names lines.
    text = read_file(answer, MAX_ANSWER, newline="")
    fields = {"answer": text, "sources": [_source(name) for name in sources], "marks": marks}
    return _check(journal, fields, sources, form)


async def _check(
    journal: Journal, fields: Mapping[str, Any], sources: Sequence[str], form: str
) -> int:
    try:
        request = parse_fields(CheckRequest, fields)
        if request.names("url"):
            async with open_library(load_settings(), journal) as library:
                result = await check_request(request, library)
        else:
            result = await check_request(request)
    except BadFields as bad:
        errors = [FieldError(_as_typed(e.field, sources), e.message) for e in bad.errors]
        raise BadFields(errors) from None
    show(form, result, ["\n".join(_lines(request.answer, result))])
    return 0 if result.verdict == "supported" else FOUND_SOMETHING


def _as_typed(field: str, sources: Sequence[str]) -> str:
    """The source that *field* is about, such as `sources.0.text`, as it was typed; else *field*."""
    parent, number, *_ = [*field.split("."), ""]
    return one_line(sources[int(number)]) if parent == "sources" and number.isdecimal() else field


def _source(name: str) -> dict[str, str]:
    if name.startswith(("https://", "http://")):
        return {"url": name}
    return {
        "text": read_file(name, MAX_BYTES, newline=""),
        "title": Path(name).name.encode(errors="replace").decode(),
    }


def _lines(answer: str, result: CheckedAnswer) -> Iterator[str]:
    """A line for each citation mark and uncited claim, in the answer's order; then the verdict."""
    places: list[CheckedMark | UncitedClaim] = [*result.marks, *result.uncited]
    for place in sorted(places, key=lambda place: place.start):
        words = one_line(answer[place.start : place.end])
        if isinstance(place, CheckedMark):
            finding = f"{words} {_finding(place, len(result.sources))}"
        else:
            finding = f"cites nothing: {words}"
        yield f"line {answer.count(chr(10), 0, place.start) + 1}: {finding}"
    yield f"Verdict: {result.verdict}"


def _finding(mark: CheckedMark, count: int) -> str:
    if mark.number is None:
        return "is no citation that can be understood."
    if not mark.in_range:
        return f"has no source: they are numbered 1 to {count}."
    support = "too short to measure" if mark.support is None else f"support {mark.support:.2f}"
    opposite = ", CONTRADICTED" if mark.contradicts else ""
    sentence = f": {one_line(mark.sentence)}" if mark.sentence else ""
    return f"source {mark.number}, {support}{opposite}{sentence}"
