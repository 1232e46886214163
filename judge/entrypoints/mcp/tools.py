"""The table of all tools: name, arguments, output and handler.

The handlers for citations and code are here too, since they are short.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from codegraph.models import CodeContextResult, LineageResult, SearchResult, WhereUsedResult
from pydantic import BaseModel

from judge.bootstrap.services import Services
from judge.citations.check import CheckedAnswer
from judge.entrypoints.check_requests import CheckRequest, check
from judge.entrypoints.code_requests import (
    CodeContext,
    CodeQuestion,
    CodeSearch,
    LineageRequest,
    WhereUsed,
    ask_graph,
)
from judge.entrypoints.mcp import document_tools, summaries
from judge.entrypoints.mcp.calls import ToolCall
from judge.entrypoints.mcp.features import ToolSpec
from judge.entrypoints.mcp.judge_tool import DisputeQuery, judge_dispute
from judge.entrypoints.mcp.pagination import Json
from judge.text.english import counted
from judge.types.results import JudgeResult

CONTEXT_TOKENS = 10_000
"""Most tokens of a symbol's context; its definition takes half of them and fits into one part."""

TOO_FEW_TOKENS = f"There is more: raise `tokens` ({CONTEXT_TOKENS} at most)."


@dataclass(frozen=True, slots=True)
class CheckedCitations(CheckedAnswer):
    """As `POST /api/check`; the verdict is of the whole answer, also in a reply in parts."""

    truncated: bool
    hint: str | None


async def check_citations(services: Services, request: CheckRequest, call: ToolCall) -> Json:
    """The checked answer; raises the errors of `check`."""
    call.report(f"Holding the answer against {counted(len(request.sources), 'source')}.")
    return {**asdict(await check(request, services)), "truncated": False, "hint": None}


async def ask_code(services: Services, question: CodeQuestion, call: ToolCall) -> Json:
    """The answer from its first item to the end of this part.

    Raises the errors of CodeRoots.ask and of CodeGraph's methods.
    """
    if isinstance(question, CodeContext):
        tokens = min(question.tokens, CONTEXT_TOKENS)
        answer = await ask_graph(question.model_copy(update={"tokens": tokens}), services.code)
        return {**answer, "hint": TOO_FEW_TOKENS} if answer["truncated"] else answer
    field = "max_results" if isinstance(question, LineageRequest) else "limit"
    limit = call.shown + getattr(question, field)
    return await ask_graph(question.model_copy(update={field: limit}), services.code)


def _code_tool(
    name: str, title: str, arguments: type[BaseModel], output: Any, *, grows: bool = True
) -> ToolSpec:
    """A tool that asks the code graph."""
    lists = ("items",)
    return ToolSpec(name, title, arguments, output, ask_code, summaries.code, lists, grows)


TOOLS: Sequence[ToolSpec] = (
    ToolSpec(
        "judge_dispute",
        "Judge a dispute",
        DisputeQuery,
        JudgeResult,
        judge_dispute,
        summaries.verdict,
        is_open_world=True,
    ),
    ToolSpec(
        "search_documents",
        "Search the documents",
        document_tools.DocumentQuery,
        document_tools.FoundPassages,
        document_tools.search_documents,
        summaries.passages,
        ("results",),
    ),
    ToolSpec(
        "fetch",
        "Read on around a passage",
        document_tools.PassageQuery,
        document_tools.FetchedPassage,
        document_tools.fetch,
        summaries.passage,
        ("passages",),
    ),
    ToolSpec(
        "list_collections",
        "List the collections",
        document_tools.CollectionsQuery,
        document_tools.Collections,
        document_tools.list_collections,
        summaries.collections,
        ("collections",),
    ),
    _code_tool("search_code", "Search code", CodeSearch, SearchResult),
    _code_tool("where_used", "Find uses of a symbol", WhereUsed, WhereUsedResult),
    _code_tool("lineage", "Follow dependencies", LineageRequest, LineageResult),
    _code_tool("code_context", "Read a symbol", CodeContext, CodeContextResult, grows=False),
    ToolSpec(
        "check_citations",
        "Check an answer's citations",
        CheckRequest,
        CheckedCitations,
        check_citations,
        summaries.checked,
        ("marks", "uncited", "sources"),
        is_open_world=True,
    ),
)
