"""The prompt `contextual_search`, the resources, and the completions of their arguments.

The text of the prompt is in `contextual_search.md` beside this file.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)
from pydantic import Field

from judge.bootstrap.services import Services
from judge.entrypoints.mcp.document_tools import Collections, PassageQuery, fetch
from judge.entrypoints.mcp.results import as_json_text, capped
from judge.entrypoints.response_models import domains
from judge.errors import InvalidRequest, JudgeError, NotFound
from judge.library.scopes.periods import PERIOD_FORMS
from judge.library.scopes.scopes import KINDS, nearest_name, quoted
from judge.library.search.service import NOTHING_INDEXED
from judge.types.requests import MAX_SCOPE
from judge.types.search import ScopeKind, fold_name, id_prefix, passage_id

JSON_TYPE = "application/json"
PROMPT = "contextual_search"
PASSAGE = "judge://passages/{+id}"
COLLECTION = "judge://collections/{name}"
NAMES_ARE_NO_PATHS = ResourceSecurity(exempt_params={"id", "name"})

MAX_NAMES = 50
"""Collections named in the prompt; the tool `list_collections` lists all."""

MAX_COMPLETIONS = 100
"""In one reply, by the protocol."""

_KIND = re.compile(r"(?:^|(?<=[\s(]))-?@(\w*)$")
_VALUE = re.compile(r'(?:^|(?<=[\s(]))-?@(\w+):(?:(?:"[^"]*"|[^\s",]+),)*("[^"]*|[^\s",]*)$')


async def complete_scope(services: Services, typed: str) -> Sequence[str]:
    """*typed* with its last mention completed: the kind after an @, then a name."""
    if not typed or typed[-1] in " (":
        return [f"{typed}@{kind}:" for kind in KINDS]
    return await complete_mention(services, typed)


async def complete_mention(services: Services, typed: str) -> Sequence[str]:
    """Like complete_scope, for a text with other words: nothing unless it ends in a mention."""
    if match := _KIND.search(typed):
        head = typed[: match.start(1)]
        return [f"{head}{kind}:" for kind in _beginning_with(match[1], KINDS)]
    match = _VALUE.search(typed)
    if match is None or match[1].lower() not in KINDS:
        return []
    kind: ScopeKind = next(kind for kind in KINDS if kind == match[1].lower())
    names = await _names(services, kind)
    head = typed[: match.start(2)]
    return [head + quoted(name) for name in _beginning_with(match[2].lstrip('"'), names)]


async def complete_collection(services: Services, typed: str) -> Sequence[str]:
    """The collections whose names begin with *typed*."""
    return _beginning_with(typed, await _names(services, "collection"))


async def complete_passage(services: Services, typed: str) -> Sequence[str]:
    """The first passages whose ids begin with *typed*; before a slash, the collections."""
    collections = {id_prefix(name): name for name in await _names(services, "collection")}
    named = _beginning_with(f"{typed.partition('/')[0]}/", collections)
    if "/" not in typed or not named:
        return _beginning_with(typed, collections)
    documents = await services.corpus.search.catalogue.documents(collections[named[0]])
    return _beginning_with(typed, [passage_id(d.collection, d.id, 0) for d in documents])


def _beginning_with(typed: str, names: Iterable[str]) -> list[str]:
    folded = fold_name(typed)
    return [name for name in names if fold_name(name).startswith(folded)]


async def _names(services: Services, kind: ScopeKind) -> Sequence[str]:
    """What a mention of *kind* can name; empty if nothing is indexed."""
    if kind == "modified":
        return PERIOD_FORMS
    catalogue = services.corpus.search.catalogue
    if kind == "collection":
        return [stats.name for stats in await catalogue.collections()]
    return await catalogue.names(kind)


Complete = Callable[[Services, str], Awaitable[Sequence[str]]]
COMPLETERS: Mapping[tuple[str, str], Complete] = {
    (PROMPT, "question"): complete_mention,
    (PROMPT, "context"): complete_scope,
    (PASSAGE, "id"): complete_passage,
    (COLLECTION, "name"): complete_collection,
}
"""By prompt or URI template, and argument: the completions of what was typed, the best first."""


def add_resources(server: MCPServer[Any], services: Callable[[], Services]) -> None:
    """Add all of this module to *server*; *services* are limited to what the client may see."""

    @server.prompt(PROMPT, title="Search in a context")
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
        return as_json_text(capped({"domains": listed, "truncated": False}, ["domains"]))

    @server.resource(
        "judge://collections", name="collections", title="Collections", mime_type=JSON_TYPE
    )
    async def read_collections() -> str:
        """The collections of indexed documents, with their sizes."""
        with _protocol_errors():
            found = await services().corpus.search.catalogue.collections()
        return as_json_text(capped(Collections(found, len(found)), ["collections"]))

    @server.resource(
        PASSAGE,
        name="passage",
        title="A passage",
        mime_type=JSON_TYPE,
        security=NAMES_ARE_NO_PATHS,
    )
    async def read_passage(id: str) -> str:  # noqa: A002 - a name of the URI
        """A passage of an indexed document, by the `id` of a search result."""
        with _protocol_errors():
            passage = await fetch(services(), PassageQuery(id=id, neighbours=0))
        return as_json_text(capped(passage, ["passages"]))

    @server.resource(
        COLLECTION,
        name="collection",
        title="A collection",
        mime_type=JSON_TYPE,
        security=NAMES_ARE_NO_PATHS,
    )
    async def read_collection(name: str) -> str:
        """The documents of a collection, as many as fit into a reply."""
        with _protocol_errors():
            return as_json_text(capped(await _collection(services(), name), ["documents"]))

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator] # so in the SDK
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        _: CompletionContext | None,
    ) -> Completion | None:
        name = ref.name if isinstance(ref, PromptReference) else ref.uri
        completer = COMPLETERS.get((name, argument.name))
        if completer is None or len(argument.value) > MAX_SCOPE:
            return None
        with _protocol_errors():
            values = await completer(services(), argument.value)
        return Completion(
            values=list(values[:MAX_COMPLETIONS]),
            total=len(values),
            has_more=len(values) > MAX_COMPLETIONS,
        )


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
    parts = [guide, _listed([stats.name for stats in collections])]
    if scope:
        parts.append(f"## The scope\nPass this on in `context`, unchanged: {scope}\n")
    if question:
        parts.append(f"## The question\n{question}\n")
    return "\n".join(parts)


def _listed(names: Sequence[str]) -> str:
    if not names:
        return f"{NOTHING_INDEXED}\n"
    more = " and others, which `list_collections` tells" if len(names) > MAX_NAMES else ""
    return f"The collections are: {', '.join(names[:MAX_NAMES])}{more}.\n"


async def _collection(services: Services, name: str) -> dict[str, Any]:
    """The documents of the collection; raises NotFound and IndexUnavailable."""
    catalogue = services.corpus.search.catalogue
    documents = await catalogue.documents(name)
    if not documents:
        nearest = nearest_name(name, [stats.name for stats in await catalogue.collections()])
        suggestion = f" Did you mean {nearest!r}?" if nearest else ""
        raise NotFound(f"There is no collection {name[:200]!r}.{suggestion}")
    listed = [
        {"id": d.id, "path": d.path, "passages": d.passages, "modified": d.modified}
        for d in documents
    ]
    name = documents[0].collection
    return {"name": name, "documents": listed, "total": len(listed), "truncated": False}
