"""The work of `judge check`: read the files, check, and show what was found."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from judge.bootstrap import open_library
from judge.citations.check import CheckedAnswer, CheckedMark
from judge.entrypoints.check_requests import MAX_ANSWER, MAX_BYTES, CheckRequest
from judge.entrypoints.check_requests import check as check_request
from judge.entrypoints.cli.options import FOUND_SOMETHING, FROM_STDIN, read_text
from judge.entrypoints.cli.output import format_json
from judge.entrypoints.cli.plain_text import one_line
from judge.errors import InvalidRequest
from judge.ports import Journal
from judge.settings import load_settings
from judge.types.request_fields import parse_fields

ADDRESS = ("https://", "http://")


def read_answer(name: str) -> str:
    """The answer in the file *name*, or on stdin; raises InvalidRequest."""
    return read_text(name) if name == FROM_STDIN else _read(name, MAX_ANSWER)


async def check_files(
    journal: Journal, answer: str, *, sources: Sequence[str], marks: str | None, form: str
) -> int:
    """Check *answer* against *sources* and print what was found; the exit code.

    Raises the errors of `check`, and ConfigurationError where a page is named.
    """
    fields = {"answer": answer, "sources": [_source(name) for name in sources], "marks": marks}
    request = parse_fields(CheckRequest, fields)
    if request.names_pages:
        async with open_library(load_settings(), journal) as library:
            result = await check_request(request, library)
    else:
        result = await check_request(request)
    if form == "json":
        click.echo(format_json(result))
    else:
        click.echo("\n".join(_lines(answer, result)))
    return 0 if result.verdict == "supported" else FOUND_SOMETHING


def _source(name: str) -> dict[str, str]:
    if name.startswith(ADDRESS):
        return {"url": name}
    return {"text": _read(name, MAX_BYTES), "title": Path(name).name}


def _read(name: str, most: int) -> str:
    """The text of a file, lines as they are, with one character above *most* at most."""
    try:
        with Path(name).open(encoding="utf-8-sig", errors="replace", newline="") as file:
            return file.read(most + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror or "") if isinstance(error, OSError) else "the name is not one"
        raise InvalidRequest(f"{name} cannot be read: {reason}. Name a text file.") from None


def _lines(answer: str, result: CheckedAnswer) -> Iterator[str]:
    """A line for each mark and each claim without one, in the answer's order, and the verdict."""
    found = [
        (
            mark.start,
            f"{one_line(answer[mark.start : mark.end])} {_told(mark, len(result.sources))}",
        )
        for mark in result.marks
    ]
    found += [
        (claim.start, f"cites nothing: {one_line(answer[claim.start : claim.end])}")
        for claim in result.uncited
    ]
    for start, text in sorted(found, key=lambda one: one[0]):
        yield f"line {answer.count(chr(10), 0, start) + 1}: {text}"
    yield f"Verdict: {result.verdict}"


def _told(mark: CheckedMark, count: int) -> str:
    if mark.number is None:
        return "is no citation that can be understood."
    if not mark.in_range:
        return f"has no source: they are numbered 1 to {count}."
    support = "too short to measure" if mark.support is None else f"support {mark.support:.2f}"
    opposite = ", CONTRADICTED" if mark.contradicts else ""
    sentence = f": {one_line(mark.sentence)}" if mark.sentence else ""
    return f"source {mark.number}, {support}{opposite}{sentence}"
