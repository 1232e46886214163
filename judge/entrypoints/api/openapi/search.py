"""What the OpenAPI document says of search and documents; `openapi.py` puts it together."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from judge.entrypoints.api.routes.documents import NewDocument
from judge.entrypoints.api.routes.search import SearchRequest

Json = dict[str, Any]

SEARCH_PROBLEMS = ("invalid-request", "bad-scope", "internal-error", "index-unavailable")
DOCUMENT_PROBLEMS = (
    "invalid-request",
    "too-large",
    "unsupported-media-type",
    "internal-error",
    "index-unavailable",
)
EXAMPLE = {"query": "who pays for the boiler @collection:leases", "limit": 3}


@dataclass(frozen=True, slots=True)
class Pieces:
    """The parts that all operations have in common."""

    respond: Callable[[str, Json], Json]
    problems: Callable[[Iterable[str]], Json]
    ref: Callable[[str], Json]
    request_id: Json


def search_paths(pieces: Pieces) -> Json:
    """The paths of search and documents."""
    return {
        "/api/search": {"post": _search(pieces), "get": _search_by_address(pieces)},
        "/api/documents": {"post": _add(pieces)},
        "/api/documents/{collection}/{document_id}": {"delete": _remove(pieces)},
    }


def search_schemas(ref_template: str) -> Json:
    """The schemas of their bodies."""
    request = SearchRequest.model_json_schema(ref_template=ref_template)
    nested = request.pop("$defs")
    return {
        **nested,
        "SearchRequest": request,
        "SearchResponse": _RESPONSE,
        "NewDocument": NewDocument.model_json_schema(ref_template=ref_template),
        "DocumentAdded": _object({"document_id": _TEXT, "passages": _COUNT}),
    }


def _search(pieces: Pieces) -> Json:
    problems = (*SEARCH_PROBLEMS, "too-large", "unsupported-media-type")
    return {
        "operationId": "search",
        "summary": "Search the indexed documents",
        "description": (
            "`context`, and @mentions in the query, say where: `@collection:a,b`, `@document:id`, "
            "`@folder:2024/q1`, `@tag:x`, `@modified:last-week`; `-@…` excludes, `@*` is "
            "everything. `hint` tells when a scope emptied the answer."
        ),
        "tags": ["search"],
        "parameters": [pieces.request_id],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": pieces.ref("SearchRequest"),
                    "examples": {"boiler": {"summary": "A boiler", "value": EXAMPLE}},
                }
            },
        },
        "responses": {"200": _found(pieces), **pieces.problems(problems)},
    }


def _search_by_address(pieces: Pieces) -> Json:
    request = SearchRequest.model_json_schema()["properties"]
    parameters = [
        _parameter("q", request["query"], is_required=True),
        *(_parameter(name, request[name]) for name in ("context", "limit", "offset", "format")),
        pieces.request_id,
    ]
    return {
        "operationId": "searchByAddress",
        "summary": "Search the indexed documents by an address alone",
        "tags": ["search"],
        "parameters": parameters,
        "responses": {"200": _found(pieces), **pieces.problems(SEARCH_PROBLEMS)},
    }


def _add(pieces: Pieces) -> Json:
    form = _object(
        {"file": {"type": "string", "format": "binary"}},
        optional=dict.fromkeys(("collection", "document_id", "title", "folder", "tags"), _TEXT),
    )
    return {
        "operationId": "addDocument",
        "summary": "Index one document",
        "description": (
            "As JSON, with its text or the address of its page, or as the one file of a form. At "
            "most 10 MiB. What had its id is replaced."
        ),
        "tags": ["search"],
        "parameters": [pieces.request_id],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": pieces.ref("NewDocument")},
                "multipart/form-data": {"schema": form},
            },
        },
        "responses": {
            "201": pieces.respond("It can be found.", pieces.ref("DocumentAdded")),
            **pieces.problems(DOCUMENT_PROBLEMS),
        },
    }


def _remove(pieces: Pieces) -> Json:
    return {
        "operationId": "removeDocument",
        "summary": "Take one document out of the index",
        "description": "The id may hold slashes.",
        "tags": ["search"],
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": _TEXT}
            for name in ("collection", "document_id")
        ]
        + [pieces.request_id],
        "responses": {
            "204": {"description": "It is gone."},
            **pieces.problems(["not-found", "internal-error", "index-unavailable"]),
        },
    }


def _found(pieces: Pieces) -> Json:
    response = pieces.respond("What is relevant, best first.", pieces.ref("SearchResponse"))
    # With `format=answer`: numbered blocks for an assistant to cite.
    response["content"]["text/plain"] = {"schema": _TEXT}
    return response


def _parameter(name: str, schema: Json, *, is_required: bool = False) -> Json:
    return {"name": name, "in": "query", "required": is_required, "schema": schema}


def _object(properties: Json, *, optional: Json | None = None) -> Json:
    return {
        "type": "object",
        "properties": properties | (optional or {}),
        "required": list(properties),
    }


_TEXT: Json = {"type": "string"}
_COUNT: Json = {"type": "integer", "minimum": 0}
_TEXT_OR_NULL: Json = {"type": ["string", "null"]}

_METADATA: Json = {
    "type": "object",
    "description": "Empty without `include_metadata`.",
    "properties": {
        "path": _TEXT,
        "source_url": _TEXT,
        "chapter": _TEXT_OR_NULL,
        "section": _TEXT_OR_NULL,
        "folder": _TEXT,
        "start_line": _COUNT,
        "end_line": _COUNT,
        "language": _TEXT,
        "tags": {"type": "array", "items": _TEXT},
        "modified": {"type": ["string", "null"], "format": "date-time"},
    },
}

_CHUNK: Json = _object(
    {
        "id": _TEXT,
        "text": _TEXT,
        "score": {"type": "number"},
        "document_id": _TEXT,
        "document_title": _TEXT,
        "collection_id": _TEXT,
        "collection_name": _TEXT,
        "position": _COUNT,
        "highlight": _TEXT,
        "metadata": _METADATA,
    }
)

_RESPONSE: Json = _object(
    {
        "query": _TEXT,
        "context": _TEXT_OR_NULL,
        "chunks": {"type": "array", "items": _CHUNK},
        "total_found": _COUNT,
        "search_time_ms": {"type": "number"},
        "filters_applied": {"type": "object", "description": "The scope as understood."},
    },
    optional={"hint": _TEXT, "warnings": {"type": "array", "items": _TEXT}},
)
