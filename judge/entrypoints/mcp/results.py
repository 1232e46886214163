"""A tool's answer or error as the protocol's result: one part of it, structured, with a summary."""

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
    plain,
)
from judge.problems import Problem

GO_ON = "There is more, in parts: ask again with `cursor` set to `next_cursor`."
NARROW = "There is more than cursors lead to: ask more specifically."


def success(
    spec: ToolSpec, answer: Any, cursor: Cursor, question: Json, *, is_structured: bool
) -> CallToolResult:
    """The part of *answer* after *cursor*, once: as structured content and a summary, or as text.

    A result that is one already stays as it is. Raises BadCursor.
    """
    if isinstance(answer, CallToolResult):
        return answer
    shown = _part(spec, plain(answer), cursor, question)
    if not is_structured:
        # The answer format is text by itself, and reads badly within JSON.
        blocks = [TextContent(text=text)] if (text := shown.pop("answer", None)) else []
        return CallToolResult(content=[*blocks, _text(shown)])
    summary = _cut(spec.summary(shown))
    return CallToolResult(content=[TextContent(text=summary)], structured_content=shown)


def _part(spec: ToolSpec, answer: Json, cursor: Cursor, question: Json) -> Json:
    if not spec.lists:
        return dict(bounded(answer, MAX_STRUCTURED))
    more_to_find = spec.grows and answer["truncated"]
    part = page_of(answer, spec.lists, cursor, question, more_to_find=more_to_find)
    ending = GO_ON if "next_cursor" in part else NARROW if more_to_find else None
    hint = " ".join(text for text in (answer.get("hint"), ending) if text)
    return {**part, **({"hint": hint} if hint else {})}


def _cut(text: str) -> str:
    """*text*, or as many of its bytes as a summary may have."""
    encoded = text.encode()
    if len(encoded) <= MAX_SUMMARY:
        return text
    return f"{encoded[: MAX_SUMMARY - 3].decode(errors='ignore')}…"


def failure(problem: Problem) -> CallToolResult:
    """*problem* in the words of every other entrypoint, and what helps to go on.

    It has no structured content: the SDK for TypeScript holds that of an error too against the
    schema of answers, and then shows neither.
    """
    members = bounded(plain(dict(problem.members)), MAX_SUMMARY)
    texts = [_cut(problem.detail), *([as_json_text(members)] if members else [])]
    return CallToolResult(content=[TextContent(text=text) for text in texts], is_error=True)


def _text(value: Json) -> TextContent:
    return TextContent(text=as_json_text(value))
