"""The MCP server over open services, built on the SDK's own; every transport runs the same one.

A middleware limits the services to what the sender of a message may see. Then a tool's arguments
are checked by its model, the core answers, and an error becomes the tool's error.
"""

from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from importlib.metadata import version
from time import perf_counter
from typing import Any

from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import TypeAdapter

from judge.bootstrap.services import Services
from judge.entrypoints.event_log import log_error
from judge.entrypoints.mcp.resources import add_resources
from judge.entrypoints.mcp.results import Json, capped, failure, success
from judge.entrypoints.mcp.tools import TOOLS, Report, ToolSpec
from judge.errors import JudgeError
from judge.problems import of_kind, problem_of
from judge.types.request_fields import parse_fields
from judge.types.search import Viewer

CallContext = ServerRequestContext[Any, Any]

ViewerOf = Callable[[CallContext], Viewer]
"""The viewer who sent a message, which decides what documents it may see."""

INSTRUCTIONS = (
    "Judges everyday disputes with verified citations (judge_dispute), searches the user's "
    "documents within @scopes (search_documents, fetch, list_collections), answers questions about "
    "repositories of code (code_context for all about one symbol; search_code, where_used, "
    "lineage), and checks the citations of any answer against its sources (check_citations). "
    "A reply with `truncated` left something out for want of room."
)
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
LISTS_TTL_MS = 3_600_000
"""Tools, prompts and resources change only with another version of Judge."""


def build_server(
    services: Services, viewer_of: ViewerOf, *, is_structured: bool = True
) -> MCPServer[Any]:
    """The server; it opens and closes nothing. *viewer_of* is called for every message.

    Unless *is_structured*, replies are only text.
    """
    visible: ContextVar[Services] = ContextVar("visible")

    async def limit_to_viewer(ctx: CallContext, call_next: CallNext) -> HandlerResult:
        token = visible.set(services.seen_by(viewer_of(ctx)))
        try:
            return await call_next(ctx)
        finally:
            visible.reset(token)

    names = services.code.names
    server = MCPServer[Any](
        "judge",
        title="Judge",
        version=version("judge"),
        instructions=f"{INSTRUCTIONS} Repositories: {', '.join(names)}." if names else INSTRUCTIONS,
        tools=[_tool(spec, visible.get, is_structured=is_structured) for spec in TOOLS],
        cache_hints=dict.fromkeys(LISTS, CacheHint(ttl_ms=LISTS_TTL_MS)),  # type: ignore[arg-type] # names of the protocol
        subscriptions=False,
        middleware=[limit_to_viewer],
    )
    add_resources(server, visible.get)
    return server


def _tool(spec: ToolSpec, services: Callable[[], Services], *, is_structured: bool) -> Tool:
    async def run(arguments: Json, context: Context[Any, Any]) -> CallToolResult:
        return await _answer(spec, services(), context, arguments, is_structured=is_structured)

    return _JudgeTool(
        fn=run,
        name=spec.name,
        title=spec.title,
        description=_paragraphs(spec.arguments.__doc__ or ""),
        parameters=input_schema(spec),
        fn_metadata=FuncMetadata(
            arg_model=ArgModelBase, output_schema=_output_schema(spec) if is_structured else None
        ),
        is_async=True,
        annotations=ToolAnnotations(
            title=spec.title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=not spec.is_open_world,
            open_world_hint=spec.is_open_world,
        ),
    )


class _JudgeTool(Tool):
    """A tool that checks its own arguments, so that errors read as at every other entrypoint."""

    async def run(
        self,
        arguments: Json,
        context: Context[Any, Any],
        convert_result: bool = False,  # noqa: FBT001, FBT002 - the signature of the SDK
    ) -> Any:
        """The answer or the error; raises nothing but cancellation."""
        return await self.fn(arguments, context)


async def _answer(
    spec: ToolSpec,
    services: Services,
    context: Context[Any, Any],
    arguments: Json,
    *,
    is_structured: bool,
) -> CallToolResult:
    started, outcome = perf_counter(), "cancelled"
    try:
        request = parse_fields(spec.arguments, arguments)
        answer = await spec.handler(services, request, _reporting(context))
        result, outcome = success(capped(answer, spec.lists), is_structured=is_structured), "ok"
    except JudgeError as error:
        problem = problem_of(error)
        result, outcome = failure(problem), problem.slug
    except Exception as error:  # noqa: BLE001 - its text may hold a person's words
        log_error(services.journal, error, event="mcp.error")
        problem = of_kind("internal-error")
        result, outcome = failure(problem), problem.slug
    finally:
        services.journal.note(
            "mcp.call",
            tool=spec.name,
            outcome=outcome,
            ms=round((perf_counter() - started) * 1000, 2),
        )
    return result


def _reporting(context: Context[Any, Any]) -> Report:
    """Sends each step to a client that asked for progress; one that has left is no failure."""
    count = 0

    async def report(step: str) -> None:
        nonlocal count
        count += 1
        with suppress(Exception):
            await context.report_progress(count, message=step)

    return report


def input_schema(spec: ToolSpec) -> Json:
    """The schema of the arguments, without their description, which is that of the tool."""
    schema = spec.arguments.model_json_schema()
    schema.pop("description", None)
    return dict(_without(schema, {"title"}))


def _output_schema(spec: ToolSpec) -> Json:
    schema = TypeAdapter[Any](spec.output).json_schema(mode="serialization")
    return dict(_without(schema, {"title", "description"}))


def _without(schema: Any, keywords: set[str]) -> Any:
    """*schema* without these *keywords*, whose texts only repeat what field names say.

    They are a third of `tools/list`, which every client reads first.
    """
    if isinstance(schema, dict):
        return {
            name: _without(below, keywords)
            for name, below in schema.items()
            if name not in keywords or not isinstance(below, str)
        }
    return [_without(below, keywords) for below in schema] if isinstance(schema, list) else schema


def _paragraphs(docstring: str) -> str:
    """*docstring* with its lines joined to paragraphs."""
    return "\n\n".join(" ".join(part.split()) for part in docstring.split("\n\n"))
