"""All tools in one table: their names, what they take, what they give, and their handlers."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from mcp.types import Tool, ToolAnnotations
from pydantic import BaseModel, TypeAdapter

from judge.bootstrap import Services
from judge.codegraph.models import CodeContextResult, LineageResult, SearchResult, WhereUsedResult
from judge.entrypoints.check_requests import CheckRequest
from judge.entrypoints.code_requests import CodeContext, CodeSearch, LineageRequest, WhereUsed
from judge.entrypoints.mcp import check_tool, code_tools, document_tools, judge_tool
from judge.entrypoints.mcp.results import Json
from judge.types.judgements import JudgeResult


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool; its description is the docstring of *arguments*, the model of what it takes."""

    name: str
    title: str
    arguments: type[BaseModel]
    output: Any
    """The type of what `handler` gives, for its schema."""
    handler: Callable[[Services, Any], Awaitable[Any]]
    is_open_world: bool = False
    """Whether it reaches out to the web or to a model."""


TOOLS: Sequence[ToolSpec] = (
    ToolSpec(
        "judge_dispute",
        "Judge a dispute",
        judge_tool.DisputeQuery,
        JudgeResult,
        judge_tool.judge_dispute,
        is_open_world=True,
    ),
    ToolSpec(
        "search_documents",
        "Search the documents",
        document_tools.DocumentQuery,
        document_tools.FoundPassages,
        document_tools.search_documents,
    ),
    ToolSpec(
        "fetch",
        "Read on around a passage",
        document_tools.PassageQuery,
        document_tools.FetchedPassage,
        document_tools.fetch,
    ),
    ToolSpec(
        "list_collections",
        "List the collections",
        document_tools.CollectionsQuery,
        document_tools.Collections,
        document_tools.list_collections,
    ),
    ToolSpec("search_code", "Search code", CodeSearch, SearchResult, code_tools.ask),
    ToolSpec("where_used", "Find uses of a symbol", WhereUsed, WhereUsedResult, code_tools.ask),
    ToolSpec("lineage", "Follow dependencies", LineageRequest, LineageResult, code_tools.ask),
    ToolSpec("code_context", "Read a symbol", CodeContext, CodeContextResult, code_tools.ask),
    ToolSpec(
        "check_citations",
        "Check an answer's citations",
        CheckRequest,
        check_tool.CheckedCitations,
        check_tool.check_citations,
        is_open_world=True,
    ),
)


@cache
def tool_definition(spec: ToolSpec) -> Tool:
    """*spec* as `tools/list` gives it; made once, for making schemas takes 15 ms."""
    return Tool(
        name=spec.name,
        title=spec.title,
        description=_paragraphs(spec.arguments.__doc__ or ""),
        input_schema=_arguments_schema(spec),
        output_schema=_output_schema(spec.output),
        annotations=ToolAnnotations(
            title=spec.title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=not spec.is_open_world,
            open_world_hint=spec.is_open_world,
        ),
    )


def _arguments_schema(spec: ToolSpec) -> Json:
    """What the tool takes; its own description tells the rest."""
    schema = spec.arguments.model_json_schema()
    del schema["title"], schema["description"]
    return schema


def _output_schema(output: Any) -> Json:
    schema = TypeAdapter[Any](output).json_schema(mode="serialization")
    if "truncated" in schema["properties"]:
        schema["properties"].setdefault("hint", {"type": "string"})
    return schema


def _paragraphs(docstring: str) -> str:
    """*docstring* without the line ends of the source."""
    return "\n\n".join(" ".join(part.split()) for part in docstring.split("\n\n"))
