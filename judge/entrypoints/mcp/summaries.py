"""Structured answers as a few lines of text: what was found and where, with texts cut short.

Clients that read structured content show these to people at most; others can continue from them.
"""

from collections.abc import Iterable
from typing import Any

from judge.citations.check import SUPPORT_THRESHOLD
from judge.entrypoints.mcp.pagination import Json
from judge.library.search.answer_format import cite_mark
from judge.text.english import counted

MAX_LINE = 240
"""Characters of one line about one item."""


def verdict(answer: Json) -> str:
    """The verdicts, the summary, warnings and help lines."""
    verdicts = "; ".join(f"{p['name']}: {p['verdict'] or 'no verdict'}" for p in answer["personas"])
    help_lines = (f"{line['title']}: {line['phone'] or line['url']}" for line in answer["help"])
    return _lines([verdicts, answer["summary"], *answer["warnings"], *help_lines], answer)


def passages(answer: Json) -> str:
    """Each passage with its place and highlight."""
    found = f"{len(answer['results'])} of {counted(answer['total_found'], 'passage')}:"
    shown = [
        line
        for number, chunk in enumerate(answer["results"], start=1)
        for line in (f"[{number}] {_place(chunk)}", _line(chunk["highlight"]))
    ]
    marks = " ".join(cite_mark(number) for number in range(1, len(answer["results"]) + 1))
    ending = ["---", f"Sources: {marks}"] if answer["answer"] and marks else []
    return _lines([found, *shown, *ending, *answer["warnings"]], answer)


def passage(answer: Json) -> str:
    """The positions of the passages, and the beginning of the requested one."""
    listed = ", ".join(str(near["position"]) for near in answer["passages"])
    head = f"{answer['title']} ({answer['id']}), passages at {listed}:"
    return _lines([head, _line(answer["text"])], answer)


def collections(answer: Json) -> str:
    """Each collection with its size."""
    listed = (
        f"{stats['name']}: {counted(stats['documents'], 'document')}, "
        f"{counted(stats['passages'], 'passage')}"
        for stats in answer["collections"]
    )
    return _lines([f"{counted(answer['total'], 'collection')}:", *listed], answer)


def code(answer: Json) -> str:
    """Each place with its line of code."""
    head = answer.get("resolved") or answer["query"]
    items = [_line(_item(item)) for item in answer["items"]]
    stale = [] if answer["freshness_state"] == "FRESH" else ["The graph is older than the files."]
    return _lines([f"{head}: {counted(len(items), 'item')}", *items, *stale], answer)


def checked(answer: Json) -> str:
    """The verdict, and each mark that its source does not support."""
    marks = answer["marks"]
    doubtful = [_line(_mark(mark)) for mark in marks if _is_doubtful(mark)]
    found = f"{counted(len(marks), 'mark')}, {counted(len(answer['uncited']), 'claim')} without one"
    return _lines([f"The answer is {answer['verdict']}: {found}.", *doubtful], answer)


def _lines(lines: Iterable[str], answer: Json) -> str:
    """*lines*, then the hint and the cursor of *answer*, if any."""
    hint = answer.get("hint")
    cursor = answer.get("next_cursor")
    rest = [hint] if hint else []
    return "\n".join([*lines, *rest, *([f"next_cursor: {cursor}"] if cursor else [])])


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 1]}…"


def _place(chunk: Json) -> str:
    place = chunk["metadata"]
    lines = f" {place['path']}:{place['start_line']}-{place['end_line']}" if place else ""
    return f"{chunk['id']}{lines}"


def _item(item: Json) -> str:
    name = item.get("symbol") or item.get("enclosing")
    doubt = [] if item["confidence"] == "exact" else [f"({item['confidence']})"]
    place = f"{item['file']}:{item['line']}"
    return " ".join(
        ["-", place, item["kind"], *([str(name)] if name else []), *doubt, _source_line(item)]
    )


def _source_line(item: Json) -> str:
    """The line of *item* in its snippet."""
    lines = item["snippet"]["text"].split("\n")
    place = item["line"] - item["snippet"]["location"]["start_line"]
    return lines[place].strip() if 0 <= place < len(lines) else ""


def _is_doubtful(mark: Json) -> bool:
    is_weak = mark["support"] is not None and mark["support"] < SUPPORT_THRESHOLD
    return not mark["in_range"] or mark["contradicts"] or is_weak


def _mark(mark: dict[str, Any]) -> str:
    if mark["number"] is None:
        return f"- at {mark['start']}: no citation that can be understood"
    if not mark["in_range"]:
        return f"- {mark['number']} at {mark['start']}: there is no such source"
    finding = "its source says the opposite: " if mark["contradicts"] else ""
    return f"- {mark['number']} at {mark['start']}: {finding}support {mark['support']}"
