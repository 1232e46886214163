"""The MCP server over open services, built on the SDK's own, and its two transports.

They are stdio, for the client that started this process, and HTTP at `/mcp`. That is stateless: any
worker can answer a request, and a client that disconnects cancels its call.
"""

import asyncio
import io
import logging
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from inspect import getdoc
from itertools import count
from time import perf_counter
from typing import Annotated, Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, ToolAnnotations
from pydantic import Field, TypeAdapter

from judge.adapters.journal import LibraryHandler, LogJournal
from judge.bootstrap.services import Services, open_services
from judge.entrypoints.event_log import log_error, warm
from judge.entrypoints.mcp.results import MAX_BYTES, Json, as_json_text, capped, failure, success
from judge.entrypoints.mcp.tools import TOOLS, Collections, Report, ToolSpec
from judge.entrypoints.response_models import domains
from judge.errors import ConfigurationError, InvalidRequest, JudgeError
from judge.library.search.service import NOTHING_INDEXED
from judge.problems import of_kind, problem_of
from judge.settings import Settings
from judge.types.request_fields import parse_fields
from judge.types.search import OPERATOR, Viewer

CallContext = ServerRequestContext[Any, Any]

INSTRUCTIONS = (
    "Judges everyday disputes with verified citations (judge_dispute), searches the user's "
    "documents within @scopes (search_documents, fetch, list_collections), answers questions about "
    "repositories of code (code_context for all about one symbol; search_code, where_used, "
    "lineage), and checks the citations of any answer against its sources (check_citations). "
    "A reply with `truncated` left something out for want of room."
)


JSON_TYPE = "application/json"
TRUNCATED = {"truncated": {"type": "boolean"}, "hint": {"type": ["string", "null"]}}


def build_server(
    services: Services, viewer_of: Callable[[CallContext], Viewer], *, is_structured: bool = True
) -> MCPServer[Any]:
    """The server; *viewer_of* says who sent a message. Unless *is_structured*, it sends text."""
    visible: ContextVar[Services] = ContextVar("visible")

    async def limit_to_viewer(ctx: CallContext, call_next: CallNext) -> HandlerResult:
        token = visible.set(services.visible_to(viewer_of(ctx)))
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
        subscriptions=False,
        middleware=[limit_to_viewer],
    )
    _add_prompt_and_resources(server, visible.get)
    return server


def _tool(spec: ToolSpec, services: Callable[[], Services], *, is_structured: bool) -> Tool:
    output = TypeAdapter[Any](spec.output).json_schema(mode="serialization")
    if spec.lists:
        output["properties"] = TRUNCATED | output["properties"]
    return _JudgeTool(
        fn=partial(_answer, spec, services, is_structured=is_structured),
        name=spec.name,
        title=spec.title,
        description=" ".join((getdoc(spec.arguments) or "").split()),
        parameters=input_schema(spec),
        fn_metadata=FuncMetadata(
            arg_model=ArgModelBase, output_schema=output if is_structured else None
        ),
        is_async=True,
        annotations=ToolAnnotations(
            read_only_hint=True,
            idempotent_hint=not spec.is_open_world,
            open_world_hint=spec.is_open_world,
        ),
    )


class _JudgeTool(Tool):
    """A tool that checks its own arguments, so that errors read as at every other entrypoint."""

    async def run(self, arguments: Json, context: Context[Any, Any], *_: Any, **__: Any) -> Any:
        """The answer or the error; raises nothing but cancellation."""
        return await self.fn(arguments, context)


async def _answer(
    spec: ToolSpec,
    visible: Callable[[], Services],
    arguments: Json,
    context: Context[Any, Any],
    *,
    is_structured: bool,
) -> CallToolResult:
    services, started, outcome = visible(), perf_counter(), "cancelled"
    room = MAX_BYTES // 2 if is_structured else MAX_BYTES
    # The words of a dispute are not repeated.
    asked = {} if spec.is_open_world else {n: arguments.get(n) for n in ("query", "context")}
    try:
        fields = spec.arguments.model_fields
        # Many clients send everything, and what may be left out as empty.
        empty = [n for n, v in arguments.items() if v in ("", None) and n in fields]
        optional = {name for name in empty if not fields[name].is_required()}
        given = {name: value for name, value in arguments.items() if name not in optional}
        request = parse_fields(spec.arguments, given)
        answer = await spec.handler(services, request, _reporting(context), room)
        result = success(capped(answer, spec.lists, room), is_structured=is_structured)
        outcome = "ok"
    except Exception as error:  # noqa: BLE001 - its text may hold a person's words
        problem = problem_of(error) if isinstance(error, JudgeError) else of_kind("internal-error")
        if problem.slug == "internal-error":
            log_error(services.journal, error, event="mcp.error")
        result, outcome = failure(problem, asked), problem.slug
    finally:
        ms = round((perf_counter() - started) * 1000, 2)
        services.journal.note("mcp.call", tool=spec.name, outcome=outcome, ms=ms)
    return result


def _reporting(context: Context[Any, Any]) -> Report:
    numbers = count(1)

    async def report(step: str) -> None:
        with suppress(Exception):  # a client that has left is no failure
            await context.report_progress(next(numbers), message=step)

    return report


def input_schema(spec: ToolSpec) -> Json:
    """The schema of the arguments without references, null and titles, which every model takes."""
    schema = spec.arguments.model_json_schema()
    schema.pop("description", None)
    return dict(_plain(schema, schema.pop("$defs", {})))


def _plain(schema: Any, definitions: Json) -> Any:
    if isinstance(schema, list):
        return [_plain(below, definitions) for below in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        schema = {**definitions[schema["$ref"].rpartition("/")[2]], **schema}
    if "anyOf" in schema:
        options = [option for option in schema["anyOf"] if option != {"type": "null"}]
        only = {"anyOf": options} if len(options) > 1 else options[0]
        schema = {name: below for name, below in schema.items() if name != "anyOf"} | only
    return {
        name: _plain(below, definitions)
        for name, below in schema.items()
        if name != "$ref" and below is not None and not (name == "title" and isinstance(below, str))
    }


def _add_prompt_and_resources(server: MCPServer[Any], services: Callable[[], Services]) -> None:
    @server.prompt("contextual_search", title="Search in a context")
    async def contextual_search(
        question: Annotated[
            str, Field(description="What the user wants to know, @scopes included.")
        ] = "",
        context: Annotated[
            str, Field(description="Where to look, as @scopes: `@collection:reports`.")
        ] = "",
    ) -> str:
        """Answer from the indexed documents, within the @scopes that the user gives."""
        with _protocol_errors():
            return await _prompt(services(), question.strip(), context.strip())

    @server.resource("judge://domains", name="domains", title="Domains", mime_type=JSON_TYPE)
    async def read_domains() -> str:
        """What disputes can be about, and the pages that are quoted for each."""
        listed = domains(services().sources.current().catalog)
        return as_json_text(capped({"domains": listed}, ["domains"]))

    @server.resource(
        "judge://collections", name="collections", title="Collections", mime_type=JSON_TYPE
    )
    async def read_collections() -> str:
        """The collections of indexed documents, with their sizes."""
        with _protocol_errors():
            found = await services().corpus.search.catalogue.collections()
        return as_json_text(capped(Collections(found, len(found)), ["collections"]))


@contextmanager
def _protocol_errors() -> Iterator[None]:
    """Our errors as the protocol's, for requests other than tool calls."""
    try:
        yield
    except JudgeError as error:
        code = INVALID_PARAMS if isinstance(error, InvalidRequest) else INTERNAL_ERROR
        raise MCPError(code, str(error)) from None


async def _prompt(services: Services, question: str, scope: str) -> str:
    """The guide, then the collections, the scope and the question; raises IndexUnavailable."""
    collections = await services.corpus.search.catalogue.collections()
    guide = files("judge.entrypoints.mcp").joinpath("contextual_search.md").read_text("utf-8")
    names = ", ".join(stats.name for stats in collections[:50])
    more = " and others, which `list_collections` tells" if len(collections) > 50 else ""
    parts = [guide, f"The collections are: {names}{more}.\n" if names else f"{NOTHING_INDEXED}\n"]
    if scope:
        parts.append(f"## The scope\nPass this on in `context`, unchanged: {scope}\n")
    if question:
        parts.append(f"## The question\n{question}\n")
    return "\n".join(parts)


AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]

STDIN, STDOUT, STDERR = 0, 1, 2
_HALF_LETTER = re.compile(rb"(\\\\|\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|\\u[dD][89a-fA-F]\w\w")
"""Of the escapes in JSON: a backslash, a pair of surrogates, or (outside the group) one alone."""


def serve_stdio(settings: Settings, *, is_structured: bool = True) -> None:
    """Serve until stdin ends; raises ConfigurationError. Unless *is_structured*, send text only."""
    if not (sys.stdin and sys.stdout):
        raise ConfigurationError(
            "stdin or stdout is closed; the client that starts this speaks over both. Let it start "
            "`judge mcp`, or serve over HTTP: judge mcp --transport http"
        )
    # A thread reads stdin, and Python's own handler of Ctrl-C would wait for that thread.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    journal = LogJournal(sys.stderr)
    logging.getLogger().addHandler(LibraryHandler(journal))
    opener = partial(open_services, settings, journal)
    try:
        asyncio.run(serve_streams(opener, is_structured=is_structured))
    except* BrokenPipeError:
        pass  # The client died during a reply; there is nobody left to serve.


async def serve_streams(
    opener: Callable[[], AbstractAsyncContextManager[Services]], *, is_structured: bool = True
) -> None:
    """Serve the client on stdin and stdout; what else is printed before and after is diverted."""
    wire = os.dup(STDOUT)
    sys.stdin = io.TextIOWrapper(_Messages(io.FileIO(os.dup(STDIN))), encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), STDIN)
    _divert_stdout()
    async with opener() as services:
        warming = asyncio.create_task(warm(services, event="mcp.error"))
        try:
            server = build_server(services, lambda _: OPERATOR, is_structured=is_structured)
            os.dup2(wire, STDOUT)
            await server.run_stdio_async()
        finally:
            _divert_stdout()
            warming.cancel()
            await asyncio.wait([warming])


class _Messages(io.BufferedReader):
    """stdin, a message a line, with U+FFFD where half a letter is escaped.

    The SDK refuses a message with a lone surrogate without telling its id, so a client would wait.
    """

    def read1(self, _: int = -1) -> bytes:
        """The next line; empty at the end."""
        return _HALF_LETTER.sub(lambda one: one[1] or rb"\ufffd", self.readline())


def _divert_stdout() -> None:
    """Send what anything prints to stderr, also what is still in Python's buffer."""
    os.dup2(STDERR, STDOUT)
    sys.stdout.flush()


@asynccontextmanager
async def open_http(services: Services) -> AsyncIterator[AsgiApp]:
    """An ASGI app that speaks the protocol; `?structured=false` asks for replies as text only.

    The caller checks keys, origin and size, and sets the `viewer` in the state of each request.
    """
    async with _open_app(services) as app, _open_app(services, is_structured=False) as text_app:

        async def answer(scope: Any, receive: Any, send: Any) -> None:
            wants_text = b"structured=false" in scope["query_string"].split(b"&")
            await (text_app if wants_text else app)(scope, receive, send)

        yield answer


@asynccontextmanager
async def _open_app(services: Services, *, is_structured: bool = True) -> AsyncIterator[AsgiApp]:
    server = build_server(services, viewer, is_structured=is_structured)
    # Hosts and origins are checked before, by the rules of the HTTP server.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, transport_security=unchecked)
    async with server.session_manager.run():
        yield server.session_manager.handle_request


def viewer(context: CallContext) -> Viewer:
    """The viewer of the request; raises RuntimeError without one, so that nothing leaks."""
    if context.request is None:
        raise RuntimeError("A request over HTTP came without its head.")
    sender: Viewer = context.request.scope["state"]["viewer"]
    return sender
