"""Reads the notes of a page about itself: its regions, its date, and whether it is withdrawn.

Notes on regions and withdrawal come before the text or right under the title. The same words
further down are prose: an article about withdrawn guidance is not withdrawn.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from html import unescape
from itertools import islice, takewhile

from judge.library.extract.lead_paragraph import Content
from judge.library.extract.page_blocks import HEADING_TAGS, PageBlock

RegionNames = tuple[tuple[str, tuple[str, ...]], ...]
"""What pages call the regions of a country, with the regions that each name means, those first."""

_PAGE = (
    r"(?:(?:web)?page|guidance|guide|publication|document|content|information|advice|policy|"
    r"policy paper|leaflet|fact ?sheet|consultation|article|story|press release|speech|statement|"
    r"form|standard|circular|notice|collection|report|code of practice|transcript|case study|"
    r"manual|service|(?:web)?site|version)"
)
_SUBJECT = (
    rf"(?:the law [io]n )?(?:(?:this|the|our) (?:[\w-]+ )??)?{_PAGE}(?: (?:on|in) this {_PAGE})?"
)
_APPLIES_TO = (
    r"(?:(?:is )?(?:applies|apply|relates?|relevant|available)(?: only)?"
    r"(?: to| in| for| across| if you live in)?|is (?:only |correct )?for|covers"
    r"|(?:covers|explains|sets out|is about|tells you about|relates to) (?:the|[a-z]+) law in"
    r"|jurisdiction:|coverage:|(?:geographical )?extent:|country:|nations?:)"
    r"(?: [a-z]+)??(?: living| who (?:live|rent|work))?(?: in)?:?"
)
_LABEL = re.compile(rf"(?:{_SUBJECT} |this )?applies (?:to|in):?$")
"""A label whose places follow on the next lines."""


@functools.lru_cache(maxsize=8)
def _patterns(names: RegionNames) -> tuple[re.Pattern[str], ...]:
    """Patterns of lines that say where a page applies, where not, of places alone, of one."""
    place_name = rf"(?:{'|'.join(re.escape(name) for name, _ in names)})\b"
    place = rf"(?:(?:all of |the whole of )?the )?{place_name}(?!['\u2019])"
    listed = rf"(?P<places>{place}(?:(?:(?:,? and|,? or|,| &|/) ?|\u2013){place})*+)"
    return (
        re.compile(  # after a bracket come links for other regions
            rf"(?:{_SUBJECT} (?:only )?|this |it )?{_APPLIES_TO} ?"
            rf"(?:only )?{listed}(?=\W*$|\W*[.;:(\u2013]|,| only| but| and not| -| see\b)"
            rf"|(?:for )?{listed.replace('places', 'alone')} only\W*$"
        ),
        re.compile(
            rf"(?:{_SUBJECT} |this |it )?do(?:es)?(?: not|n['\u2019]t) apply (?:to|in) {listed}\W*$"
        ),
        re.compile(rf"{listed}\W*$"),
        re.compile(rf"\b{place_name}"),
    )


_OUT_OF_DATE = (
    r"(?:out of date|obsolete|discontinued|not being (?:updated|maintained)|no longer (?:active"
    r"|current|up to date|(?:being )?(?:updated|maintained)|(?:available|in force|in use|valid|"
    r"applicable)(?! (?:by|for|in|to|as an?|online)\b)))(?! (?:after|if|once|unless|until|when)\b)"
)
"""The lookaheads exclude what is true later or elsewhere: "not valid after ..."."""

_GONE = rf"(?:withdrawn|archived|superseded|re(?:placed|scinded|voked|pealed|tired)|{_OUT_OF_DATE})"
_IS_NOW = (
    r"(?:was|is|has(?: now)? been|have been)(?: now| updated and| last updated [\w ]+ and is)?"
)
_WITHDRAWN = re.compile(
    r"\W*(?:(?:warning|important|notice|(?:please )?note(?: that)?|withdrawn|archived(?: content)?)"
    r"\W+)?"
    rf"(?:(?:(?:the )?{_PAGE} (?:on|in) )?this (?:[\w-]+ ){{0,3}}?{_PAGE}(?: to parliament)? "
    rf"(?:(?:{_IS_NOW}) {_GONE}|(?:has )?(?:expired(?! if)|ceased to (?:apply|have effect))"
    r"|no longer applies)\b"
    r"|we (?:(?:have (?:now )?)?(?:withdrew|withdrawn|archived)|(?:are )?no longer updat(?:ing|e)) "
    rf"this {_PAGE}\b|(?:this is|you(?: a|')re viewing)(?: an?)? (?:(?:archived|outdated) "
    rf"(?:[\w-]+ )?{_PAGE}|old(?:er)? version|historical (?:material|content))\b)"
)
_WITHDRAWN_HEADING = re.compile(
    r"this (?:(?!if|that|what|when|whose)[\w-]+ ){1,8}(?:was|has been) (?:withdrawn|archived)\b"
)
"""A heading may call the page anything: "This parking scheme was withdrawn on ..."."""

_WITHDRAWN_TITLE = re.compile(
    r"[\[(]?(?:withdrawn|archived(?: content)?|superseded)(?:[\])]|\s?[:\u2013-]\s)"
)
_WITHDRAWN_TAG = re.compile(
    rf"\W*(?:status: )?(?:withdrawn|archived|superseded|repealed|outdated)(?: {_PAGE})?"
    r"(?:\W*$|:| by\b| (?:on )?\d)"
)

_TAG_REACH = 3
"""Blocks between the title and a tag such as "Withdrawn"."""

_MAX_NOTE_CHARACTERS = 300
"""Characters of a note; a longer block is prose."""

_MAX_BLOCKS_BEFORE = 60
"""Blocks before the text in which notes are looked for."""


def read_nations(content: Content, names: RegionNames) -> tuple[str, ...]:
    """The regions that the page says it applies to, in the order of *names*; often none."""
    if not names:
        return ()
    lines = [_folded(block.text) for block in _around_title(content)]
    _, _, alone, _ = _patterns(names)
    for at, line in enumerate(lines, 1):
        whole = line
        if _LABEL.match(line):
            places = [*lines[at : at + 1], *takewhile(alone.match, lines[at + 1 :])]
            whole = f"applies to {' and '.join(places)}"
        if nations := nations_of(whole, names):
            return nations
    return ()


def regions_in(names: RegionNames) -> tuple[str, ...]:
    """All regions that *names* mean, in their order."""
    return tuple(dict.fromkeys(region for _, several in names for region in several))


def nations_of(line: str, names: RegionNames) -> tuple[str, ...]:
    """The regions in a *line* such as "Applies to NORTH and SOUTH (see ...)", or none."""
    if not names:
        return ()
    line, means = " ".join(line.lower().split()), dict(names)
    here, elsewhere, _, place_name = _patterns(names)
    applies = here.match(line)
    match = applies or elsewhere.match(line)
    if match is None:
        return ()
    places = match["places"] or match["alone"]
    named = {region for name in place_name.findall(places) for region in means[name]}
    return tuple(region for region in regions_in(names) if (region in named) == bool(applies))


def is_withdrawn(content: Content, head_title: str) -> bool:
    """Whether the title or a note near it says that the page is withdrawn."""
    is_titled = _WITHDRAWN_TITLE.match(head_title.lower()) is not None
    return is_titled or any(_says_withdrawn(content, note) for note in _around_title(content))


def _says_withdrawn(content: Content, block: PageBlock) -> bool:
    line, distance = _folded(block.text), block.order - content.title
    if content.heading and distance == 0:
        return _WITHDRAWN_TITLE.match(line) is not None
    if content.heading and abs(distance) <= _TAG_REACH and _WITHDRAWN_TAG.match(line):
        return True
    if block.tag in HEADING_TAGS:
        return bool(_WITHDRAWN_HEADING.match(line) or _WITHDRAWN.match(line))
    # Where prose precedes it in the same element, it is a paragraph of the text.
    parents = content.page.parents
    before = (b for b in content.prose if content.title < b.order < block.order)
    is_in_text = any(parents[b.element] == parents[block.element] for b in before)
    return _WITHDRAWN.match(line) is not None and not is_in_text


def _around_title(content: Content) -> Iterator[PageBlock]:
    """The blocks short enough for a note, down to the second paragraph after the title."""
    after = [block.order for block in content.prose if block.order > content.title]
    last = after[1] if len(after) > 1 else len(content.page.blocks)
    blocks: Sequence[PageBlock] = content.page.blocks[max(0, last - _MAX_BLOCKS_BEFORE) : last + 1]
    return (block for block in blocks if len(block.text) <= _MAX_NOTE_CHARACTERS)


def _folded(text: str) -> str:
    return text.lower().replace("\u2019", "'")


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
    re.compile(rf"(?<!\d)(?P<month>\d\d?)/{_DAY}/{_YEAR}"),
)
"""ISO dates, dates with the day or the month first, and in figures the day first if it can be."""

_FIRST_YEAR, _LAST_YEAR = 1990, 2100
"""Years outside this range are not dates of web pages."""

_UPDATED, _PUBLISHED_ON = (
    re.compile(rb"(?<![a-z])(?:date)?(?:%b)(?![a-z])" % words)
    for words in (
        b"updated|reviewed|modified|edited|revised|last (?:update|review|checked|changed|verified)",
        b"published|posted",
    )
)
"""Labels of a date, in lower case; "date" as in "dateModified"."""

_TAG = re.compile(r"<(?:time[^<>]{1,200}?datetime=[\"']?([^\"'<>]{4,40}))?[^<>]{0,300}>")
_DATE_REACH = 200
"""Bytes of markup after such a word in which its date is looked for."""

_DATE_WITHIN = 45
"""Characters of text after the word in which its date must be."""

_OF_PAGE = re.compile(
    rb"<[^<>]*$|\b(?:Last|Date) ?$"
    rb"|(?:^|[^\w\s,'-]|\b(?:19|20)\d\d\b|\bby\b.{0,60})(?i:[\s,'-]*(?:the|this|our|page|guide|"
    rb"guidance|content|document|information|article|advice|publication|leaflet|site|legally|"
    rb"medically|fact|date|was|is|has|have|been|last|first|most|recently|and|or|published|posted|"
    rb"updated|reviewed|on)\b)*[\s,'-]*$"
)
"""What stands before a label of the page itself: such words alone since a tag, a stop or a year."""

_MAX_LABELS = 30


def parse_date(text: str) -> date | None:
    """The first date in *text*, in ISO form or with the name of its month, or None.

    >>> parse_date("3rd May 2024"), parse_date("2024-05-03T01:02:03Z"), parse_date("2024-13-01")
    (datetime.date(2024, 5, 3), datetime.date(2024, 5, 3), None)
    """
    for pattern in _DATES:
        match = pattern.search(text[:100])
        if match and (day := _date(match["year"], match["month"], match["day"])):
            return day
    return None


def find_updated(metas: Mapping[str, str], markup: bytes, limited: bytes) -> date | None:
    """The date a page was last modified, else published; *limited* is without scripts."""
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
        before = b" ".join(limited[max(0, start - 80) : start + 1].split())
        if (day := parse_date(text)) and (before[-1:].isupper() or _OF_PAGE.search(before[:-1])):
            return day
    return None


def _date(year: str, month: str, day: str) -> date | None:
    # Case-folded, since the patterns take a long s (ſ) for an s.
    number = int(month) if month.isdecimal() else _MONTHS.index(month[:3].casefold()) + 1
    try:
        parsed = date(int(year), number, int(day))
    except ValueError:
        return None
    return parsed if _FIRST_YEAR <= parsed.year <= _LAST_YEAR else None
