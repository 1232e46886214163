"""`/api/search` and `/api/documents`, and `/api/code/…` over JUDGE_CODE_ROOTS by name."""

import hashlib
from codecs import BOM_UTF8
from dataclasses import dataclass
from datetime import datetime
from inspect import cleandoc
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from codegraph.models import CodeContextResult, LineageResult, SearchResult, WhereUsedResult
from litestar import MediaType, Request, Response, delete, get, post
from litestar.datastructures import UploadFile
from litestar.di import NamedDependency
from litestar.exceptions.http_exceptions import RequestEntityTooLarge
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg
from pydantic import FailFast, Field, StringConstraints

from judge.bootstrap.corpus import Corpus
from judge.bootstrap.services import Services
from judge.entrypoints.api.access_policy import Access
from judge.entrypoints.api.http_messages import (
    NO_STORE,
    RequestRefused,
    is_json,
    query_fields,
    read_body,
)
from judge.entrypoints.api.openapi import KEYED, problems
from judge.entrypoints.code_requests import (
    CodeContext,
    CodeQuestion,
    CodeSearch,
    LineageRequest,
    WhereUsed,
    ask_graph,
)
from judge.entrypoints.response_models import SearchResponse, chunks
from judge.errors import NotFound
from judge.library.extract.document_reader import (
    MAX_BYTES,
    DocumentMetadata,
    check_collection,
    kind_of,
)
from judge.library.indexing.plan import IndexingOptions
from judge.library.scopes.scopes import SearchFilters, format_scope, parse_moment
from judge.library.search.answer_format import format_answer
from judge.library.search.service import MAX_QUERY, MAX_RESULTS, SearchParameters
from judge.types.request_fields import BadFields, FieldError, StrictModel, parse_fields, parse_json
from judge.types.requests import ScopeText
from judge.types.search import EVERYWHERE, folder_path

AnyRequest = Request[Any, Any, Any]
Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY)]


class SearchRequest(StrictModel):
    """What is looked for, and where; @mentions may also stand in the query."""

    query: Query = Field(serialization_alias="q")  # as an address calls it
    context: ScopeText | None = None
    limit: int = Field(10, ge=1, le=MAX_RESULTS)
    offset: int = Field(0, ge=0, le=10_000)  # further would be copying the index
    filters: SearchFilters | None = None
    include_metadata: bool = True
    format: Literal["json", "answer"] = "json"


EXAMPLE = {"query": "who pays for the boiler @collection:leases", "limit": 3}


@post(
    "/api/search",
    status_code=200,
    access=Access.PRIVATE,
    text_too=True,
    tags=["search"],
    response_description="What is relevant, best first.",
    responses=problems(
        *KEYED, "bad-scope", "too-large", "unsupported-media-type", "index-unavailable"
    ),
)
async def search(
    data: Annotated[SearchRequest, BodyKwarg(examples=[Example(value=EXAMPLE)])],
    services: NamedDependency[Services],
) -> Response[SearchResponse]:
    """Search the indexed documents.

    `context`, and @mentions in the query, say where: `@collection:a,b`, `@document:id`,
    `@folder:2024/q1`, `@tag:x`, `@modified:last-week`, `(@… OR @…)`; `-` excludes, `@*` is
    everything. `hint` says what of a scope held nothing.
    """
    return await _answer(data, services.corpus)


@get(
    "/api/search",
    access=Access.PRIVATE,
    query=SearchRequest,
    text_too=True,
    tags=["search"],
    response_description="What is relevant, best first.",
    responses=problems(*KEYED, "bad-scope", "index-unavailable"),
)
async def search_by_address(
    request: AnyRequest, services: NamedDependency[Services]
) -> Response[SearchResponse]:
    """Search the indexed documents by an address alone."""
    fields = query_fields(request)
    if "query" not in fields:
        fields = {"query" if name == "q" else name: value for name, value in fields.items()}
    return await _answer(parse_fields(SearchRequest, fields), services.corpus)


async def _answer(request: SearchRequest, corpus: Corpus) -> Response[Any]:
    """What was found, as JSON or as text."""
    outcome = await corpus.search.search(
        SearchParameters(
            request.query,
            context=request.context,
            filters=request.filters or EVERYWHERE,
            limit=request.limit,
            offset=request.offset,
        )
    )
    hits = outcome.results.hits
    if request.format == "answer":
        return Response(format_answer(hits), media_type=MediaType.TEXT, headers=NO_STORE)
    body: SearchResponse = {
        "query": request.query,
        "context": request.context,
        "chunks": list(chunks(hits, outcome.query, with_metadata=request.include_metadata)),
        "total_found": outcome.results.total,
        "search_time_ms": outcome.elapsed_ms,
        "filters_applied": format_scope(outcome.scope),
    }
    if outcome.hint:
        body["hint"] = outcome.hint
    if outcome.results.warnings:
        body["warnings"] = outcome.results.warnings
    return Response(body, headers=NO_STORE)


OVERHEAD_BYTES = 64 * 1024
"""Room for what surrounds a document of the largest size: fields, quotation marks, boundaries."""

SMALLER = f"A document may have {MAX_BYTES // 1024 // 1024} MiB. Split it."

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class NewDocument(StrictModel):
    """A document to be indexed, given as its text or as the address of its page."""

    collection: Line
    text: str | None = None
    url: Line | None = None
    document_id: Line | None = None
    title: Line | None = None
    folder: Annotated[str, StringConstraints(max_length=500)] = ""
    tags: Annotated[tuple[Line, ...], FailFast(), Field(max_length=1000)] = ()
    modified: Line | None = None
    """A date or a moment in ISO 8601; without one, what the document says itself, else now."""


@dataclass(frozen=True, slots=True)
class DocumentAdded:
    """What is in the index now."""

    document_id: str
    passages: int


FORM = {
    "type": "object",
    "properties": {
        "file": {"type": "string", "format": "binary"},
        **{
            name: {"type": "string"}
            for name in NewDocument.model_fields
            if name not in {"text", "url"}
        },
    },
    "required": ["file"],
}


@post(
    "/api/documents",
    status_code=201,
    access=Access.ADMIN,
    request_max_body_size=MAX_BYTES + OVERHEAD_BYTES,
    bodies={"application/json": NewDocument, "multipart/form-data": FORM},
    tags=["search"],
    response_description="It can be found.",
    responses=problems(*KEYED, "too-large", "unsupported-media-type", "index-unavailable"),
)
async def add_document(
    request: AnyRequest, services: NamedDependency[Services]
) -> Response[DocumentAdded]:
    """Index one document.

    As JSON, with its text or the address of its page, or as the one file of a form. At most 10 MiB.
    A document with the same id is replaced.
    """
    new, name, content = await _sent(request, services.settings.collection)
    if new.url:
        given = new.model_dump(include={"collection", "tags", "folder", "document_id", "title"})
        options = IndexingOptions(**given)
        added = await services.corpus.indexer.add_page(new.url, options, modified=_modified(new))
    else:
        if len(content) > MAX_BYTES:
            raise RequestRefused("too-large", SMALLER)
        document_id = new.document_id or f"doc-{hashlib.sha256(content).hexdigest()[:12]}"
        kind = kind_of(name)
        meta = DocumentMetadata(
            collection=check_collection(new.collection),
            document_id=document_id,
            name=name,
            path=document_id,
            title=new.title,
            folder=folder_path(new.folder),
            tags=new.tags,
            modified=_modified(new),
            received=services.clock.now(),
            size_bytes=len(content),
            # Text without a name that says its kind reads best as Markdown: headings count.
            kind="markdown" if kind == "text" and new.text is not None else kind,
        )
        [added] = await services.corpus.indexer.add_documents([(content, meta)])
    return Response(DocumentAdded(added.id, added.passages), status_code=201, headers=NO_STORE)


@delete(
    "/api/documents/{collection:str}/{document_id:path}",
    access=Access.ADMIN,
    tags=["search"],
    response_description="It is gone.",
    responses=problems(*KEYED, "not-found", "index-unavailable"),
)
async def remove_document(request: AnyRequest, services: NamedDependency[Services]) -> None:
    """Take one document out of the index.

    The id may hold slashes.
    """
    # The raw path: routing merges double slashes, which URLs have.
    raw = request.scope["raw_path"].partition(b"?")[0].decode("ascii", "replace")
    named = raw.partition("/documents/")[2].partition("/")
    collection, document_id = unquote(named[0]), unquote(named[2])
    _, missing = await services.corpus.indexer.remove(collection, [document_id])
    if missing:
        raise NotFound(f"There is no document {document_id!r} in {collection!r}.")


async def _sent(request: AnyRequest, collection: str) -> tuple[NewDocument, str, bytes]:
    """The document as described, its name and its bytes; *collection* is the default of a file."""
    if not is_json(request.headers.get("content-type")):
        return await _sent_as_form(request, collection)
    max_bytes = 3 * MAX_BYTES + OVERHEAD_BYTES  # an encoder may write \u00e9 for é, which has two
    body = await read_body(request.scope, request.receive, max_bytes=max_bytes, advice=SMALLER)
    new = parse_json(NewDocument, body.removeprefix(BOM_UTF8))
    if (new.text is None) == (new.url is None):
        raise BadFields([FieldError("text", "or url must be there, and not both")])
    return new, new.document_id or "", (new.text or "").encode()


async def _sent_as_form(request: AnyRequest, collection: str) -> tuple[NewDocument, str, bytes]:
    content_type = request.headers.get("content-type", "")
    if not content_type.startswith("multipart/form-data") or "boundary=" not in content_type:
        raise RequestRefused("unsupported-media-type")
    try:
        sent = (await request.form()).dict()
    except RequestEntityTooLarge:
        raise RequestRefused("too-large", SMALLER) from None
    except (UnicodeError, LookupError):
        raise BadFields([FieldError("body", "must have fields that are text in UTF-8")]) from None
    files = [value for values in sent.values() for value in values if isinstance(value, UploadFile)]
    if len(files) != 1:
        raise BadFields([FieldError("file", f"must be there once, not {len(files)} times")])
    name = files[0].filename.replace("\\", "/").rpartition("/")[2]
    fields = {
        field: values if len(values) > 1 else values[0]
        for field, values in sent.items()
        if files[0] not in values
    }
    if tags := sent.get("tags"):
        fields["tags"] = [tag for tag in ",".join(map(str, tags)).split(",") if tag.strip()]
    # As its id a file's name has the limits of any id.
    defaults = {"collection": collection, "document_id": name or None}
    new = parse_fields(NewDocument, defaults | fields)
    if new.text is not None or new.url is not None:
        raise BadFields([FieldError("file", "must be alone, without text and url")])
    return new, name, await files[0].read()


def _modified(new: NewDocument) -> datetime | None:
    try:
        return parse_moment(new.modified) if new.modified else None
    except (ValueError, OverflowError):
        raise BadFields(
            [FieldError("modified", "must be a date, such as 2025-01-31 or 2025-01-31T09:00:00Z")]
        ) from None


def _route(
    path: str, operation_id: str, question: type[CodeQuestion], answer: type
) -> HTTPRouteHandler:
    """The route that answers a *question*, whose fields are its query string, with an *answer*."""
    success = ResponseSpec(answer, description="The answer.", generate_examples=False)

    @get(
        f"/api/code/{path}",
        operation_id=operation_id,
        description=f"{cleandoc(question.__doc__ or '')}\n\n"
        "Only the repositories of JUDGE_CODE_ROOTS can be asked about, by name.",
        access=Access.PRIVATE,
        query=question,
        tags=["code"],
        responses={200: success, **problems(*KEYED, "not-found", "ambiguous")},
    )
    async def ask(request: AnyRequest, services: NamedDependency[Services]) -> Response[Any]:
        parsed: CodeQuestion = parse_fields(question, query_fields(request))
        return Response(await ask_graph(parsed, services.code), headers=NO_STORE)

    return ask


ROUTES = (
    _route("search", "searchCode", CodeSearch, SearchResult),
    _route("where-used", "whereUsed", WhereUsed, WhereUsedResult),
    _route("lineage", "lineage", LineageRequest, LineageResult),
    _route("context", "codeContext", CodeContext, CodeContextResult),
    search,
    search_by_address,
    add_document,
    remove_document,
)
