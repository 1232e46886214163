"""The protocol server over open services; every transport runs the same one.

arguments -> question (checked by its model) -> the core -> answer, or an error as a tool's error
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

from judge.bootstrap import Services
from judge.entrypoints.event_log import log_error
from judge.entrypoints.mcp.calls import CallContext, Report, ToolCall, reporting
from judge.entrypoints.mcp.features import (
    Features,
    PromptSpec,
    ResourceSpec,
    ToolSpec,
    named,
    tool_definition,
    unknown,
)
from judge.entrypoints.mcp.pagination import read_cursor
from judge.entrypoints.mcp.prompt import CONTEXTUAL_SEARCH
from judge.entrypoints.mcp.resources import RESOURCES, as_resource
from judge.entrypoints.mcp.results import failure, success
from judge.entrypoints.mcp.tools import TOOLS
from judge.errors import InvalidRequest, JudgeError
from judge.problems import of_kind, problem_of
from judge.types.request_fields import parse_fields
from judge.types.search import Viewer

ViewerOf = Callable[[CallContext], Viewer]
"""Who sent a message, as far as it matters to what is seen of the documents."""

WantsText = Callable[[CallContext], bool]
"""Whether the client reads the text of a reply alone, and no structured content."""

Page = types.PaginatedRequestParams | None

JUDGE = Features(TOOLS, (CONTEXTUAL_SEARCH,), RESOURCES)

INSTRUCTIONS = (
    "Judges everyday disputes with verified citations (judge_dispute), searches the user's "
    "documents within @scopes (search_documents, fetch, list_collections), answers questions about "
    "repositories of code (code_context for all about one symbol; search_code, where_used, "
    "lineage), and checks the citations of any answer against its sources (check_citations). "
    "Where a reply has next_cursor, the same call with it as cursor gives the rest."
)
LISTS_LIVE_MS = 3_600_000
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
    """The server; it opens and closes nothing. *viewer_of* is asked for every message."""
    handlers = _Handlers(services, viewer_of, features, wants_text)
    cached = CacheHint(ttl_ms=LISTS_LIVE_MS)
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
    """Answers each kind of request from the features and the services."""

    services: Services
    viewer_of: ViewerOf
    features: Features
    wants_text: WantsText

    async def list_tools(self, context: CallContext, _: Page) -> types.ListToolsResult:
        """The tools; without schemas of answers for who gets text."""
        tools = [tool_definition(spec) for spec in self.features.tools]
        if self.wants_text(context):
            tools = [tool.model_copy(update={"output_schema": None}) for tool in tools]
        return types.ListToolsResult(tools=tools)

    async def list_prompts(self, _: CallContext, __: Page) -> types.ListPromptsResult:
        """The prompts."""
        return types.ListPromptsResult(prompts=[spec.definition for spec in self.features.prompts])

    async def list_resources(self, _: CallContext, __: Page) -> types.ListResourcesResult:
        """The resources that have one address each."""
        found = (spec.definition for spec in self.features.resources)
        resources = [one for one in found if isinstance(one, types.Resource)]
        return types.ListResourcesResult(resources=resources)

    async def list_templates(self, _: CallContext, __: Page) -> types.ListResourceTemplatesResult:
        """The shapes of the other addresses."""
        found = (spec.definition for spec in self.features.resources)
        templates = [one for one in found if isinstance(one, types.ResourceTemplate)]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """What the tool of that name takes."""
        found = (tool_definition(spec) for spec in self.features.tools if spec.name == name)
        return next((tool.input_schema for tool in found), None)

    async def call_tool(
        self, context: CallContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """The tool's answer; a name that no tool has is the client's mistake, not the model's."""
        spec = named("tool", self.features.tools, params.name)
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
        """The part of the answer that the cursor in *arguments* leads to."""
        fields = dict(arguments)
        place = fields.pop("cursor", None) if spec.lists else None
        parsed = parse_fields(spec.arguments, fields)
        question = {"tool": spec.name, "arguments": parsed.model_dump(mode="json")}
        cursor = read_cursor(place, question)
        call = ToolCall(context, report, cursor.shown)
        answer = await spec.handler(self._services(context), parsed, call)
        is_structured = not self.wants_text(context)
        return success(spec, answer, cursor, question, is_structured=is_structured)

    def _services(self, context: CallContext) -> Services:
        """The services over what the client may see."""
        return self.services.seen_by(self.viewer_of(context))

    async def get_prompt(
        self, context: CallContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """The prompt as it is now."""
        spec = named("prompt", self.features.prompts, params.name)
        try:
            return await spec.render(self._services(context), params.arguments or {})
        except JudgeError as error:
            raise _as_protocol_error(error) from None

    async def read_resource(
        self, context: CallContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """The resource as it is now."""
        services = self._services(context)
        try:
            for spec in self.features.resources:
                if (parts := spec.match(params.uri)) is not None:
                    content = await spec.read(services, parts)
                    return as_resource(spec, params.uri, parts, content)
        except JudgeError as error:
            raise _as_protocol_error(error) from None
        raise unknown("resource", self.features.resources)

    async def complete(
        self, context: CallContext, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        """What the argument can be; nothing where nothing is known of it."""
        ref = params.ref
        spec: PromptSpec | ResourceSpec
        if isinstance(ref, types.PromptReference):
            spec = named("prompt", self.features.prompts, ref.name)
        else:
            spec = named("resource template", self.features.templates, ref.uri)
        completer = spec.completions.get(params.argument.name)
        try:
            found = (
                await completer(self._services(context), params.argument.value) if completer else ()
            )
        except JudgeError as error:
            raise _as_protocol_error(error) from None
        return types.CompleteResult(
            completion=types.Completion(
                values=list(found[:MAX_COMPLETIONS]),
                total=len(found),
                has_more=len(found) > MAX_COMPLETIONS,
            )
        )


def _as_protocol_error(error: JudgeError) -> MCPError:
    """*error* where there is no tool whose error it could be."""
    code = types.INVALID_PARAMS if isinstance(error, InvalidRequest) else types.INTERNAL_ERROR
    return MCPError(code, str(error))
