"""All tools in one table: their names, what they take, what they give, and their handlers."""

from collections.abc import Sequence

from judge.codegraph.models import CodeContextResult, LineageResult, SearchResult, WhereUsedResult
from judge.entrypoints.check_requests import CheckRequest
from judge.entrypoints.code_requests import CodeContext, CodeSearch, LineageRequest, WhereUsed
from judge.entrypoints.mcp import check_tool, code_tools, document_tools, judge_tool, summaries
from judge.entrypoints.mcp.features import ToolSpec
from judge.types.results import JudgeResult

TOOLS: Sequence[ToolSpec] = (
    ToolSpec(
        "judge_dispute",
        "Judge a dispute",
        judge_tool.DisputeQuery,
        JudgeResult,
        judge_tool.judge_dispute,
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
    ToolSpec(
        "search_code",
        "Search code",
        CodeSearch,
        SearchResult,
        code_tools.ask,
        summaries.code,
        ("items",),
    ),
    ToolSpec(
        "where_used",
        "Find uses of a symbol",
        WhereUsed,
        WhereUsedResult,
        code_tools.ask,
        summaries.code,
        ("items",),
    ),
    ToolSpec(
        "lineage",
        "Follow dependencies",
        LineageRequest,
        LineageResult,
        code_tools.ask,
        summaries.code,
        ("items",),
    ),
    ToolSpec(
        "code_context",
        "Read a symbol",
        CodeContext,
        CodeContextResult,
        code_tools.ask,
        summaries.code,
        ("items",),
        grows=False,
    ),
    ToolSpec(
        "check_citations",
        "Check an answer's citations",
        CheckRequest,
        check_tool.CheckedCitations,
        check_tool.check_citations,
        summaries.checked,
        ("marks", "uncited", "sources"),
        is_open_world=True,
    ),
)
