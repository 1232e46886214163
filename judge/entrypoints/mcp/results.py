"""A tool's answer or error -> the protocol's result, never longer than a client can take."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from mcp.types import CallToolResult, TextContent
from pydantic import TypeAdapter

from judge.problems import Problem

Json = dict[str, Any]

MAX_BYTES = 18_000
"""Bytes of a reply, its text and its structured content together: about 6,000 tokens."""

MAX_PROBLEM = 4_000
"""Bytes of the text of an error, and of its members."""

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


def as_json_text(value: Any) -> str:
    """*value* as JSON, without spaces."""
    return _ANY.dump_json(value).decode()


def without_empty(value: Any) -> Any:
    """*value* without members that are empty or null, as many clients send what is left out."""
    is_object = isinstance(value, dict)
    return {n: v for n, v in value.items() if v not in ("", None)} if is_object else value


def size_of(value: Any) -> int:
    """The size of *value* as JSON, in bytes."""
    return len(_ANY.dump_json(value))


def capped(value: Any, lists: Sequence[str] = (), room: int = MAX_BYTES) -> Json:
    """*value* as JSON of about *room* bytes: items are left off *lists*, and long texts are cut."""
    answer: Json = _ANY.dump_python(value, mode="json")
    if lists:
        answer.setdefault("truncated", False)
    if lists and size_of(answer) > room:
        frame = {name: below for name, below in answer.items() if name not in lists}
        answer |= shortened(frame, room * 2 // 3)
    for name in reversed(lists):
        left = room - size_of({**answer, name: []})
        ends = accumulate(size_of(item) + 1 for item in answer[name])
        fitting = max(sum(end <= left for end in ends), name == lists[0])
        if fitting < len(answer[name]):
            answer |= {name: answer[name][:fitting], "truncated": True}
    if answer.get("truncated") and not answer.get("hint"):
        answer["hint"] = "There is more: ask more specifically, or raise the limit."
    return dict(shortened(answer, room))


def shortened(value: Any, room: int) -> Any:
    """*value* with its texts and lists of texts cut, if needed, to take at most *room* bytes."""
    for max_length in (6_000, 2_000, 500, 100):  # characters
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
        if len(value) > 30 and all(isinstance(item, str) for item in value):
            value = [*value[:30], f"… and {len(value) - 30} more"]
        return [_cut(item, max_length) for item in value]
    return value


def success(answer: Json, *, is_structured: bool) -> CallToolResult:
    """*answer* as text, for clients that read nothing else, and as structured content."""
    # The answer format is text already, and unreadable within JSON.
    blocks = answer.get("answer")
    rest = {name: value for name, value in answer.items() if name != "answer"} if blocks else answer
    texts = [*([blocks] if blocks else []), as_json_text(rest)]
    return CallToolResult(
        content=[TextContent(text=text) for text in texts],
        structured_content=answer if is_structured else None,
    )


def failure(problem: Problem, asked: Json) -> CallToolResult:
    """*problem* in words, then as JSON with what was *asked* and the problem's members.

    Not structured: the SDK for TypeScript validates that too against the schema of the output.
    """
    told = {"error": problem.detail, **asked, **problem.members}
    members = shortened(_ANY.dump_python(told, mode="json"), MAX_PROBLEM)
    texts = [shortened(problem.detail, MAX_PROBLEM), as_json_text(members)]
    return CallToolResult(content=[TextContent(text=text) for text in texts], is_error=True)
