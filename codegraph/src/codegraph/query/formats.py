"""Results as JSON, as text for people, and as a Mermaid flow chart."""

from dataclasses import asdict
from typing import Any

from codegraph import models

_TITLES = {
    "possible": "possible",
    "inferred": "{}, by inference",
    "dispatch": "{}, by overriding",
    "text": "mentions in text",
}

Result = (
    models.SearchResult | models.WhereUsedResult | models.LineageResult | models.CodeContextResult
)


def as_json(result: Result) -> dict[str, Any]:
    """The result as every entry point returns it; without `staleness` if nothing is stale."""
    members = asdict(result)
    if not result.staleness:
        del members["staleness"]
    return members


def as_text(result: Result) -> str:
    """The result for people: each item with its file and line, then notes."""
    if isinstance(result, models.WhereUsedResult):
        lines = _uses(result)
    elif isinstance(result, models.LineageResult):
        lines = [
            f"{'  ' * (item.depth - 1)}{item.symbol}  ({item.kind}, {item.file}:{item.line})"
            for item in result.items
        ]
    elif isinstance(result, models.CodeContextResult):
        lines = [
            f"{item.kind} {item.symbol}  {item.file}:{item.line}\n{item.snippet.text}\n"
            for item in result.items
        ]
    else:
        lines = [_numbered(item.snippet.text, item) for item in result.items]
    return "\n".join([*(lines or ["Nothing found."]), *_notes(result)])


def as_mermaid(result: models.WhereUsedResult | models.LineageResult) -> str:
    """The result as a Mermaid flow chart; arrows point from the user to what it uses."""
    if isinstance(result, models.LineageResult):
        users, used = (-2, -1) if result.direction == "upstream" else (-1, -2)
        arrows = [(item.path[users], item.path[used]) for item in result.items]
    else:
        uses = (item for item in result.items if item.kind != "definition")
        arrows = [(item.enclosing or item.file, result.resolved) for item in uses]
    names = list(dict.fromkeys([result.resolved, *(name for pair in arrows for name in pair)]))
    ids = {name: f"n{index}" for index, name in enumerate(names)}
    labels = [n.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;") for n in names]
    lines = [f'    {ids[name]}["{label}"]' for name, label in zip(names, labels, strict=True)]
    lines += [f"    {ids[source]} --> {ids[target]}" for source, target in dict.fromkeys(arrows)]
    return "\n".join(["flowchart LR", *lines, f"    style {ids[result.resolved]} stroke-width:3px"])


def _uses(result: models.WhereUsedResult) -> list[str]:
    lines: list[str] = []
    heading = ""
    for item in result.items:
        title = _TITLES.get(item.confidence, "{}").format(item.kind)
        if title != heading:
            heading = title
            lines.append(f"{heading}:")
        lines.append(f"  {item.file}:{item.line}: {_used_line(item)}")
    return lines


def _used_line(item: models.WhereUsedItem) -> str:
    lines = item.snippet.text.split("\n")
    index = item.line - item.snippet.location.start_line
    return lines[index].strip() if 0 <= index < len(lines) else ""


def _numbered(text: str, item: Any) -> str:
    start = item.snippet.location.start_line
    lines = [
        f"{item.file}:{number}{':' if number in item.lines else '-'} {line}"
        for number, line in enumerate(text.split("\n"), start)
    ]
    return "\n".join([*lines, "--"])


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _notes(result: Result) -> list[str]:
    notes = []
    if result.truncated:
        notes.append("There is more; raise the limit to see it.")
    if isinstance(result, models.WhereUsedResult) and result.text_mentions:
        lines = _counted(result.text_mentions, "line")
        notes.append(f"Mentioned in the text of {lines} (--text shows them).")
    if isinstance(result, models.WhereUsedResult) and result.possible_count:
        uses = _counted(result.possible_count, "use")
        notes.append(f"{uses} on receivers of unknown type (--possible shows them).")
    if result.freshness_state != "FRESH":
        stale = result.staleness
        names = [*stale.changed, *stale.added, *stale.deleted]
        about = ", ".join(names[:5]) or stale.reason or ""
        notes.append(f"The graph is {result.freshness_state.lower()}: {about}")
    return notes
