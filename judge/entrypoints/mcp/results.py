"""What a tool answers, as the protocol wants it: capped, structured and as text; errors too."""

import json
from collections.abc import Iterable
from typing import Any, TypeVar

from mcp.types import CallToolResult, TextContent
from pydantic import TypeAdapter

from judge.entrypoints.problems import Problem

Item = TypeVar("Item")
Json = dict[str, Any]

MAX_CHARACTERS = 60_000
"""Of one list in an answer, as JSON: about 15,000 tokens, under the 25,000 at which a widely used
client cuts a tool's answer off."""

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


def fitting(items: Iterable[Item], room: int = MAX_CHARACTERS) -> list[Item]:
    """The first of *items* that fit into *room* characters together."""
    kept: list[Item] = []
    for item in items:
        room -= len(_ANY.dump_json(item))
        if room < 0:
            break
        kept.append(item)
    return kept


def success(answer: Any) -> CallToolResult:
    """*answer*, which may hold our dataclasses, for programs and for models."""
    plain = _ANY.dump_python(answer, mode="json")
    return CallToolResult(content=[_text(plain)], structured_content=plain)


def failure(problem: Problem) -> CallToolResult:
    """*problem* in the words of every other entrypoint, and what helps to go on."""
    members = _ANY.dump_python(dict(problem.members), mode="json")
    structured = {
        "type": f"/problems/{problem.slug}",
        "title": problem.kind.title,
        "error": problem.detail,
        **members,
    }
    content = [TextContent(text=problem.detail), *([_text(members)] if members else [])]
    return CallToolResult(content=list(content), structured_content=structured, is_error=True)


def _text(value: Json) -> TextContent:
    return TextContent(text=json.dumps(value, ensure_ascii=False))
