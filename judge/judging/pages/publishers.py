"""Reads a page: GOV.UK's from its Content API if it replied, every other as HTML."""

from judge.judging.pages.govuk import is_on_govuk, parse_content_item
from judge.judging.pages.passages import MAX_WORDS
from judge.judging.pages.read import ReadPage, read_html
from judge.text.decoding import xhtml_as_html


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

    *body* is the reply of one of its `content_api_urls`, or the page itself; *content_type* tells
    which. Never raises.
    """
    is_govuk = is_on_govuk(url)
    kind = content_type.partition(";")[0].strip().lower()
    if kind.endswith("json"):
        return parse_content_item(body, url, max_words=max_words) if is_govuk else None
    if kind == "application/xhtml+xml":
        body = xhtml_as_html(body)
    # GOV.UK puts a description above the text of its pages.
    return read_html(
        body, charset=charset, selector=selector, max_words=max_words, has_description=is_govuk
    )
