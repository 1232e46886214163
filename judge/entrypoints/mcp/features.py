"""What a server offers: tools, prompts, resources and templates of resources, each in its shape."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from mcp import types
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import UriTemplate
from pydantic import BaseModel, TypeAdapter

from judge.bootstrap import Services
from judge.entrypoints.mcp.calls import ToolCall
from judge.entrypoints.mcp.pagination import Json

Spec = TypeVar("Spec", "ToolSpec", "PromptSpec", "ResourceSpec")

Complete = Callable[[Services, str], Awaitable[Sequence[str]]]
"""What an argument can be that begins as it was typed, the best first."""

CURSOR = {
    "anyOf": [{"type": "string"}, {"type": "null"}],
    "default": None,
    "description": "`next_cursor` of the last reply, with the same arguments: the rest follows.",
}
CURSOR_PART = "{?cursor}"
"""How an address names the part of a resource that is given in parts."""

CONTINUED: Json = {"hint": {"type": "string"}, "next_cursor": {"type": "string"}}
"""Further members of a reply where not everything fits."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool; its description is the docstring of *arguments*, the model of what it takes."""

    name: str
    title: str
    arguments: type[BaseModel]
    output: Any
    """The type of what `handler` gives, for its schema; None where that is a result as it is."""
    handler: Callable[[Services, Any, ToolCall], Awaitable[Any]]
    summary: Callable[[Json], str] = str
    """The answer in a few lines for people, and for clients that show only text."""
    lists: Sequence[str] = ()
    """The lists of the answer that are sent in parts, with a cursor to the next."""
    grows: bool = True
    """Whether asking for more finds more: then a cursor follows where the answer is `truncated`."""
    is_open_world: bool = False
    """Whether it reaches out to the web or to a model."""


@dataclass(frozen=True, slots=True)
class PromptSpec:
    """One prompt, what renders it, and what completes its arguments."""

    definition: types.Prompt
    render: Callable[[Services, Mapping[str, str]], Awaitable[types.GetPromptResult]]
    completions: Mapping[str, Complete] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name that clients use."""
        return self.definition.name


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """One resource, or all whose addresses have one shape, and what reads it by their parts.

    It gives a result as it is, or what is shown as JSON.
    """

    definition: types.Resource | types.ResourceTemplate
    read: Callable[[Services, Mapping[str, str]], Awaitable[Any]]
    completions: Mapping[str, Complete] = field(default_factory=dict)
    lists: Sequence[str] = ()
    """The lists of the answer that are sent in parts, with a cursor to the next."""

    @property
    def name(self) -> str:
        """The address, or the template of all."""
        one = self.definition
        return one.uri if isinstance(one, types.Resource) else one.uri_template

    def match(self, uri: str) -> dict[str, str] | None:
        """The parts of *uri*, None where it has another shape."""
        template = f"{self.name.removesuffix(CURSOR_PART)}{CURSOR_PART if self.lists else ''}"
        found = UriTemplate.parse(template).match(uri)
        return None if found is None else {name: str(value) for name, value in found.items()}


@dataclass(frozen=True, slots=True)
class Features:
    """All that one server offers."""

    tools: Sequence[ToolSpec] = ()
    prompts: Sequence[PromptSpec] = ()
    resources: Sequence[ResourceSpec] = ()

    @property
    def templates(self) -> Sequence[ResourceSpec]:
        """Those of the resources that have more than one address."""
        return [one for one in self.resources if isinstance(one.definition, types.ResourceTemplate)]


def named(kind: str, specs: Sequence[Spec], name: str) -> Spec:
    """The one of *specs* that has this *name*; raises MCPError."""
    found = next((spec for spec in specs if spec.name == name), None)
    if found is None:
        raise unknown(kind, specs)
    return found


def unknown(kind: str, specs: Sequence[Spec]) -> MCPError:
    """The client's mistake, with what there is."""
    are = "There is" if len(specs) == 1 else "There are"
    names = ", ".join(spec.name for spec in specs)
    return MCPError(types.INVALID_PARAMS, f"There is no such {kind}. {are}: {names}.")


@cache
def tool_definition(spec: ToolSpec) -> types.Tool:
    """*spec* as `tools/list` gives it; made once, for making schemas takes 15 ms."""
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
    """The schema of the arguments, without the description that the tool itself has."""
    schema = spec.arguments.model_json_schema()
    schema.pop("description", None)
    if spec.lists:
        schema["properties"]["cursor"] = CURSOR
    return dict(_without(schema, {"title"}))


def _output_schema(spec: ToolSpec) -> Json:
    schema = TypeAdapter[Any](spec.output).json_schema(mode="serialization")
    if spec.lists:
        schema["properties"] = {**CONTINUED, **schema["properties"]}
    return dict(_without(schema, {"title", "description"}))


def _without(schema: Any, words: set[str]) -> Any:
    """*schema* without these *words*, which only say for people what the names of fields say too.

    They are a third of `tools/list`, which a client reads first of all.
    """
    if isinstance(schema, dict):
        return {
            name: _without(below, words)
            for name, below in schema.items()
            if name not in words or not isinstance(below, str)
        }
    return [_without(one, words) for one in schema] if isinstance(schema, list) else schema


def _paragraphs(docstring: str) -> str:
    """*docstring* without the line ends of the source."""
    return "\n\n".join(" ".join(part.split()) for part in docstring.split("\n\n"))
