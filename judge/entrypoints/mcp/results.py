"""A tool's answer or error -> the protocol's result, never longer than a client can take."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp.types import CallToolResult, TextContent
from pydantic import TypeAdapter

from judge.problems import Problem

Json = dict[str, Any]

MAX_BYTES = 18_000
"""Bytes of an answer as JSON: about 6,000 tokens. A token of prose or code has three bytes at
least."""

MAX_FRAME = 13_000
"""Bytes of an answer without its lists, which have the rest."""

MAX_PROBLEM = 4_000
"""Bytes of the text of an error, and of its members."""

MAX_ENTRIES = 30
"""Of a list of texts that no item stands for, such as the files that changed."""

TEXT_LIMITS = (6_000, 2_000, 500, 100)
"""Characters to which texts are cut, tried in turn, where a single item does not fit."""

MORE_HINT = "There is more: ask more specifically, or raise the limit."

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


def size_of(value: Any) -> int:
    """The size of *value* as JSON, in bytes."""
    return len(_ANY.dump_json(value))


def as_json_text(value: Any) -> str:
    """*value* as JSON, without spaces."""
    return _ANY.dump_json(value).decode()


def capped(value: Any, lists: Sequence[str] = ()) -> Json:
    """*value* as JSON of at most MAX_BYTES: items are left off the ends of *lists*.

    `truncated` says so, and a `hint` what to do. Texts that are too long are cut.
    """
    answer: Json = _ANY.dump_python(value, mode="json")
    if any(answer[name] for name in lists) and size_of(answer) > MAX_BYTES:
        answer = _fitting(answer, lists)
    if answer.get("truncated") and not answer.get("hint"):
        answer["hint"] = MORE_HINT
    return dict(shortened(answer, MAX_BYTES))


def _fitting(answer: Json, lists: Sequence[str]) -> Json:
    """*answer* with the items of *lists* that fit, at least one, which is cut if need be."""
    frame = shortened({**answer, **{name: [] for name in lists}}, MAX_FRAME)
    room = MAX_BYTES - size_of(frame)
    first, *others = [(owner, item) for owner in lists for item in answer[owner]]
    fitting = [(first[0], shortened(first[1], room))]
    room -= size_of(fitting[0][1]) + 1
    for owner, item in others:
        room -= size_of(item) + 1
        if room < 0:
            frame["truncated"] = True
            break
        fitting.append((owner, item))
    for owner, item in fitting:
        frame[owner].append(item)
    return dict(frame)


def shortened(value: Any, room: int) -> Any:
    """*value* with its texts and lists of texts cut, if needed, to take at most *room* bytes."""
    for max_length in TEXT_LIMITS:
        if size_of(value) <= room:
            break
        value = _cut(value, max_length)
    return value


def _cut(value: Any, max_length: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= max_length else f"{value[: max_length - 1]}…"
    if isinstance(value, Mapping):
        return {name: _cut(below, max_length) for name, below in value.items()}
    if isinstance(value, list):
        if len(value) > MAX_ENTRIES and all(isinstance(item, str) for item in value):
            value = [*value[:MAX_ENTRIES], f"… and {len(value) - MAX_ENTRIES} more"]
        return [_cut(item, max_length) for item in value]
    return value


def success(answer: Json, *, is_structured: bool) -> CallToolResult:
    """*answer* as text, for clients that read nothing else, and as structured content."""
    if is_structured:
        return CallToolResult(content=[_text(as_json_text(answer))], structured_content=answer)
    # The answer format is text already, and unreadable within JSON.
    texts = [text] if (text := answer.pop("answer", None)) else []
    return CallToolResult(content=[_text(text) for text in (*texts, as_json_text(answer))])


def failure(problem: Problem) -> CallToolResult:
    """*problem* with the same text as at every other entrypoint, and its members as JSON.

    Without structured content: the SDK for TypeScript validates that of an error too against the
    output schema, and then shows neither.
    """
    members = shortened(_ANY.dump_python(dict(problem.members), mode="json"), MAX_PROBLEM)
    texts = [shortened(problem.detail, MAX_PROBLEM), *([as_json_text(members)] if members else [])]
    return CallToolResult(content=[_text(text) for text in texts], is_error=True)


def _text(text: str) -> TextContent:
    return TextContent(text=text)
