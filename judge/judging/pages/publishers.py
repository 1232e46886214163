"""Which reader a page's publisher needs: its API's where it has one, else that of HTML.

Another publisher's API is one module with the two functions of `PublisherApi`, and a line here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from judge.judging.pages import govuk
from judge.judging.pages.passages import MAX_WORDS
from judge.judging.pages.read import ReadPage, read_html


class ParseReply(Protocol):
    """Turns the reply of an API into a page."""

    def __call__(self, body: bytes, url: str, *, max_words: int = ...) -> ReadPage | None:
        """Return the page at *url*, or None when the reply in *body* isn't about it."""
        ...


@dataclass(frozen=True, slots=True)
class PublisherApi:
    """How the pages of one host are read through its publisher's API."""

    addresses: Callable[[str], tuple[str, ...]]
    """Returns where the API may have the page at an address, the likeliest first."""
    parse: ParseReply
    has_description: bool = False
    """Whether the lead of its HTML pages only describes them."""


_APIS = {
    govuk.HOST: PublisherApi(
        govuk.content_api_urls, govuk.parse_content_item, has_description=True
    ),
}


def api_addresses(url: str) -> tuple[str, ...]:
    """Return the addresses to ask before *url* itself, which is asked when none has the page."""
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
    """Return the page at *url* from what was fetched for it, or None when it isn't there.

    *body* is the reply of one of `api_addresses`, or the page itself, told by *content_type*.
    Never raises.
    """
    api = _api(url)
    if content_type.partition(";")[0].strip().lower().endswith("json"):
        return api.parse(body, url, max_words=max_words) if api else None
    has_description = api is not None and api.has_description
    return read_html(
        body,
        charset=charset,
        selector=selector,
        max_words=max_words,
        has_description=has_description,
    )


def _api(url: str) -> PublisherApi | None:
    try:
        return _APIS.get(urlsplit(url).hostname or "")
    except ValueError:
        return None
