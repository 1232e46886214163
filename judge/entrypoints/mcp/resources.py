"""The resources: the domains of disputes, and the indexed documents."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp.types import ReadResourceResult, Resource, ResourceTemplate, TextResourceContents

from judge.bootstrap.services import Services
from judge.entrypoints.mcp.completions import complete_collection, complete_passage
from judge.entrypoints.mcp.document_tools import FetchedPassage, PassageQuery, fetch
from judge.entrypoints.mcp.features import ResourceSpec
from judge.entrypoints.mcp.pagination import as_json_text, page_of, read_cursor, to_jsonable
from judge.entrypoints.response_models import domains
from judge.errors import NotFound
from judge.library.scopes.scopes import nearest_name
from judge.types.search import fold_name

JSON_TYPE = "application/json"


async def _domains(services: Services, _: Mapping[str, str]) -> Any:
    return {"domains": domains(services.sources.current().catalog), "truncated": False}


async def _collections(services: Services, _: Mapping[str, str]) -> Any:
    collections = await services.corpus.search.catalogue.collections()
    return {"collections": collections, "total": len(collections), "truncated": False}


async def _passage(services: Services, parts: Mapping[str, str]) -> FetchedPassage:
    """The passage alone; raises NotFound and IndexUnavailable."""
    return await fetch(services, PassageQuery(id=parts["id"], neighbours=0))


async def _collection(services: Services, parts: Mapping[str, str]) -> Any:
    """The documents of the collection; raises NotFound and IndexUnavailable."""
    catalogue = services.corpus.search.catalogue
    name = parts["name"]
    documents = await catalogue.documents(name)
    if not documents:
        names = [stats.name for stats in await catalogue.collections()]
        guess = nearest_name(name, names)
        suggestion = f" Did you mean {guess!r}?" if guess else ""
        raise NotFound(f"There is no collection {name[:200]!r}.{suggestion}")
    listed = [
        {"id": d.id, "path": d.path, "passages": d.passages, "modified": d.modified}
        for d in documents
    ]
    name = documents[0].collection
    return {"name": name, "documents": listed, "total": len(listed), "truncated": False}


RESOURCES: Sequence[ResourceSpec] = (
    ResourceSpec(
        Resource(
            uri="judge://domains",
            name="domains",
            title="Domains",
            description="What disputes can be about, and the pages that are quoted for each.",
            mime_type=JSON_TYPE,
        ),
        _domains,
        lists=["domains"],
    ),
    ResourceSpec(
        Resource(
            uri="judge://collections",
            name="collections",
            title="Collections",
            description="The collections of indexed documents, with their sizes.",
            mime_type=JSON_TYPE,
        ),
        _collections,
        lists=["collections"],
    ),
    ResourceSpec(
        ResourceTemplate(
            uri_template="judge://passages/{+id}",
            name="passage",
            title="A passage",
            description="A passage of an indexed document, by the `id` of a search result.",
            mime_type=JSON_TYPE,
        ),
        _passage,
        {"id": complete_passage},
        ["passages"],
    ),
    ResourceSpec(
        ResourceTemplate(
            uri_template="judge://collections/{name}{?cursor}",
            name="collection",
            title="A collection",
            description="The documents of a collection; `next_cursor` leads to more of them.",
            mime_type=JSON_TYPE,
        ),
        _collection,
        {"name": complete_collection},
        ["documents"],
    ),
)


def as_resource(
    spec: ResourceSpec, uri: str, parts: Mapping[str, str], content: Any
) -> ReadResourceResult:
    """*content* as JSON at *uri*, with as much of its lists as fits; raises BadCursor.

    A ReadResourceResult is returned unchanged.
    """
    if isinstance(content, ReadResourceResult):
        return content
    shown = to_jsonable(content)
    if spec.lists:
        names = {part: fold_name(value) for part, value in parts.items() if part != "cursor"}
        request = {"resource": spec.name, **names}
        cursor = read_cursor(parts.get("cursor"), request)
        shown = page_of(shown, spec.lists, cursor, request, more_to_find=False)
    contents = TextResourceContents(uri=uri, mime_type=JSON_TYPE, text=as_json_text(shown))
    return ReadResourceResult(contents=[contents])
