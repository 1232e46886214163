"""The protocol server over open services; every transport runs the same one.

arguments -> question (checked by its model) -> the core -> answer, or an error as a tool's error
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from time import perf_counter
from typing import Any

from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from judge.bootstrap import Services
from judge.entrypoints.event_log import log_error
from judge.entrypoints.mcp import prompt, resources
from judge.entrypoints.mcp.results import failure, success
from judge.entrypoints.mcp.tools import TOOLS, ToolSpec, tool_definition
from judge.entrypoints.problems import of_kind, problem_of
from judge.errors import JudgeError
from judge.types.request_fields import parse_fields
from judge.types.search import Viewer

CallContext = ServerRequestContext[Any, Any]
ViewerOf = Callable[[CallContext], Viewer]
"""Who sent a message, as far as it matters to what is seen of the documents."""

Page = PaginatedRequestParams | None

INSTRUCTIONS = (
    "Judges everyday disputes with verified citations (judge_dispute), searches the user's "
    "documents within @scopes (search_documents, fetch, list_collections), answers questions about "
    "repositories of code (search_code, where_used, lineage), and checks the citations of any "
    "answer against its sources (check_citations)."
)
LISTS_LIVE_MS = 3_600_000
"""Tools, prompts and resources change only with another version of Judge."""


def build_server(services: Services, viewer_of: ViewerOf) -> Server[Any]:
    """The server; it opens and closes nothing. *viewer_of* is asked for every message."""
    handlers = _Handlers(services, viewer_of)
    cached = CacheHint(ttl_ms=LISTS_LIVE_MS)
    return Server(
        "judge",
        version=version("judge"),
        title="Judge",
        instructions=_instructions(services),
        cache_hints={"tools/list": cached, "prompts/list": cached, "resources/list": cached},
        get_tool_input_schema=_input_schema,
        on_list_tools=_list_tools,
        on_call_tool=handlers.call_tool,
        on_list_prompts=_list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_list_resources=_list_resources,
        on_read_resource=handlers.read_resource,
    )


def _instructions(services: Services) -> str:
    names = services.code.names
    return f"{INSTRUCTIONS} Repositories: {', '.join(names)}." if names else INSTRUCTIONS


def _find(name: str) -> ToolSpec | None:
    return next((spec for spec in TOOLS if spec.name == name), None)


def _input_schema(name: str) -> dict[str, Any] | None:
    spec = _find(name)
    return tool_definition(spec).input_schema if spec else None


async def _list_tools(_: CallContext, __: Page) -> ListToolsResult:
    return ListToolsResult(tools=[tool_definition(spec) for spec in TOOLS])


async def _list_prompts(_: CallContext, __: Page) -> ListPromptsResult:
    return ListPromptsResult(prompts=[prompt.PROMPT])


async def _list_resources(_: CallContext, __: Page) -> ListResourcesResult:
    return ListResourcesResult(resources=[spec.definition for spec in resources.RESOURCES.values()])


@dataclass(frozen=True, slots=True)
class _Handlers:
    """Answers what needs the services."""

    services: Services
    viewer_of: ViewerOf

    async def call_tool(
        self, context: CallContext, params: CallToolRequestParams
    ) -> CallToolResult:
        """The tool's answer; a name that no tool has is the client's mistake, not the model's."""
        spec = _find(params.name)
        if spec is None:
            names = ", ".join(spec.name for spec in TOOLS)
            raise MCPError(INVALID_PARAMS, f"There is no such tool. There are: {names}.")
        started = perf_counter()
        outcome = "cancelled"
        try:
            services = self.services.seen_by(self.viewer_of(context))
            result, outcome = await self._answer(spec, services, params.arguments or {})
        finally:
            self.services.journal.note(
                "mcp.call",
                tool=spec.name,
                outcome=outcome,
                ms=round((perf_counter() - started) * 1000, 2),
            )
        return result

    async def _answer(
        self, spec: ToolSpec, services: Services, arguments: dict[str, Any]
    ) -> tuple[CallToolResult, str]:
        """The result, and `ok` or the kind of problem."""
        try:
            parsed = parse_fields(spec.arguments, arguments)
            return success(await spec.handler(services, parsed)), "ok"
        except JudgeError as error:
            problem = problem_of(error)
        except Exception as error:  # noqa: BLE001 - its text may hold a person's words
            log_error(self.services.journal, error, event="mcp.error")
            problem = of_kind("internal-error")
        return failure(problem), problem.slug

    async def get_prompt(
        self, context: CallContext, params: GetPromptRequestParams
    ) -> GetPromptResult:
        """The prompt with the collections that there are now."""
        if params.name != prompt.NAME:
            raise MCPError(INVALID_PARAMS, f"There is no such prompt. There is: {prompt.NAME}.")
        corpus = self.services.seen_by(self.viewer_of(context)).corpus
        try:
            found = await corpus.catalogue.collections() if corpus else ()
        except JudgeError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None
        question = (params.arguments or {}).get("question", "")
        return prompt.render(question, [one.name for one in found])

    async def read_resource(
        self, context: CallContext, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """The resource as it is now."""
        if params.uri not in resources.RESOURCES:
            known = ", ".join(resources.RESOURCES)
            raise MCPError(INVALID_PARAMS, f"There is no such resource. There are: {known}.")
        try:
            services = self.services.seen_by(self.viewer_of(context))
            return await resources.read(services, params.uri)
        except JudgeError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None
