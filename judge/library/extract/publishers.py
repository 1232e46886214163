"""Chooses how a page is read: through its publisher's API if there is one, else as HTML.

To add a publisher's API, write a module with the two functions of `PublisherApi` and a line here.
"""

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from judge.library.extract import govuk
from judge.library.extract.html_page import ReadPage, read_html
from judge.library.extract.page_passages import MAX_WORDS
from judge.text.decoding import xhtml_as_html


class PublisherApi(NamedTuple):
    """How the pages of one host are read through its publisher's API."""

    addresses: Callable[[str], tuple[str, ...]]
    """Maps a page's URL to the API URLs that may have it, the likeliest first."""
    parse: Callable[..., ReadPage | None]
    """Parses a reply for a page's URL and `max_words`; None if it is about another page."""


_APIS = {govuk.HOST: PublisherApi(govuk.content_api_urls, govuk.parse_content_item)}


def api_addresses(url: str) -> tuple[str, ...]:
    """The API URLs to try before *url* itself."""
    api = _api(url)
    return api.addresses(url) if api else ()


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

    *body* is the reply of one of `api_addresses`, or the page itself; *content_type* tells which.
    Never raises.
    """
    api = _api(url)
    kind = content_type.partition(";")[0].strip().lower()
    if kind.endswith("json"):
        return api.parse(body, url, max_words=max_words) if api else None
    if kind == "application/xhtml+xml":
        body = xhtml_as_html(body)
    # GOV.UK, the one publisher with an API here, puts a description above the text of its pages.
    return read_html(
        body, charset=charset, selector=selector, max_words=max_words, has_description=bool(api)
    )


def _api(url: str) -> PublisherApi | None:
    try:
        return _APIS.get(urlsplit(url).hostname or "")
    except ValueError:
        return None
