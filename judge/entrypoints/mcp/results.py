"""A tool's answer or error -> the protocol's result: one part, structured, with a summary."""

from typing import Any

from mcp.types import CallToolResult, TextContent

from judge.entrypoints.mcp.features import ToolSpec
from judge.entrypoints.mcp.pagination import (
    MAX_STRUCTURED,
    MAX_SUMMARY,
    Cursor,
    Json,
    as_json_text,
    bounded,
    page_of,
    to_jsonable,
)
from judge.problems import Problem

MORE_HINT = "There is more, in parts: ask again with `cursor` set to `next_cursor`."
NARROW_HINT = "There is more than cursors lead to: ask more specifically."


def success(
    spec: ToolSpec, answer: Any, cursor: Cursor, request: Json, *, is_structured: bool
) -> CallToolResult:
    """The part of *answer* after *cursor*: as structured content with a summary, or else as text.

    A CallToolResult is returned unchanged. Raises BadCursor.
    """
    if isinstance(answer, CallToolResult):
        return answer
    shown = _part(spec, to_jsonable(answer), cursor, request)
    if not is_structured:
        # The answer format is text already, and unreadable within JSON.
        blocks = [TextContent(text=text)] if (text := shown.pop("answer", None)) else []
        return CallToolResult(content=[*blocks, _text(shown)])
    summary = _cut(spec.summary(shown))
    return CallToolResult(content=[TextContent(text=summary)], structured_content=shown)


def _part(spec: ToolSpec, answer: Json, cursor: Cursor, request: Json) -> Json:
    if not spec.lists:
        return dict(bounded(answer, MAX_STRUCTURED))
    more_to_find = spec.grows and answer["truncated"]
    part = page_of(answer, spec.lists, cursor, request, more_to_find=more_to_find)
    ending = MORE_HINT if "next_cursor" in part else NARROW_HINT if more_to_find else None
    hint = " ".join(text for text in (answer.get("hint"), ending) if text)
    return {**part, **({"hint": hint} if hint else {})}


def _cut(text: str) -> str:
    """*text*, cut to the bytes that a summary may have."""
    encoded = text.encode()
    if len(encoded) <= MAX_SUMMARY:
        return text
    return f"{encoded[: MAX_SUMMARY - 3].decode(errors='ignore')}…"


def failure(problem: Problem) -> CallToolResult:
    """*problem* with the same text as at every other entrypoint, and its members as JSON.

    Without structured content: the SDK for TypeScript validates that of an error too against the
    output schema, and then shows neither.
    """
    members = bounded(to_jsonable(dict(problem.members)), MAX_SUMMARY)
    texts = [_cut(problem.detail), *([as_json_text(members)] if members else [])]
    return CallToolResult(content=[TextContent(text=text) for text in texts], is_error=True)


def _text(value: Json) -> TextContent:
    return TextContent(text=as_json_text(value))
