"""The URL of a web page -> its bytes and where it belongs in the index."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from judge.errors import FetchError, UnreadableDocument
from judge.ports import PageFetcher
from judge.search.indexing.document_reader import Origin
from judge.search.indexing.plan import IndexingOptions
from judge.search.indexing.readers.file_kinds import DocumentKind
from judge.search.scopes import folder_path
from judge.types.references import Page

TIMEOUT_S = 20.0
"""For a page; nobody waits for a verdict here."""


def is_url(text: str) -> bool:
    """Whether *text* is the URL of a web page rather than a path."""
    return text.lower().startswith(("http://", "https://"))


async def fetch_page(
    fetcher: PageFetcher, url: str, options: IndexingOptions
) -> tuple[bytes, Origin]:
    """The page at *url* and its place in the index; raises UnreadableDocument."""
    try:
        page = await fetcher.fetch(url, timeout_s=TIMEOUT_S)
    except FetchError as error:
        raise UnreadableDocument(str(error)) from error
    if not isinstance(page, Page):
        raise UnreadableDocument("Its server says that we know it already, which we do not.")
    origin = Origin(
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
    return page.body, origin


def _moment(http_date: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(http_date)
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
