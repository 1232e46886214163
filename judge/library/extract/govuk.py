"""Reads GOV.UK pages from its Content API, which says more than their HTML.

The API (https://content-api.publishing.service.gov.uk) is open and needs no key. Its items differ
by document type; all fields with text are read, in the order in which the page shows them.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from html import escape
from itertools import filterfalse
from urllib.parse import unquote, urlsplit

from judge.errors import UnreadableDocument
from judge.library.extract.html_page import MAX_TITLE_WORDS, ReadPage
from judge.library.extract.lead_paragraph import is_boilerplate, is_prose
from judge.library.extract.markup import limit_markup, parse_markup
from judge.library.extract.page_blocks import PageBlocks, read_blocks
from judge.library.extract.page_passages import MAX_WORDS, clean_text, cut_text, read_passages
from judge.library.extract.page_status import RegionNames, nations_of, parse_date, regions_in

HOST = "www.gov.uk"

_WITHOUT_PARTS = ("government", "guidance", "hmrc-internal-manuals", "service-manual")
"""First path segments under which every page is an item of its own."""

_TEXT_KEYS = (
    *("introductory_paragraph", "introduction", "licence_overview", "body", "outcome_detail"),
    *("final_outcome_detail", "public_feedback_detail", "need_to_know", "more_information"),
    *("what_you_need_to_know", "other_ways_to_apply", "step_by_step_nav", "parts"),
    *("collection_groups", "groups"),
)
"""Keys of `details` with text, in the order in which pages show them."""


def content_api_urls(url: str) -> tuple[str, ...]:
    """The API URLs that may have the page at *url*, the likeliest first; none if off-site.

    A part of a guide has no item of its own: it is in the item of the whole guide.

    >>> content_api_urls("https://www.gov.uk/access-to-work/eligibility")[1]
    'https://www.gov.uk/api/content/access-to-work'
    """
    path = _path(url)
    if not path or path.startswith("/api/"):
        return ()
    whole, _, _ = path.rpartition("/")
    may_be_part = whole and path.split("/")[1] not in _WITHOUT_PARTS
    return tuple(
        f"https://{HOST}/api/content{at}" for at in ((path, whole) if may_be_part else (path,))
    )


def parse_content_item(
    body: bytes, url: str, *, max_words: int = MAX_WORDS, regions: RegionNames = ()
) -> ReadPage | None:
    """The page at *url* from the API's reply, None if the reply is not about it."""
    try:
        item = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(item, dict) or item.get("document_type", "redirect") == "redirect":
        return None
    part = _part(item, url)
    if part is None:
        return None
    facts = ReadPage(
        title=cut_text(clean_text(_text(item.get("title"))), MAX_TITLE_WORDS),
        updated=parse_date(_text(item.get("public_updated_at"))),
        nations=_nations(_mapping(item.get("details")), regions),
        withdrawn=bool(item.get("withdrawn_notice")) or item["document_type"] == "gone",
    )
    return facts if facts.withdrawn else _with_text(facts, item, part, max_words)


def _path(url: str) -> str:
    """The path of *url* without a trailing slash, or "" if it is not on GOV.UK."""
    try:
        parts = urlsplit(url)
        is_here = parts.scheme in {"https", "http"} and parts.hostname == HOST
    except ValueError:
        return ""
    return parts.path.rstrip("/") if is_here else ""


def _part(item: Mapping[str, object], url: str) -> str | None:
    """The slug of the part that *url* names, "" for the whole item, None if no part fits."""
    path, base = _path(url), _text(item.get("base_path"))
    slug = unquote(path.removeprefix(f"{base}/")) if base else path
    if not base or slug in {path, "print"}:
        return ""
    slugs = (part.get("slug") for part in _mappings(_mapping(item.get("details")).get("parts")))
    return slug if slug in slugs else None


def _with_text(facts: ReadPage, item: Mapping[str, object], part: str, max_words: int) -> ReadPage:
    """*facts* with the text of *item*, or of its *part* alone."""
    details = _mapping(item.get("details"))
    if part:
        chosen = [p for p in _mappings(details.get("parts")) if p.get("slug") == part]
        html = "".join(map(_html, chosen))
    else:
        html = "".join(f"<section>{_html(details.get(key))}</section>" for key in _TEXT_KEYS)
    page = _parse(html)
    passages = read_passages(page) or read_passages(page := _parse(_html(item.get("description"))))
    prose = (block.text for block in page.blocks if block.tag in {"p", "div"} and is_prose(block))
    lead = next(filterfalse(is_boilerplate, prose), passages[0].text if passages else "")
    return replace(facts, lead=cut_text(clean_text(lead), max_words) or None, passages=passages)


def _parse(html: str) -> PageBlocks:
    with suppress(UnreadableDocument):
        return read_blocks(parse_markup(limit_markup(html.encode("utf-8", "replace"))).body)
    return PageBlocks()


def _html(value: object, depth: int = 4) -> str:
    """The HTML in *value*: itself, or that in its fields or items; the title is a heading."""
    if isinstance(value, str):
        return value
    if depth == 0:
        return ""
    if isinstance(value, list):
        return "".join(_html(item, depth - 1) for item in value)
    fields = _mapping(value)
    if "content_type" in fields:
        is_html = fields["content_type"] == "text/html"
        return _html(fields.get("content"), depth - 1) if is_html else ""
    title = _text(fields.get("title")) or _text(fields.get("name"))
    texts = (_html(fields.get(key), depth - 1) for key in ("introduction", "body", "description"))
    return f"<section><h2>{escape(title)}</h2>{''.join(texts)}</section>"


def _nations(details: Mapping[str, object], names: RegionNames) -> tuple[str, ...]:
    """The regions that the item states, else those named under `need_to_know`."""
    stated = _mapping(details.get("national_applicability"))
    flags = ((name, _mapping(stated.get(name.replace("-", "_")))) for name in regions_in(names))
    if applies := tuple(name for name, flag in flags if flag.get("applicable") is True):
        return applies
    lines = _parse(_html(details.get("need_to_know"))).blocks
    return next(filter(None, (nations_of(line.text, names) for line in lines)), ())


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _mappings(value: object) -> Iterator[Mapping[str, object]]:
    return map(_mapping, value) if isinstance(value, list) else iter(())
