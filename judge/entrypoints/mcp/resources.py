"""The resources: what disputes can be about, and which documents are indexed."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.types import ReadResourceResult, Resource, TextResourceContents
from pydantic import TypeAdapter

from judge.bootstrap import Services
from judge.entrypoints.mcp.document_tools import CollectionsQuery, list_collections
from judge.entrypoints.response_models import domains

JSON_TYPE = "application/json"


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """One resource and what reads it."""

    definition: Resource
    read: Callable[[Services], Awaitable[Any]]


async def _domains(services: Services) -> Any:
    return {"domains": domains(services.sources.current().catalog)}


async def _collections(services: Services) -> Any:
    return await list_collections(services, CollectionsQuery())


RESOURCES: Mapping[str, ResourceSpec] = {
    "judge://domains": ResourceSpec(
        Resource(
            uri="judge://domains",
            name="domains",
            title="Domains",
            description="What disputes can be about, and the pages that are quoted for each.",
            mime_type=JSON_TYPE,
        ),
        _domains,
    ),
    "judge://collections": ResourceSpec(
        Resource(
            uri="judge://collections",
            name="collections",
            title="Collections",
            description="The collections of indexed documents, with their sizes.",
            mime_type=JSON_TYPE,
        ),
        _collections,
    ),
}
"""By address."""


async def read(services: Services, uri: str) -> ReadResourceResult:
    """The resource at *uri*; raises KeyError and IndexUnavailable."""
    content = await RESOURCES[uri].read(services)
    text = TypeAdapter(Any).dump_json(content).decode()
    return ReadResourceResult(
        contents=[TextResourceContents(uri=uri, mime_type=JSON_TYPE, text=text)]
    )
