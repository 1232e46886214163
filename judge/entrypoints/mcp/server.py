"""The MCP server over open services; every transport runs the same one.

arguments -> validated by the tool's model -> the core -> answer, or an error as the tool's error
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from time import perf_counter
from typing import Any

from mcp import types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from judge.bootstrap.services import Services
from judge.entrypoints.event_log import log_error
from judge.entrypoints.mcp.calls import CallContext, Report, ToolCall, reporting
from judge.entrypoints.mcp.features import (
    Features,
    PromptSpec,
    ResourceSpec,
    ToolSpec,
    get_spec,
    tool_definition,
    unknown_name,
)
from judge.entrypoints.mcp.pagination import read_cursor
from judge.entrypoints.mcp.prompt import CONTEXTUAL_SEARCH
from judge.entrypoints.mcp.resources import RESOURCES, as_resource
from judge.entrypoints.mcp.results import failure, success
from judge.entrypoints.mcp.tools import TOOLS
from judge.errors import InvalidRequest, JudgeError
from judge.problems import of_kind, problem_of
from judge.types.request_fields import parse_fields
from judge.types.requests import MAX_SCOPE
from judge.types.search import Viewer

ViewerOf = Callable[[CallContext], Viewer]
"""The viewer who sent a message, which decides what documents it may see."""

WantsText = Callable[[CallContext], bool]
"""Whether the client reads only the text of a reply, not its structured content."""

Page = types.PaginatedRequestParams | None

JUDGE = Features(TOOLS, (CONTEXTUAL_SEARCH,), RESOURCES)

INSTRUCTIONS = (
    "Judges everyday disputes with verified citations (judge_dispute), searches the user's "
    "documents within @scopes (search_documents, fetch, list_collections), answers questions about "
    "repositories of code (code_context for all about one symbol; search_code, where_used, "
    "lineage), and checks the citations of any answer against its sources (check_citations). "
    "Where a reply has next_cursor, the same call with it as cursor gives the rest."
)
LISTS_TTL_MS = 3_600_000
"""Tools, prompts and resources change only with another version of Judge."""

MAX_COMPLETIONS = 100
"""In one reply, by the protocol."""


def build_server(
    services: Services,
    viewer_of: ViewerOf,
    features: Features = JUDGE,
    *,
    wants_text: WantsText = lambda _: False,
) -> Server[Any]:
    """The server; it opens and closes nothing. *viewer_of* is called for every message."""
    handlers = _Handlers(services, viewer_of, features, wants_text)
    cached = CacheHint(ttl_ms=LISTS_TTL_MS)
    return Server(
        "judge",
        version=version("judge"),
        title="Judge",
        instructions=_instructions(services),
        cache_hints={
            "tools/list": cached,
            "prompts/list": cached,
            "resources/list": cached,
            "resources/templates/list": cached,
        },
        get_tool_input_schema=handlers.input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_completion=handlers.complete,
    )


def _instructions(services: Services) -> str:
    names = services.code.names
    return f"{INSTRUCTIONS} Repositories: {', '.join(names)}." if names else INSTRUCTIONS


@dataclass(frozen=True, slots=True)
class _Handlers:
    """The handler of each kind of request."""

    services: Services
    viewer_of: ViewerOf
    features: Features
    wants_text: WantsText

    async def list_tools(self, context: CallContext, _: Page) -> types.ListToolsResult:
        """The tools; without output schemas for clients that read only text."""
        tools = [tool_definition(spec) for spec in self.features.tools]
        if self.wants_text(context):
            tools = [tool.model_copy(update={"output_schema": None}) for tool in tools]
        return types.ListToolsResult(tools=tools)

    async def list_prompts(self, _: CallContext, __: Page) -> types.ListPromptsResult:
        """The prompts."""
        return types.ListPromptsResult(prompts=[spec.definition for spec in self.features.prompts])

    async def list_resources(self, _: CallContext, __: Page) -> types.ListResourcesResult:
        """The resources with a fixed URI."""
        specs = (spec.definition for spec in self.features.resources)
        resources = [item for item in specs if isinstance(item, types.Resource)]
        return types.ListResourcesResult(resources=resources)

    async def list_templates(self, _: CallContext, __: Page) -> types.ListResourceTemplatesResult:
        """The resources with a URI template."""
        specs = (spec.definition for spec in self.features.resources)
        templates = [item for item in specs if isinstance(item, types.ResourceTemplate)]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """The schema of the arguments of the tool *name*; None for an unknown tool."""
        tools = (tool_definition(spec) for spec in self.features.tools if spec.name == name)
        return next((tool.input_schema for tool in tools), None)

    async def call_tool(
        self, context: CallContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """The tool's answer or error; raises MCPError for an unknown tool, the client's mistake."""
        spec = get_spec("tool", self.features.tools, params.name)
        started, outcome = perf_counter(), "cancelled"
        try:
            async with reporting(context, spec.name) as report:
                result = await self._result(spec, context, report, params.arguments or {})
            outcome = "ok"
        except JudgeError as error:
            problem = problem_of(error)
            result, outcome = failure(problem), problem.slug
        except Exception as error:  # noqa: BLE001 - its text may hold a person's words
            log_error(self.services.journal, error, event="mcp.error")
            problem = of_kind("internal-error")
            result, outcome = failure(problem), problem.slug
        finally:
            self.services.journal.note(
                "mcp.call",
                tool=spec.name,
                outcome=outcome,
                ms=round((perf_counter() - started) * 1000, 2),
            )
        return result

    async def _result(
        self, spec: ToolSpec, context: CallContext, report: Report, arguments: dict[str, Any]
    ) -> types.CallToolResult:
        """The part of the answer at the cursor in *arguments*."""
        fields = dict(arguments)
        cursor_text = fields.pop("cursor", None) if spec.lists else None
        parsed = parse_fields(spec.arguments, fields)
        request = {"tool": spec.name, "arguments": parsed.model_dump(mode="json")}
        cursor = read_cursor(cursor_text, request)
        call = ToolCall(context, report, cursor.shown)
        answer = await spec.handler(self._services(context), parsed, call)
        is_structured = not self.wants_text(context)
        return success(spec, answer, cursor, request, is_structured=is_structured)

    def _services(self, context: CallContext) -> Services:
        """The services, limited to what the client may see."""
        return self.services.seen_by(self.viewer_of(context))

    async def get_prompt(
        self, context: CallContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """The rendered prompt."""
        spec = get_spec("prompt", self.features.prompts, params.name)
        try:
            return await spec.render(self._services(context), params.arguments or {})
        except JudgeError as error:
            raise _as_protocol_error(error) from None

    async def read_resource(
        self, context: CallContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """The content of the resource."""
        services = self._services(context)
        try:
            for spec in self.features.resources:
                if (parts := spec.match(params.uri)) is not None:
                    content = await spec.read(services, parts)
                    return as_resource(spec, params.uri, parts, content)
        except JudgeError as error:
            raise _as_protocol_error(error) from None
        raise unknown_name("resource", self.features.resources)

    async def complete(
        self, context: CallContext, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        """Completions of the argument; none without a completer, or for what is too long to use."""
        ref = params.ref
        spec: PromptSpec | ResourceSpec
        if isinstance(ref, types.PromptReference):
            spec = get_spec("prompt", self.features.prompts, ref.name)
        else:
            spec = get_spec("resource template", self.features.templates, ref.uri)
        typed = params.argument.value
        completer = spec.completions.get(params.argument.name) if len(typed) <= MAX_SCOPE else None
        try:
            values = await completer(self._services(context), typed) if completer else ()
        except JudgeError as error:
            raise _as_protocol_error(error) from None
        return types.CompleteResult(
            completion=types.Completion(
                values=list(values[:MAX_COMPLETIONS]),
                total=len(values),
                has_more=len(values) > MAX_COMPLETIONS,
            )
        )


def _as_protocol_error(error: JudgeError) -> MCPError:
    """*error* for requests other than tool calls."""
    code = types.INVALID_PARAMS if isinstance(error, InvalidRequest) else types.INTERNAL_ERROR
    return MCPError(code, str(error))
