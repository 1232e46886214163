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
from judge.library.extract.page_status import RegionNames
from judge.library.pages.page_records import (
    PARSE_TIMEOUT_S,
    PageContent,
    PageRecord,
    SnippetRequest,
)
from judge.ports import Clock, PageFetcher
from judge.text.decoding import xhtml_as_html
from judge.types.references import NotModified, Page, Validators


@dataclass(frozen=True, slots=True)
class PageReader:
    """Fetches a page and parses it with *read*, which is `read_body` except in tests."""

    fetcher: PageFetcher
    clock: Clock
    read: Callable[..., ReadPage | None]

    async def read_page(
        self, request: SnippetRequest, known: PageRecord | None
    ) -> tuple[PageRecord, PageContent | None]:
        """The page as it is now; content is None if it has not changed since *known*.

        The URLs of a publisher's API come first, the page itself last; together they share one
        fetch timeout. Raises FetchError.
        """
        try:
            # The fetcher has its own timeout; this one ensures that the lock outlasts the reading.
            async with asyncio.timeout(request.reading_s):
                return await self._fetch_first_available(request, known)
        except TimeoutError as error:
            raise FetchError("timeout", f"{host_of(request)} took too long to answer.") from error

    async def _fetch_first_available(
        self, request: SnippetRequest, known: PageRecord | None
    ) -> tuple[PageRecord, PageContent | None]:
        """The page from the first URL that has it; raises FetchError."""
        addresses = (*content_api_urls(request.source.url), request.source.url)
        deadline = self.clock.monotonic() + request.settings.fetch_timeout_s
        failure = FetchError("no-text", f"No paragraph was found on {host_of(request)}.")
        for index, address in enumerate(addresses):
            # Share the time, so that an API that hangs leaves some for the page itself.
            timeout_s = (deadline - self.clock.monotonic()) / (len(addresses) - index)
            try:
                result = await self._fetch_and_parse(request, address, known, timeout_s)
            except FetchError as error:
                failure = error
                continue
            if result is not None:
                return result
        raise failure

    async def _fetch_and_parse(
        self, request: SnippetRequest, address: str, known: PageRecord | None, timeout_s: float
    ) -> tuple[PageRecord, PageContent | None] | None:
        """The page as *address* has it, None if it has another; raises FetchError."""
        if known is not None and known.address != address:
            known = None
        validators = known.validators if known else Validators()
        page = await self._fetch(request, address, validators, max(timeout_s, 0.0))
        if not isinstance(page, Page):
            if known is None:
                host = host_of(request)
                raise FetchError("unasked-304", f"{host} sent 304 to a first request.")
            current = page.validators if page.validators != Validators() else validators
            return replace(known, fetched_at=self.clock.now(), validators=current), None
        if _is_front_page(page.url) and not _is_front_page(address):
            raise FetchError(
                "redirects",
                f"{host_of(request)} sends whoever asks for the page to its front page. Look where "
                "it has moved to and correct the source's url.",
            )
        parsed = await self._parse(request, page)
        return self._as_record(request, address, page, parsed) if parsed else None

    def _as_record(
        self, request: SnippetRequest, address: str, page: Page, read: ReadPage
    ) -> tuple[PageRecord, PageContent]:
        if not (read.lead or read.withdrawn):
            title = f" under {read.title[:80]!r}" if read.title else ""
            raise FetchError(
                "no-text",
                f"No paragraph was found on {host_of(request)}{title}; a selector may help.",
            )
        content = PageContent(read.title, read.passages)
        last = (self.clock.now() + timedelta(days=1)).date()
        record = PageRecord(
            text=read.lead or "",
            fetched_at=self.clock.now(),
            fingerprint=request.fingerprint,
            validators=page.validators,
            address=address,
            # A date in the future is a mistake; one day is allowed for time zones ahead of ours.
            updated=read.updated if read.updated and read.updated <= last else None,
            nations=read.nations,
            is_withdrawn=read.withdrawn,
            digest=hashlib.sha256(repr(read).encode()).hexdigest()[:16],
        )
        return record, content

    async def _fetch(
        self, request: SnippetRequest, address: str, validators: Validators, timeout_s: float
    ) -> Page | NotModified:
        try:
            return await self.fetcher.fetch(
                address,
                timeout_s=timeout_s,
                validators=validators,
                media="html" if address == request.source.url else "json",
            )
        except FetchError:
            raise
        except Exception as error:
            # A bug in the fetcher costs only this page, as an error of the page does.
            name = type(error).__name__
            raise FetchError(
                f"unexpected-{name}", f"{name} while fetching {host_of(request)}."
            ) from error

    async def _parse(self, request: SnippetRequest, page: Page) -> ReadPage | None:
        host = host_of(request)
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
                    regions=request.region_names,
                )
        except TimeoutError as error:
            raise FetchError(
                "slow-markup", f"The page on {host} takes too long to read."
            ) from error
        except Exception as error:
            raise FetchError("bad-markup", f"The page on {host} cannot be read.") from error


def read_body(
    url: str,
    body: bytes,
    content_type: str,
    *,
    charset: str = "",
    selector: str = "",
    max_words: int = MAX_WORDS,
    regions: RegionNames = (),
) -> ReadPage | None:
    """The page at *url* parsed from *body*, or None if *body* is about another page.

    *body* is the reply of GOV.UK's API, or the page itself; *content_type* tells which. Never
    raises. To add another publisher's API, tell its hosts apart here and in `content_api_urls`.
    """
    is_govuk = bool(content_api_urls(url))
    kind = content_type.partition(";")[0].strip().lower()
    if kind.endswith("json"):
        if not is_govuk:
            return None
        return parse_content_item(body, url, max_words=max_words, regions=regions)
    if kind == "application/xhtml+xml":
        body = xhtml_as_html(body)
    # GOV.UK puts a description above the text of its pages.
    return read_html(
        body,
        charset=charset,
        selector=selector,
        max_words=max_words,
        has_description=is_govuk,
        regions=regions,
    )


def _is_front_page(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.netloc) and parts.path in {"", "/"} and not parts.query


def host_of(request: SnippetRequest) -> str:
    """The host alone, for logs: a query string may be private."""
    return urlsplit(request.source.url).hostname or ""
