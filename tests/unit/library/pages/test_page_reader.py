"""A page is read from its publisher's API, or else from its HTML."""

import json
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from judge.errors import FetchError, UnreadableDocument
from judge.library.pages.page_reader import PageReader, read_body
from judge.library.pages.page_records import PageRecord, SnippetRequest
from judge.types.references import Media, Page, RetrievalSettings, SourceSpec
from judge.types.search import PdfText
from tests.fakes.clock import FakeClock
from tests.fakes.country import UK

PAGE = "https://www.gov.uk/tenant-repairs"
API = "https://www.gov.uk/api/content/tenant-repairs"
PART = "https://www.gov.uk/tenant-repairs/heating"
PART_API = "https://www.gov.uk/api/content/tenant-repairs/heating"
BODY = "Your landlord must repair the heating within a reasonable time of being told of it."
IN_HTML = "Your landlord has to mend the boiler, says the page as it is shown to people here."
HTML = f"<html><body><main><h1>Repairs</h1><p>{IN_HTML}</p></main></body></html>"
NO_TEXT = "No paragraph was found on advice.example; a selector may help."


def item(**changes: Any) -> Page:
    """An item of the Content API."""
    told = {
        "document_type": "answer",
        "base_path": "/tenant-repairs",
        "title": "Repairs",
        "public_updated_at": "2024-03-01T09:30:00Z",
        "details": {"body": f"<p>{BODY}</p>"},
    }
    return reply(json.dumps(told | changes).encode())


def reply(body: bytes) -> Page:
    return Page(API, body, "utf-8", "application/json; charset=utf-8")


class Site:
    """A fetcher of scripted pages that records its requests and timeouts."""

    def __init__(self, clock: FakeClock, pages: dict[str, Page | str]) -> None:
        self.clock = clock
        self.pages: dict[str, Page | str] = {
            PAGE: Page(PAGE, HTML.encode(), "utf-8"),
            PART: Page(PART, HTML.encode(), "utf-8"),
        } | pages
        self.calls: list[tuple[str, Media]] = []
        self.timeouts: list[float] = []

    async def fetch(self, url: str, *, timeout_s: float, media: Media) -> Page:
        self.calls.append((url, media))
        self.timeouts.append(timeout_s)
        found = self.pages.get(url, "status")
        if found == "timeout":
            self.clock.advance(timeout_s)
        if isinstance(found, str):
            raise FetchError(found, f"It is down ({found}).")
        return found


async def read(
    pages: dict[str, Page | str], url: str = PAGE, **settings: Any
) -> tuple[PageRecord, Site]:
    clock = FakeClock()
    site = Site(clock, pages)
    source, retrieval = SourceSpec(url, "Repairs"), RetrievalSettings(**settings)
    request = SnippetRequest("tenancy", source, retrieval, UK.region_names)
    return await PageReader(site, clock, read_body).read_page(request), site


@pytest.mark.parametrize(
    ("page", "reason", "message"),
    [
        ("status", "status", "It is down (status)."),
        (
            Page("", b"<p>Short.</p>", "utf-8"),
            "no-text",
            "No paragraph was found on advice.example; a selector may help.",
        ),
        (
            Page("", b"<h1>Repairs</h1><meta http-equiv=refresh content='0;url=/b'>", "utf-8"),
            "moved",
            (
                "The page on advice.example sends its readers elsewhere. Look where it has moved "
                "to and correct the source's url."
            ),
        ),
        (
            Page("", b"<h1>Page not found</h1><p>Sorry, there is no page of repairs here.</p>"),
            "wall-title",
            (
                "advice.example sent something that is not the page: it is titled as an error or "
                "a check of its visitors. Open the address in a browser; if it shows the page, "
                "correct the source's title and topics, else its url."
            ),
        ),
        (Page("", b"%PDF-1.7 <p>", "utf-8"), "no-text", NO_TEXT),
        (Page("", b"PK\x03\x04 <p>", "utf-8"), "no-text", NO_TEXT),
        (Page("", b"\r\n%PDF-1.7" + HTML.encode(), "utf-8"), "no-text", NO_TEXT),
        (Page("", b"GIF89a" + HTML.encode(), "utf-8"), "no-text", NO_TEXT),
        (Page("", b"\x89PNG\r\n\x1a\n\x01" + HTML.encode(), "utf-8"), "no-text", NO_TEXT),
        (Page("", b'{"page": "' + HTML.encode() + b'"}', "utf-8"), "no-text", NO_TEXT),
        (Page("", b"<p>\0" + b"a" * 99, "utf-8"), "no-text", NO_TEXT),
        (Page("", IN_HTML.encode(), "utf-8"), "no-text", NO_TEXT),
        (
            Page("", b"%PDF-1.7", content_type="application/pdf"),
            "content-type",
            "advice.example sent a PDF, which is not read.",
        ),
        (
            Page("https://www.advice.example/", HTML.encode(), "utf-8"),
            "redirects",
            (
                "advice.example sends whoever asks for the page to its front page or to one that "
                "says that it is gone. Look where it has moved to and correct the source's url."
            ),
        ),
        (
            replace(item(), url="x"),
            "no-text",
            "No paragraph was found on advice.example.",
        ),
    ],
)
async def test_unreadable_page_is_an_error_that_names_only_its_host(page, reason, message):
    url = "https://advice.example/repairs?name=private"
    with pytest.raises(FetchError) as caught:
        await read({url: page}, url)
    assert (caught.value.reason, str(caught.value)) == (reason, message)


async def test_govuk_page_is_read_only_from_the_api():
    record, site = await read({API: item()})
    assert (record.text, record.updated) == (BODY, date(2024, 3, 1))
    assert site.calls == [(API, "json")]


@pytest.mark.parametrize(
    "answer",
    [
        "status",
        "timeout",
        "connection",
        "content-type",
        reply(b"{"),
        reply(b'{"error": "not found"}'),
        item(details={}, description=""),
        item(
            document_type="redirect",
            redirects=[{"path": "/tenant-repairs", "destination": "/repairs"}],
        ),
    ],
)
async def test_html_is_read_if_the_api_lacks_the_page(answer: Page | str):
    record, site = await read({API: answer})
    assert record.text == IN_HTML
    assert site.calls == [(API, "json"), (PAGE, "page")]


@pytest.mark.parametrize(
    "changes",
    [
        {"document_type": "gone", "details": {}},
        {"withdrawn_notice": {"explanation": "<p>Out of date.</p>"}},
    ],
)
async def test_gone_or_withdrawn_page_has_no_text(changes: dict[str, Any]):
    record, site = await read({API: item(**changes)})
    assert (record.is_withdrawn, record.text) == (True, "")
    assert site.calls == [(API, "json")]


async def test_part_of_a_guide_is_read_from_the_item_of_the_guide():
    parts = [
        {"slug": "overview", "title": "Overview", "body": "<p>Another part of the same guide.</p>"},
        {"slug": "heating", "title": "Heating", "body": f"<p>{BODY}</p>"},
    ]
    whole = item(document_type="guide", details={"parts": parts})
    record, site = await read({API: whole}, PART)
    assert record.text == BODY
    assert [url for url, _ in site.calls] == [PART_API, API]


async def test_all_fetches_share_the_timeout_of_one():
    record, site = await read({PART_API: "timeout", API: "timeout"}, PART, fetch_timeout_s=6)
    assert record.text == IN_HTML
    assert site.timeouts == [2, 2, 2]
    assert site.clock.monotonic() - FakeClock().monotonic() == 4


@pytest.mark.parametrize(("days", "is_known"), [(1, True), (2, False)])
async def test_update_after_tomorrow_is_ignored(days: int, is_known: bool) -> None:
    day = (FakeClock().now() + timedelta(days=days)).date()
    record, _ = await read({API: item(public_updated_at=f"{day}T09:30:00Z")})
    assert record.updated == (day if is_known else None)


@pytest.mark.parametrize(
    "final",
    [
        *("/", "/home", "/en/", "/en-gb/index.html", "/index.php", "/Default.aspx", "/404.html"),
        *(
            "/error.aspx",
            "/a/page-not-found",
            "/errors/404",
            "/account/login?to=/repairs",
            "/hafan",
            "",
            *("/404/index.html", "/error-404", "/http_503.html", "/wp-login.php", "/lander"),
            *("/cgi-sys/suspendedpage.cgi", "/service-unavailable", "/Account/LogOn"),
            *("/holding-page.html", "/adfs/ls/", "/oauth2/v2.0/authorize"),
            *("/_layouts/15/AccessDenied.aspx", "/_layouts/15/Authenticate.aspx", "/geo-blocked"),
            *("/maintenance", "/cy/maintenance.html", "/index.cfm", "/site/search-results"),
        ),
    ],
)
async def test_redirect_to_a_front_or_error_page_is_refused(final: str) -> None:
    url = "https://advice.example/repairs"
    with pytest.raises(FetchError) as caught:
        await read({url: Page(f"https://advice.example{final}", HTML.encode(), "utf-8")}, url)
    assert caught.value.reason == "redirects"


@pytest.mark.parametrize(
    "final",
    [
        *("/housing/repairs", "/en/repairs", "/home/repairs", "/errors-in", "/500-new-homes"),
        *("/login-problems", "/holding-deposits", "/index.php/repairs", "/housing/maintenance"),
        *("/parking/challenge", "/health/consent", "/drives/blocked.html", "/visas/denied"),
    ],
)
async def test_redirect_to_another_page_is_followed(final: str) -> None:
    url = "https://advice.example/repairs"
    page = Page(f"https://advice.example{final}", HTML.encode(), "utf-8")
    assert (await read({url: page}, url))[0].text == IN_HTML


async def test_pdf_is_read_with_its_paragraphs_and_its_date() -> None:
    text = f"Repairs in a rented home\n\n{IN_HTML}\nA leak has to be\nmended as well, and soon.\n"
    clock, url = FakeClock(), "https://advice.example/repairs.pdf"
    site = Site(clock, {url: Page(url, b"%PDF-1.7", "", "application/pdf; qs=1")})
    reader = PageReader(
        site,
        clock,
        read_body,
        lambda _: PdfText((text,), "Repairs & more", updated=date(2025, 5, 1)),
    )
    request = SnippetRequest("tenancy", SourceSpec(url, "Repairs"), RetrievalSettings())
    record = await reader.read_page(request)
    assert (record.text, record.updated) == (IN_HTML, date(2025, 5, 1))
    assert record.title == "Repairs & more"
    assert "A leak has to be mended as well, and soon." in record.passages[-1].text


async def test_broken_pdf_is_an_error_that_says_so() -> None:
    def broken(_: bytes) -> PdfText:
        raise UnreadableDocument("It is encrypted.")

    clock = FakeClock()
    site = Site(clock, {PAGE: Page(PAGE, b"%PDF-1.7", content_type="application/pdf")})
    request = SnippetRequest("tenancy", SourceSpec(PAGE, "Repairs"), RetrievalSettings())
    with pytest.raises(FetchError, match="It is encrypted") as caught:
        await PageReader(site, clock, read_body, broken).read_page(request)
    assert caught.value.reason == "bad-pdf"


@pytest.mark.parametrize(
    ("url", "final"),
    [("https://advice.example", "https://advice.example/"), (PAGE, "https://a.example/?p=12")],
)
async def test_requested_front_page_is_read(url: str, final: str) -> None:
    record, _ = await read({url: Page(final, HTML.encode(), "utf-8")}, url)
    assert record.text == IN_HTML
