"""Finds the publisher's date of a page: in `<meta>`, in JSON-LD, or in an "Updated" line."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from html import unescape
from itertools import islice

_MODIFIED = (
    *("govuk:public-updated-at", "article:modified_time", "datemodified", "dcterms.modified"),
    *("dc.date.modified", "dc.modified", "og:updated_time", "last-modified", "lastmod", "revised"),
)
_ISSUED = (
    *("article:published_time", "datepublished", "dcterms.issued", "dcterms.date", "dc.date"),
    *("dc.date.issued", "dcterms.created", "date", "pubdate", "publish-date"),
)
"""Names of `<meta>` elements, in lower case, the most reliable first."""

_JSON_LD = re.compile(rb"ld(?:\+|&#43;|&#x2B;)json[^<>]{0,200}>")
"""ASP.NET writes the plus sign as a character reference."""

_JSON_LD_DATE = re.compile(rb'"(dateModified|datePublished)"\s{0,9}:[\s\[]{0,9}"([^"]{4,60})"')
_MAX_SCRIPTS = 20
_MAX_SCRIPT_BYTES = 100_000

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_DAY = r"(?<!\d)(?P<day>\d{1,2})"
_NTH = rf"{_DAY}(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_GAP = r"(?:\s{1,3}|[-/])"
_DATES = (
    re.compile(rf"(?<!\d){_YEAR}(?P<gap>[-/.]?)(?P<month>\d\d?)(?P=gap)(?P<day>\d\d?)(?!\d)"),
    re.compile(rf"{_NTH}{_GAP}(?:of\s{{1,3}})?{_MONTH},?{_GAP}{_YEAR}", re.IGNORECASE),
    re.compile(rf"{_MONTH}\s{{1,3}}{_NTH},?\s{{1,3}}{_YEAR}", re.IGNORECASE),
    re.compile(rf"{_DAY}(?P<gap>[-/.])(?P<month>\d{{1,2}})(?P=gap){_YEAR}"),
)
"""ISO dates, dates with the day or the month first, and day/month/year in figures."""

_FIRST_YEAR, _LAST_YEAR = 1990, 2100
"""Years outside this range are not dates of web pages."""

_UPDATED, _PUBLISHED_ON = (
    re.compile(rb"(?<![a-z])(?:date)?(?:%b)(?![a-z])" % words)
    for words in (b"updated|last update|reviewed|modified|edited", b"published|posted")
)
"""Labels of a date, in lower case; "date" as in "dateModified"."""

_TAG = re.compile(r"<(?:time[^<>]{1,200}?datetime=[\"']?([^\"'<>]{4,40}))?[^<>]{0,300}>")
_DATE_REACH = 200
"""Bytes of markup after such a word in which its date is looked for."""

_DATE_WITHIN = 30
"""Characters of text after the word in which its date must be."""

_PAGE_NOUNS = frozenset(
    b"page guide guidance content document information article advice publication site".split()
)
"""What a page calls itself: if anything else was updated, the sentence is content."""

_MAX_LABELS = 30


def parse_date(text: str) -> date | None:
    """The first date in *text*, in ISO form or with the name of its month, or None.

    >>> parse_date("3rd May 2024"), parse_date("2024-05-03T01:02:03Z"), parse_date("2024-13-01")
    (datetime.date(2024, 5, 3), datetime.date(2024, 5, 3), None)
    """
    for pattern in _DATES:
        if match := pattern.search(text[:100]):
            return _date(match["year"], match["month"], match["day"])
    return None


def find_updated(metas: Mapping[str, str], markup: bytes, limited: bytes) -> date | None:
    """The date a page was last modified, else published, or None.

    *metas* are its `<meta>` contents by name, *markup* is the page as sent, *limited* the markup
    without scripts.
    """
    if day := _first_date(map(metas.get, _MODIFIED)):
        return day
    scripts = list(_json_ld_dates(markup))
    return (
        _first_date(text for key, text in scripts if key == "dateModified")
        or _line_date(_UPDATED, limited)
        or _first_date(map(metas.get, _ISSUED))
        or _first_date(text for key, text in scripts if key == "datePublished")
        or _line_date(_PUBLISHED_ON, limited)
    )


def _json_ld_dates(markup: bytes) -> Iterator[tuple[str, str]]:
    for script in islice(_JSON_LD.finditer(markup), _MAX_SCRIPTS):
        end = markup.find(b"</script", script.end(), script.end() + _MAX_SCRIPT_BYTES)
        for match in _JSON_LD_DATE.finditer(markup, script.end(), max(end, script.end())):
            yield match[1].decode(), match[2].decode("utf-8", "replace")


def _first_date(texts: Iterable[str | None]) -> date | None:
    return next((day for text in texts if text and (day := parse_date(text))), None)


def _line_date(label: re.Pattern[bytes], limited: bytes) -> date | None:
    """The first date that directly follows a *label* which is not part of a sentence."""
    lowered = limited.lower()
    for found in islice(label.finditer(lowered), _MAX_LABELS):
        start, end = found.span()
        after = lowered[end : end + _DATE_REACH].decode("utf-8", "replace")
        text = " ".join(unescape(_TAG.sub(r" \1 ", after)).split())[:_DATE_WITHIN]
        day = parse_date(text)
        if day and not _is_in_sentence(lowered[max(0, start - 40) : start].split()):
            return day
    return None


def _is_in_sentence(before: list[bytes]) -> bool:
    """Tell from the words *before* a label whether it is about a plan, or not about the page."""
    before = before[:-1] if before[-1:] == [b"last"] else before
    verb = b"".join(before[-1:])
    verbs = 2 if verb == b"been" else 1 if verb in {b"was", b"were"} else 0
    is_of_page = not _PAGE_NOUNS.isdisjoint(before[-verbs - 1 : -verbs])
    return verb == b"be" or (verbs > 0 and not is_of_page)


def _date(year: str, month: str, day: str) -> date | None:
    # Case-folded, since the patterns take a long s (ſ) for an s.
    number = int(month) if month.isdecimal() else _MONTHS.index(month[:3].casefold()) + 1
    try:
        parsed = date(int(year), number, int(day))
    except ValueError:
        return None
    return parsed if _FIRST_YEAR <= parsed.year <= _LAST_YEAR else None
