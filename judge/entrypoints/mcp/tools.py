"""The table of all tools, and the handlers for disputes, citations and code."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from codegraph.models import CodeContextResult, LineageResult, SearchResult, WhereUsedResult
from pydantic import BaseModel, field_validator

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
from judge.entrypoints.event_log import log_judgement
from judge.entrypoints.mcp.document_tools import (
    Collections,
    CollectionsQuery,
    DocumentQuery,
    FetchedPassage,
    FoundPassages,
    PassageQuery,
    fetch,
    list_collections,
    search_documents,
)
from judge.entrypoints.mcp.results import Json, size_of
from judge.text.english import counted
from judge.types.requests import JudgeRequest
from judge.types.results import (
    AttemptStarted,
    DomainDetected,
    JudgeResult,
    ReferencesReady,
    Restarted,
    Step,
    SupportAsked,
)

Report = Callable[[str], Coroutine[Any, Any, None]]
"""Tells a step, in a sentence, to a client that asked for progress."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool; its description is the docstring of *arguments*, the model of what it takes."""

    name: str
    title: str
    arguments: type[BaseModel]
    output: Any
    handler: Callable[[Services, Any, Report, int], Awaitable[Any]]
    """Answers with *output*, preferably in so many bytes of JSON."""
    lists: Sequence[str] = ()
    """The lists of the answer whose ends are left off when it is too long."""
    is_open_world: bool = False
    """Whether it fetches from the web or calls a model."""


class DisputeQuery(JudgeRequest):
    """Ask several personas whether somebody is being unreasonable in an everyday dispute.

    The verdicts cite approved pages of advice: each citation has the sentence of the page that it
    rests on (`quote`), and says when the page says the opposite (`contradicts`). References that
    are not `cited` were only looked at and may have no text here; with `evidence` of
    `not_applicable` none of them bears on the dispute. Show `help` to the person when it is not
    empty, and say so when `degraded` is true or `warnings` has entries. `hear_other_side` also
    judges the same facts as the other side would tell them; when both are told that they are right,
    the first warning says so. Takes up to half a minute.
    """


class CitationsQuery(CheckRequest):  # noqa: D101 - has that of the request
    @field_validator("sources", mode="before")
    @classmethod
    def _as_objects(cls, sources: Any) -> Any:
        """A list in a text, as JSON, is that list; a source that is a text has just its words."""
        if isinstance(sources, str):
            with suppress(ValueError):
                sources = json.loads(sources)
        sources = sources if isinstance(sources, list | tuple) else [sources]
        return [
            {"text": source} if isinstance(source, str) else _without_empty(source)
            for source in sources
        ]


def _without_empty(value: Any) -> Any:
    is_object = isinstance(value, dict)
    return {n: v for n, v in value.items() if v not in ("", None)} if is_object else value


@dataclass(frozen=True, slots=True)
class CheckedCitations(CheckedAnswer):
    """As `POST /api/check`; the verdict is of the whole answer, also when `truncated`."""

    truncated: bool = False
    hint: str | None = None


async def judge_dispute(
    services: Services, dispute: DisputeQuery, report: Report, room: int
) -> JudgeResult:
    """The verdict; raises the errors of `Pipeline.judge`. Cancelling it ends the model's call."""
    steps: asyncio.Queue[Step | None] = asyncio.Queue()

    async def report_steps() -> None:
        while (step := await steps.get()) is not None:
            await report(_in_words(step))

    reporting = asyncio.create_task(report_steps())
    try:
        result = await services.pipeline.judge(
            dispute, request_id=uuid4().hex, emit=steps.put_nowait
        )
        steps.put_nowait(None)
        await reporting
    finally:
        reporting.cancel()
    log_judgement(services.journal, result)
    return fitting_verdict(result, room)


def fitting_verdict(result: JudgeResult, room: int) -> JudgeResult:
    """*result*, in more than *room* bytes without snippets and the texts of uncited references."""
    if size_of(result) <= room:
        return result
    references = tuple(ref if ref.cited else replace(ref, text="") for ref in result.references)
    return replace(result, snippets=(), references=references)


def _in_words(step: Step) -> str:
    """*step* for people, without any word of the dispute."""
    match step:
        case DomainDetected():
            return f"The domain is {step.domain}; reading its pages."
        case ReferencesReady():
            return f"{counted(len(step.references), 'reference')} may be cited."
        case AttemptStarted():
            return "Asking the model." if step.number == 1 else "Asking the model once more."
        case Restarted():
            return f"The reply broke {counted(len(step.defects), 'rule')}."
        case SupportAsked():
            return f"Asking about {counted(step.citations, 'citation')}."
        case _:
            return "Reading the reply."


async def check_citations(services: Services, request: CheckRequest, *_: Any) -> CheckedCitations:
    """The checked answer; raises the errors of `check`."""
    checked = await check(request, services)
    return CheckedCitations(checked.marks, checked.uncited, checked.verdict, checked.sources)


def _code(name: str, title: str, arguments: type[BaseModel], output: Any) -> ToolSpec:
    async def ask(services: Services, question: CodeQuestion, *_: Any) -> Json:
        return await ask_graph(question, services.code)

    return ToolSpec(name, title, arguments, output, ask, ("items",))


TOOLS: Sequence[ToolSpec] = (
    ToolSpec(
        "judge_dispute", "Judge a dispute", DisputeQuery, JudgeResult, judge_dispute,
        is_open_world=True,
    ),
    ToolSpec(
        "search_documents", "Search the documents", DocumentQuery, FoundPassages, search_documents,
        ("results",),
    ),
    ToolSpec(
        "fetch", "Read on around a passage", PassageQuery, FetchedPassage, fetch, ("passages",)
    ),
    ToolSpec(
        "list_collections", "List the collections", CollectionsQuery, Collections,
        list_collections, ("collections",),
    ),
    _code("search_code", "Search code", CodeSearch, SearchResult),
    _code("where_used", "Find uses", WhereUsed, WhereUsedResult),
    _code("lineage", "Follow dependencies", LineageRequest, LineageResult),
    _code("code_context", "Read a symbol", CodeContext, CodeContextResult),
    ToolSpec(
        "check_citations", "Check an answer's citations", CitationsQuery, CheckedCitations,
        check_citations, ("marks", "uncited", "sources"), is_open_world=True,
    ),
)  # fmt: skip
