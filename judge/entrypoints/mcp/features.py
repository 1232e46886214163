"""The specifications of what a server offers: tools, prompts, resources, resource templates."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from mcp import types
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import UriTemplate
from pydantic import BaseModel, TypeAdapter

from judge.bootstrap.services import Services
from judge.entrypoints.mcp.calls import ToolCall
from judge.entrypoints.mcp.pagination import Json

Spec = TypeVar("Spec", "ToolSpec", "PromptSpec", "ResourceSpec")

Complete = Callable[[Services, str], Awaitable[Sequence[str]]]
"""The completions of what was typed for an argument, the best first."""

CURSOR_SCHEMA = {
    "anyOf": [{"type": "string"}, {"type": "null"}],
    "default": None,
    "description": "`next_cursor` of the last reply, with the same arguments: the rest follows.",
}
CURSOR_TEMPLATE = "{?cursor}"
"""Ends the URI template of a resource that is sent in parts."""

PAGE_MEMBERS: Json = {"hint": {"type": "string"}, "next_cursor": {"type": "string"}}
"""Members that a reply has when not everything fits."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool; its description is the docstring of *arguments*, the model of what it takes."""

    name: str
    title: str
    arguments: type[BaseModel]
    output: Any
    """The type of what `handler` returns, for the schema; None if that is a CallToolResult."""
    handler: Callable[[Services, Any, ToolCall], Awaitable[Any]]
    summary: Callable[[Json], str] = str
    """Sums the answer up in a few lines, for people and for clients that show only text."""
    lists: Sequence[str] = ()
    """The lists of the answer that are sent in parts, with a cursor to the next."""
    grows: bool = True
    """Whether a higher limit finds more, so that a `truncated` answer can have a cursor."""
    is_open_world: bool = False
    """Whether it fetches from the web or calls a model."""


@dataclass(frozen=True, slots=True)
class PromptSpec:
    """One prompt, its renderer, and the completers of its arguments."""

    definition: types.Prompt
    render: Callable[[Services, Mapping[str, str]], Awaitable[types.GetPromptResult]]
    completions: Mapping[str, Complete] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name that clients use."""
        return self.definition.name


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """A resource or resource template, and its reader, which takes the variables of the URI.

    The reader returns a ReadResourceResult, or an object that is sent as JSON.
    """

    definition: types.Resource | types.ResourceTemplate
    read: Callable[[Services, Mapping[str, str]], Awaitable[Any]]
    completions: Mapping[str, Complete] = field(default_factory=dict)
    lists: Sequence[str] = ()
    """The lists of the answer that are sent in parts, with a cursor to the next."""

    @property
    def name(self) -> str:
        """The URI or the URI template."""
        item = self.definition
        return item.uri if isinstance(item, types.Resource) else item.uri_template

    def match(self, uri: str) -> dict[str, str] | None:
        """The variables in *uri*; None if it does not match."""
        base = self.name.removesuffix(CURSOR_TEMPLATE)
        parts = UriTemplate.parse(f"{base}{CURSOR_TEMPLATE}" if self.lists else base).match(uri)
        return None if parts is None else {name: str(value) for name, value in parts.items()}


@dataclass(frozen=True, slots=True)
class Features:
    """All that one server offers."""

    tools: Sequence[ToolSpec] = ()
    prompts: Sequence[PromptSpec] = ()
    resources: Sequence[ResourceSpec] = ()

    @property
    def templates(self) -> Sequence[ResourceSpec]:
        """The resources with a URI template."""
        return [s for s in self.resources if isinstance(s.definition, types.ResourceTemplate)]


def get_spec(kind: str, specs: Sequence[Spec], name: str) -> Spec:
    """The spec called *name*; raises MCPError if *specs* has none."""
    spec = next((spec for spec in specs if spec.name == name), None)
    if spec is None:
        raise unknown_name(kind, specs)
    return spec


def unknown_name(kind: str, specs: Sequence[Spec]) -> MCPError:
    """The error for a name that none of *specs* has; it lists their names."""
    are = "There is" if len(specs) == 1 else "There are"
    names = ", ".join(spec.name for spec in specs)
    return MCPError(types.INVALID_PARAMS, f"There is no such {kind}. {are}: {names}.")


@cache
def tool_definition(spec: ToolSpec) -> types.Tool:
    """*spec* as in `tools/list`; cached, since generating schemas takes 15 ms."""
    return types.Tool(
        name=spec.name,
        title=spec.title,
        description=_paragraphs(spec.arguments.__doc__ or ""),
        input_schema=_arguments_schema(spec),
        output_schema=_output_schema(spec) if spec.output is not None else None,
        annotations=types.ToolAnnotations(
            title=spec.title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=not spec.is_open_world,
            open_world_hint=spec.is_open_world,
        ),
    )


def _arguments_schema(spec: ToolSpec) -> Json:
    """The schema of the arguments, without their description, which is that of the tool."""
    schema = spec.arguments.model_json_schema()
    schema.pop("description", None)
    if spec.lists:
        schema["properties"]["cursor"] = CURSOR_SCHEMA
    return dict(_without(schema, {"title"}))


def _output_schema(spec: ToolSpec) -> Json:
    schema = TypeAdapter[Any](spec.output).json_schema(mode="serialization")
    if spec.lists:
        schema["properties"] = {**PAGE_MEMBERS, **schema["properties"]}
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
