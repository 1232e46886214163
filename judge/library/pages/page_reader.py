"""Fetches one page, from its publisher's API or as HTML, and parses it to a record and content.

Parsing runs in a thread, which is abandoned when markup takes too long.
"""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import urlsplit

from judge.errors import FetchError
from judge.library.extract.govuk import content_api_urls, parse_content_item
from judge.library.extract.html_page import ReadPage, read_html
from judge.library.extract.page_passages import MAX_WORDS
from judge.library.pages.page_records import (
    PARSE_TIMEOUT_S,
    PageContent,
    PageRecord,
    SnippetRequest,
)
from judge.ports import Clock, PageFetcher
from judge.text.decoding import xhtml_as_html
from judge.types.references import Page, Validators

NewPage = tuple[PageRecord, PageContent | None]
"""A page as it is now; its content is None if it has not changed."""


@dataclass(frozen=True, slots=True)
class PageReader:
    """Fetches a page and parses it with *read*, which is `read_body` except in tests."""

    fetcher: PageFetcher
    clock: Clock
    read: Callable[..., ReadPage | None]

    async def read_page(self, request: SnippetRequest, known: PageRecord | None) -> NewPage:
        """The page as it is now; *known* is the record it may be unchanged from.

        The URLs of a publisher's API come first, the page itself last; together they share one
        fetch timeout. Raises FetchError.
        """
        addresses = (*content_api_urls(request.source.url), request.source.url)
        deadline = self.clock.monotonic() + request.settings.fetch_timeout_s
        failure = FetchError("no-text", f"No paragraph was found on {host_of(request)}.")
        for index, address in enumerate(addresses):
            # Share the time, so that an API that hangs leaves some for the page itself.
            timeout_s = (deadline - self.clock.monotonic()) / (len(addresses) - index)
            same = known if known and known.address == address else None
            try:
                if result := await self._read_at(request, address, same, max(timeout_s, 0.0)):
                    return result
            except FetchError as error:
                failure = error
        raise failure

    async def _read_at(
        self, request: SnippetRequest, address: str, known: PageRecord | None, timeout_s: float
    ) -> NewPage | None:
        """The page as *address* has it, None if it has another; raises FetchError."""
        sent = known.validators if known else Validators()
        media = "html" if address == request.source.url else "json"
        page = await self.fetcher.fetch(address, timeout_s=timeout_s, validators=sent, media=media)
        if isinstance(page, Page):
            if _is_front_page(page.url) and not _is_front_page(address):
                raise FetchError(
                    "redirects",
                    f"{host_of(request)} sends whoever asks for the page to its front page. Look "
                    "where it has moved to and correct the source's url.",
                )
            parsed = await self._parse(request, page)
            return self._as_record(request, address, page, parsed) if parsed else None
        if known is None:
            raise FetchError("unasked-304", f"{host_of(request)} sent 304 to a first request.", 304)
        current = page.validators if page.validators != Validators() else sent
        return replace(known, fetched_at=self.clock.now(), validators=current), None

    async def _parse(self, request: SnippetRequest, page: Page) -> ReadPage | None:
        try:
            async with asyncio.timeout(PARSE_TIMEOUT_S):
                return await asyncio.to_thread(
                    self.read,
                    request.source.url,
                    page.body,
                    page.content_type,
                    charset=page.charset,
                    selector=request.source.selector,
                    max_words=request.settings.max_words,
                )
        except TimeoutError as error:
            raise FetchError(
                "slow-markup", f"The page on {host_of(request)} takes too long to read."
            ) from error

    def _as_record(
        self, request: SnippetRequest, address: str, page: Page, read: ReadPage
    ) -> NewPage:
        if not (read.lead or read.withdrawn):
            title = f" under {read.title[:80]!r}" if read.title else ""
            raise FetchError(
                "no-text",
                f"No paragraph was found on {host_of(request)}{title}; a selector may help.",
            )
        now = self.clock.now()
        # A date in the future is a mistake; one day is allowed for time zones ahead of ours.
        is_past = read.updated and read.updated <= (now + timedelta(days=1)).date()
        record = PageRecord(
            text=read.lead or "",
            fetched_at=now,
            fingerprint=request.fingerprint,
            validators=page.validators,
            address=address,
            updated=read.updated if is_past else None,
            nations=read.nations,
            is_withdrawn=read.withdrawn,
            digest=hashlib.sha256(repr(read).encode()).hexdigest()[:16],
        )
        return record, PageContent(read.title, read.passages)


def read_body(
    url: str,
    body: bytes,
    content_type: str,
    *,
    charset: str = "",
    selector: str = "",
    max_words: int = MAX_WORDS,
) -> ReadPage | None:
    """The page at *url* parsed from *body*, or None if *body* is about another page.

    *body* is the reply of GOV.UK's API, or the page itself; *content_type* tells which. Never
    raises. To add another publisher's API, tell its hosts apart here and in `content_api_urls`.
    """
    is_govuk = bool(content_api_urls(url))
    kind = content_type.partition(";")[0].strip().lower()
    if kind.endswith("json"):
        return parse_content_item(body, url, max_words=max_words) if is_govuk else None
    if kind == "application/xhtml+xml":
        body = xhtml_as_html(body)
    # GOV.UK puts a description above the text of its pages.
    return read_html(
        body, charset=charset, selector=selector, max_words=max_words, has_description=is_govuk
    )


def _is_front_page(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.netloc) and parts.path in {"", "/"} and not parts.query


def host_of(request: SnippetRequest) -> str:
    """The host alone, for logs: a query string may be private."""
    return urlsplit(request.source.url).hostname or ""
