"""Fetches one page, from its publisher's API, as HTML or as PDF, and parses it.

Parsing runs in a thread, which is abandoned when markup takes too long; a PDF is read in a process
of its own. What is not the page that was meant (`walls`) is a failed fetch.
"""

import asyncio
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from html import escape
from urllib.parse import urlsplit

from judge.errors import FetchError, UnreadableDocument
from judge.library.extract.govuk import content_api_urls, parse_content_item
from judge.library.extract.html_page import ReadPage, read_html
from judge.library.pages.page_records import (
    PARSE_TIMEOUT_S,
    PDF_TIMEOUT_S,
    PageRecord,
    SnippetRequest,
)
from judge.library.pages.walls import wall_error, wall_sign
from judge.ports import Clock, PageFetcher, PdfReader
from judge.text.decoding import xhtml_as_html
from judge.types.references import Media, Page

Read = Callable[[SnippetRequest, Page], ReadPage | None]
"""What a fetched page says; None if it is about another one."""


@dataclass(frozen=True, slots=True)
class PageReader:
    """Fetches a page and parses it with *read*, which is `read_body` except in tests."""

    fetcher: PageFetcher
    clock: Clock
    read: Read
    read_pdf: PdfReader | None = None
    """Reads a page that is a PDF; without it no such page can be read."""

    async def read_page(
        self, request: SnippetRequest, last: PageRecord | None = None
    ) -> PageRecord:
        """The page as it is now; *last* is its last good text, with which the new one is compared.

        The URLs of a publisher's API come first, the page itself last; together they share one
        fetch timeout. Raises FetchError.
        """
        addresses = (*content_api_urls(request.source.url), request.source.url)
        deadline = self.clock.monotonic() + request.settings.fetch_timeout_s
        failure = FetchError("no-text", f"No paragraph was found on {host_of(request)}.")
        for index, address in enumerate(addresses):
            # Share the time, so that an API that hangs leaves some for the page itself.
            timeout_s = (deadline - self.clock.monotonic()) / (len(addresses) - index)
            try:
                page = await self._fetch(request, address, max(timeout_s, 0.0))
                if read := await self._parse(request, page, last):
                    return self._as_record(request, read)
            except FetchError as error:
                failure = error
        raise failure

    async def _fetch(self, request: SnippetRequest, address: str, timeout_s: float) -> Page:
        media: Media = "page" if address == request.source.url else "json"
        page = await self.fetcher.fetch(address, timeout_s=timeout_s, media=media)
        if leads_nowhere(page.url) and not leads_nowhere(address):
            raise FetchError(
                "redirects",
                f"{host_of(request)} sends whoever asks for the page to its front page or to "
                "one that says that it is gone. Look where it has moved to and correct the "
                "source's url.",
            )
        return page

    async def _parse(
        self, request: SnippetRequest, page: Page, last: PageRecord | None
    ) -> ReadPage | None:
        """What *page* says, None if it is about another page; raises FetchError."""
        is_pdf = page.content_type.lower().startswith("application/pdf")
        try:
            async with asyncio.timeout(PDF_TIMEOUT_S if is_pdf else PARSE_TIMEOUT_S):
                return await asyncio.to_thread(self._parse_now, request, page, last, is_pdf=is_pdf)
        except TimeoutError as error:
            raise FetchError(
                "slow-markup", f"The page on {host_of(request)} takes too long to read."
            ) from error

    def _parse_now(
        self, request: SnippetRequest, page: Page, last: PageRecord | None, *, is_pdf: bool
    ) -> ReadPage | None:
        updated = None
        if is_pdf:
            body, updated = self._pdf_as_html(request, page.body)
            page = replace(page, body=body, content_type="text/html", charset="")
        read = self.read(request, page)
        is_told = read and (read.lead or read.withdrawn)
        if read and is_told and (sign := wall_sign(request.source, read, last)):
            raise wall_error(sign, host_of(request))
        return replace(read, updated=updated) if read and updated else read

    def _pdf_as_html(self, request: SnippetRequest, body: bytes) -> tuple[bytes, date | None]:
        """A PDF as HTML with a `<p>` for each paragraph, and its date; raises FetchError."""
        if self.read_pdf is None:
            raise FetchError("content-type", f"{host_of(request)} sent a PDF, which is not read.")
        try:
            pdf = self.read_pdf(body)
        except UnreadableDocument as error:
            raise FetchError("bad-pdf", f"The PDF on {host_of(request)}: {error}", 200) from error
        paragraphs = (escape(p) for page in pdf.pages for p in _LINE_END.split(page) if p.strip())
        html = f"<meta charset=utf-8><h1>{escape(pdf.title or '')}</h1><p>{'<p>'.join(paragraphs)}"
        return html.encode(), pdf.updated

    def _as_record(self, request: SnippetRequest, read: ReadPage) -> PageRecord:
        if read.has_moved:
            raise FetchError(
                "moved",
                f"The page on {host_of(request)} sends its readers elsewhere. Look where it has "
                "moved to and correct the source's url.",
                200,
            )
        if not (read.lead or read.withdrawn):
            title = f" under {read.title[:80]!r}" if read.title else ""
            raise FetchError(
                "no-text",
                f"No paragraph was found on {host_of(request)}{title}; a selector may help.",
                200,
            )
        now = self.clock.now()
        # A date in the future is a mistake; one day is allowed for time zones ahead of ours.
        is_past = read.updated and read.updated <= (now + timedelta(days=1)).date()
        return PageRecord(
            text=read.lead or "",
            fetched_at=now,
            title=read.title,
            passages=read.passages,
            updated=read.updated if is_past else None,
            nations=read.nations,
            is_withdrawn=read.withdrawn,
            digest=hashlib.sha256(repr(read).encode()).hexdigest()[:16],
        )


def read_body(request: SnippetRequest, page: Page) -> ReadPage | None:
    """*page* as HTML or of GOV.UK's API, None if it is about another page. Never raises."""
    url, body, max_words = request.source.url, page.body, request.settings.max_words
    is_govuk = bool(content_api_urls(url))
    kind = page.content_type.partition(";")[0].strip().lower()
    if kind.endswith("json"):
        if not is_govuk:
            return None
        return parse_content_item(body, url, max_words=max_words, regions=request.region_names)
    if not is_markup(body, page.charset):
        return ReadPage()
    if kind == "application/xhtml+xml":
        body = xhtml_as_html(body)
    # GOV.UK puts a description above the text of its pages.
    return read_html(
        body,
        charset=page.charset,
        selector=request.source.selector,
        max_words=max_words,
        has_description=is_govuk,
        regions=request.region_names,
    )


def host_of(request: SnippetRequest) -> str:
    """The host alone, for logs: a query string may be private."""
    return urlsplit(request.source.url).hostname or ""


def path_of(request: SnippetRequest) -> str:
    """The path alone, for logs."""
    return urlsplit(request.source.url).path or "/"


_FRONT = re.compile(
    r"(?:/(?:home(?:page)?|index|default|start|main|welcome|hafan|[a-z]{2}(?:[-_][a-z]{2})?))*"
    r"(?:\.(?:html?|aspx?|php|jsp|cfm))?/?",
    re.IGNORECASE,
)
_NOT_THERE = re.compile(
    r"(?:.*/(?:40[34][\w-]*|(?:(?:http|error)[-_])?(?:40[34]|410|50\d)|(?:page[-_]?)?not[-_]?found"
    r"|error(?:s|[-_]?page|404)?|oops|(?:\w+[-_])?unavailable|(?:wp-)?log[-_]?[io]n|sign[-_]?in|sso"
    r"|authori[sz]e|authenticate|adfs/ls|captcha|cookies?[-_](?:wall|consent)|age[-_]?(?:gate|check)"
    r"|(?:access|geo|ip)[-_]?(?:denied|blocked)|lander|session[-_]?(?:expired|timeout)|sitemap"
    r"|search(?:[-_]?results?)?|(?:suspended|defaultweb)page|holding[-_]page)"
    # Deeper down these may be subjects, as in /housing/maintenance.
    r"|(?:/[a-z]{2})?/(?:sorry|gone|maintenance|offline|subscribe|challenge|verify|blocked|denied"
    r"|consent|queue))(?:/index)?(?:\.[a-z]{3,5})?/?",
    re.IGNORECASE,
)


def leads_nowhere(url: str) -> bool:
    """Whether *url* is by its path a front page, or one about errors or signing in."""
    parts = urlsplit(url)
    is_front = parts.netloc and not parts.query and _FRONT.fullmatch(parts.path)
    return bool(is_front or _NOT_THERE.fullmatch(parts.path))


_MARKUP = re.compile(rb"<[a-zA-Z!/?]")
_OTHER = re.compile(
    rb"\s*(?:%PDF-|PK[\3\5\7]|GIF8|\xff\xd8\xff|7z\xbc|\{\\rtf|[{\[]\s*[{\[\"])"
    rb"|[^\0-\x08\x0e-\x1a\x1c-\x1f]*[\0-\x08\x0e-\x1a\x1c-\x1f]"
)
"""The beginning of another format, or what no text holds."""


def is_markup(body: bytes, charset: str = "") -> bool:
    """Whether *body* can be HTML: some tag in it, and not the bytes of another format."""
    begins = body[:1024]
    if begins.startswith((b"\xff\xfe", b"\xfe\xff")) or charset.startswith("utf-16"):
        return True
    return not _OTHER.match(begins) and _MARKUP.search(body) is not None


_LINE_END = re.compile(r"(?<=[.!?:])\s*\n|\n\s*\n")
"""Where a paragraph of a PDF may end: after a sentence that ends its line, or at an empty line."""
