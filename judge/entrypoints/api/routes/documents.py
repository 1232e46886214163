"""`POST /api/documents` and `DELETE /api/documents/{collection}/{document_id}`."""

import hashlib
from codecs import BOM_UTF8
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import unquote

from litestar import Request, Response, delete, post
from litestar.datastructures import UploadFile
from litestar.di import NamedDependency
from litestar.exceptions.http_exceptions import RequestEntityTooLarge
from pydantic import FailFast, Field, StringConstraints

from judge.bootstrap.services import Services
from judge.entrypoints.api.access_policy import Access
from judge.entrypoints.api.openapi import KEYED, problems
from judge.entrypoints.api.problem_responses import NO_STORE, RequestRefused
from judge.entrypoints.api.request_body import is_json, read_body
from judge.errors import NotFound
from judge.library.extract.document_reader import (
    MAX_BYTES,
    DocumentMetadata,
    check_collection,
    kind_of,
)
from judge.library.indexing.plan import IndexingOptions
from judge.library.scopes.scopes import parse_moment
from judge.types.request_fields import BadFields, FieldError, StrictModel, parse_fields, parse_json
from judge.types.search import folder_path

OVERHEAD_BYTES = 64 * 1024
"""Room for what surrounds a document of the largest size: fields, quotation marks, boundaries."""

SMALLER = f"A document may have {MAX_BYTES // 1024 // 1024} MiB. Split it."

AnyRequest = Request[Any, Any, Any]
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
