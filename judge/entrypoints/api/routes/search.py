"""`POST` and `GET /api/search`: a query in, passages of the indexed documents out."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from litestar import MediaType, Request, Response, get, post
from litestar.di import NamedDependency
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from judge.bootstrap import Corpus, Services
from judge.entrypoints.api.access_policy import Access
from judge.entrypoints.api.problem_responses import NO_STORE
from judge.entrypoints.api.request_body import expect_json, parse_body, read_body
from judge.entrypoints.request_fields import parse_fields
from judge.entrypoints.response_models import chunks
from judge.errors import IndexUnavailable
from judge.search.answer_format import format_answer
from judge.search.filters import Filters, scope_of
from judge.search.scopes import format_scope
from judge.search.service import MAX_QUERY, Asked, Found
from judge.types.search import Scope

MAX_CONTEXT = 2000
"""Characters of a scope; more names than that nobody can oversee."""

MAX_OFFSET = 10_000
"""Who has read so many results is not looking but copying."""


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY)]
Context = Annotated[str, StringConstraints(max_length=MAX_CONTEXT)]
Name = Annotated[str, StringConstraints(max_length=MAX_CONTEXT)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_as_list)]


class SearchFilters(BaseModel):
    """Further limits, which hold together with the scope; of several names any will do."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    collection_name: Names | None = None
    collection_id: Names | None = None
    document_id: Names | None = None
    folder_path: Name | None = None
    recursive: bool = True
    tags: Names | None = None
    modified_after: Name | None = None
    modified_before: Name | None = None


class SearchRequest(BaseModel):
    """What is looked for, and where; @mentions may also stand in the query."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: Query
    context: Context | None = None
    limit: int = Field(10, ge=1, le=50)
    offset: int = Field(0, ge=0, le=MAX_OFFSET)
    filters: SearchFilters | None = None
    include_metadata: bool = True
    format: Literal["json", "answer"] = "json"


@post("/api/search", status_code=200, access=Access.PRIVATE)
async def search(
    request: Request[Any, Any, Any], services: NamedDependency[Services]
) -> Response[Any]:
    """Search the indexed documents."""
    expect_json(request.headers.get("content-type"))
    asked = parse_body(SearchRequest, await read_body(request.receive))
    return await _answer(asked, corpus_of(services))


@get("/api/search", access=Access.PRIVATE)
async def search_by_address(
    request: Request[Any, Any, Any], services: NamedDependency[Services]
) -> Response[Any]:
    """Search by an address alone: `?q=…&context=…&limit=…&offset=…&format=…`."""
    fields = _with_query({name: values[-1] for name, values in request.query_params.dict().items()})
    return await _answer(parse_fields(SearchRequest, fields), corpus_of(services))


def corpus_of(services: Services) -> Corpus:
    """The indexed documents; raises IndexUnavailable where there is no index."""
    if services.corpus is None:
        raise IndexUnavailable("There is no search index here.")
    return services.corpus


def _with_query(params: Mapping[str, str]) -> dict[str, str]:
    """The parameters under the names that the body has; `q` is `query`."""
    fields = dict(params)
    if "q" in fields:
        fields.setdefault("query", fields.pop("q"))
    return fields


async def _answer(asked: SearchRequest, corpus: Corpus) -> Response[Any]:
    found = await corpus.search.search(
        Asked(
            asked.query,
            context=asked.context,
            filters=_scope(asked.filters),
            limit=asked.limit,
            offset=asked.offset,
        )
    )
    if asked.format == "answer":
        text = format_answer(found.results.hits)
        return Response(text, media_type=MediaType.TEXT, headers=NO_STORE)
    return Response(as_body(asked, found), headers=NO_STORE)


def _scope(filters: SearchFilters | None) -> Scope:
    return scope_of(Filters(**filters.model_dump())) if filters else Scope()


def as_body(asked: SearchRequest, found: Found) -> dict[str, Any]:
    """The members of the reply; `hint` and `warnings` are there when there is one."""
    body: dict[str, Any] = {
        "query": asked.query,
        "context": asked.context,
        "chunks": list(
            chunks(found.results.hits, found.question, with_metadata=asked.include_metadata)
        ),
        "total_found": found.results.total,
        "search_time_ms": found.elapsed_ms,
        "filters_applied": format_scope(found.scope),
    }
    if found.hint:
        body["hint"] = found.hint
    if found.results.warnings:
        body["warnings"] = found.results.warnings
    return body
