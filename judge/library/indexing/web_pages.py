"""The URL of a web page -> its bytes and metadata."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from judge.errors import FetchError, UnreadableDocument
from judge.library.extract.document_reader import DocumentKind, DocumentMetadata
from judge.library.indexing.plan import IndexingOptions
from judge.ports import PageFetcher
from judge.types.references import Page
from judge.types.search import folder_path

TIMEOUT_S = 20.0
"""For a page; longer than for a judgement, since no person waits for it."""


def is_url(text: str) -> bool:
    """Whether *text* is the URL of a web page rather than a path."""
    return text.lower().startswith(("http://", "https://"))


async def fetch_page(
    fetcher: PageFetcher, url: str, options: IndexingOptions
) -> tuple[bytes, DocumentMetadata]:
    """The body and metadata of the page at *url*; raises UnreadableDocument."""
    try:
        page = await fetcher.fetch(url, timeout_s=TIMEOUT_S)
    except FetchError as error:
        raise UnreadableDocument(str(error)) from error
    if not isinstance(page, Page):
        raise UnreadableDocument("Its server answered 304 (not modified) to a first request.")
    meta = DocumentMetadata(
        collection=options.collection,
        document_id=options.document_id or url,
        name=url,
        path=url,
        title=options.title,
        folder=folder_path(options.folder),
        tags=options.tags,
        modified=_moment(page.validators.last_modified),
        size_bytes=len(page.body),
        charset=page.charset,
        kind=DocumentKind("html"),
    )
    return page.body, meta


def _moment(http_date: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(http_date)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
