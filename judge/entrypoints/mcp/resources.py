"""The prompt `contextual_search`, whose text is beside this file, and the resources."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import Field

from judge.bootstrap.services import Services
from judge.entrypoints.mcp.document_tools import Collections
from judge.entrypoints.mcp.results import as_json_text, capped
from judge.entrypoints.response_models import domains
from judge.errors import InvalidRequest, JudgeError
from judge.library.search.service import NOTHING_INDEXED

JSON_TYPE = "application/json"
MAX_NAMES = 50
"""Collections named in the prompt; the tool `list_collections` lists all."""


def add_resources(server: MCPServer[Any], services: Callable[[], Services]) -> None:
    """Add all of this module to *server*; *services* are limited to what the client may see."""

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
        return as_json_text(capped({"domains": listed, "truncated": False}, ["domains"]))

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
