"""Tells a page from what a server sends in its place with status 200: a wall.

Their kinds do not end, so a page is compared with its configured title and topics and its last good
text. How walls speak counts only for short pages off their subject: guidance speaks of cookies too.
"""

import re
from collections.abc import Iterable
from functools import cache

from judge.errors import FetchError
from judge.library.extract.html_page import ReadPage
from judge.library.pages.page_records import PageRecord
from judge.text.data import package_data
from judge.text.english import content_stems
from judge.types.references import SourceSpec

SHORT_WORDS = 160
"""Words of text; walls have up to 120, and of 298 real pages one in twenty has fewer."""

SHRUNK_SHARE = 0.1
"""Of the words of the last good text; less is a remnant of the page."""

ENOUGH_WORDS = 20
"""Words of text; with fewer, a page may share none with its title and topics by chance."""

KNOWN_SHARE = 0.25
"""Share of a page's stems that its last good text must have, unless it is on its subject and has
few signs; twice that without a word of its subject. Two unrelated pages share about a tenth."""

ON_SUBJECT = 0.5
"""Share of the stems of title and topics that makes a text one about its subject."""

MIN_SIGNS = 2
"""Different phrases of the list below, one of them in the lead, that make a short page, off its
subject, a wall. It takes one more, or two in more than a note, for each word of title and topics in
its text, and one for every 25 words."""

MANY_SIGNS = 5
"""So many do for a short page whose lead does not touch on its subject, whatever follows."""

NOTE_WORDS = 60
"""Words of a page that only says that it has moved; one sign is enough then."""

_MOVED = re.compile(
    r"\b(?:page|content|information|advice|guid(?:e|ance)|article|document|(?:web)?site|section)s?\b"
    r"[^.]{0,60}\b(?:(?:has|have) (?:now )?(?:been )?"
    r"(?:moved|merged|relocated|a new (?:address|home|page))|can now be (?:found|read)"
    r"|(?:is|are) now (?:part of|published by|on (?:our|the) new))|\bupdate your (?:book|favou?r)"
    r"|\bnew (?:home|place|address) (?:for|of) (?:our|this|the) (?:page|advice|guid|information)"
    r"|\bmerged (?:it|this)\b|\bnow (?:find|read) (?:it|this)\b|\b(?:continue|go) to that page\b"
    r"|\byou (?:are|will be) (?:being )?(?:redirected|taken there|taken to (?:the|our|its) new)"
    r"|\bnot (?:taken|redirected|sent)\b[^.]{0,40}\bautomatically|\b[dt]udalen \w+ wedi symud"
    r"|\baddress of [^.]{0,30}\bhas changed\b|\bbellach ar (?:dud|wef|ein)|\bdolen hon\b"
)

_NO_SUBJECT = re.compile(r" \([^()]+\)$|\b(?:back|online)\b", re.IGNORECASE)
"""The publisher, who ends the titles of sources and is on every page, and what walls say too."""

_SITE = r"\s[|\u2013\u2014\u00b7\u00bb:-]\s"
_CANNOT = (
    r"(?:(?:can(?:no|')t|could(?: not|n't)) be found|(?:was|is) not found|not found"
    r"|(?:is(?: not|n't)|is no longer) (?:here|there|available)(?: any ?more| now)?)"
)
_WALL_TITLE = re.compile(
    rf"(?!\W*(?:{_SITE}|$))\W*(?:(?:sorry|oops|hmm)\W+)?(?:(?:http|error|status|40\d|410|429|5\d\d|10\d\d)"
    rf"\b\W*)*(?:(?:(?:the |this |that )?page )?(?:you (?:requested|are looking for) )?{_CANNOT}"
    r"|we (?:can(?:no|')t|could(?: not|n't)) find (?:the|this|that|your) page[\w ]{0,30}"
    r"|(?:page|service|site) (?:temporarily )?unavailable|access denied|forbidden|bad gateway"
    r"|(?:internal )?server error|there is a problem with (?:the|this) service|too many requests"
    r"|something went wrong|(?:just )?(?:a|one) moment(?: please)?|please wait|attention required!?"
    r"|(?:are you|verify (?:that )?you are) (?:a )?(?:human|robot)\??|security check|pardon our .*"
    r"|(?:log|sign)(?:ed)? ?(?:in|out)|(?:log|sign) in to .*|session (?:has )?(?:expired|timed out)"
    r"|(?:site |under |scheduled )maintenance|error establishing a database connection"
    r"|welcome to (?:nginx|apache|iis|centos|plesk|caddy)!?|(?:apache2 .*|iis windows.*)"
    r"|account suspended|this domain is for sale|before you continue|moved permanently"
    r"|we(?:'ll| will) be (?:right )?back(?: soon| shortly| online)?|be right back|coming soon"
    r"|(?:(?:web )?page|site|access) (?:is |was )?blocked|index of /.*|invalid url|mewngofnodi"
    r"|search(?: results)?|object moved|redirecting\W*|under construction|human verification"
    r"|tudalen heb ei chanfod|heb ganfod y dudalen|nid yw'r dudalen .*ar gael|gwall(?: 404)?)?"
    rf"\W*(?:{_SITE}.*)?"
)
"""The title of such a page in lower case, with or without the name of its site; matching takes
quadratic time, so long titles are not tried."""

WALL_SIGNS = {
    "title": "is titled as an error or a check of its visitors",
    "unlike": "shares no word with the title and topics of the source",
    "visit": "speaks of the visit, or of a new address, and hardly of its subject",
    "shrunk": "has shrunk to less than a tenth",
    "changed": "shares hardly a word with what stood there before",
    "twin": "says the same as another address of its host",
}
"""What each sign says of the page."""


def wall_sign(source: SourceSpec, page: ReadPage, last: PageRecord | None) -> str:
    """By which sign *page* is not what *source* should be, or its *last* good text was; else ""."""
    titles = [title.casefold().replace("\u2019", "'") for title in (page.title, page.head_title)]
    if any(_is_wall_title(title, source) for title in titles):
        return "title"
    texts = [passage.text for passage in page.passages] or [page.lead or ""]
    body, headings = _stems(texts), _stems([*titles, *(p.heading for p in page.passages)])
    length, signs = _length(texts), len(visit_signs([*titles, *texts]))
    subject = _stems([_NO_SUBJECT.sub("", source.title), *source.topics])
    shared = subject & body
    if page.withdrawn:  # A page keeps its title then; one that says so of no page is missing.
        is_other = last and subject and headings and headings.isdisjoint(subject)
        return "unlike" if is_other else ""
    if subject.isdisjoint(body | headings) and subject and (signs or length >= ENOUGH_WORDS):
        return "unlike"
    is_off_subject = len(shared) < ON_SUBJECT * len(subject)
    is_led_elsewhere = shared.isdisjoint(_stems([page.lead or ""]))
    may_be_visit = (is_off_subject or is_led_elsewhere) and visit_signs([page.lead or ""])
    enough = max(MIN_SIGNS + len(shared) * (1 if length < NOTE_WORDS else 2), length // 25)
    if is_led_elsewhere:  # what follows is perhaps a list of other pages of the site
        enough = min(enough, MANY_SIGNS)
    is_visit = length < SHORT_WORDS and signs >= enough and may_be_visit
    if is_visit or (length < NOTE_WORDS and _MOVED.search(" ".join(texts).casefold())):
        return "visit"
    known = KNOWN_SHARE if is_off_subject or signs >= MANY_SIGNS else 0.0
    return _sign_beside(last, body, length, known if shared else 2 * known) if last else ""


def _is_wall_title(title: str, source: SourceSpec) -> bool:
    """Whether a page so titled is a wall, unless *source* is titled so itself."""
    is_wall = title and len(title) <= 120 and _WALL_TITLE.fullmatch(title)
    own = _stems([source.title])
    return bool(is_wall) and not (own and own <= _stems([title]))


def visit_signs(texts: Iterable[str]) -> set[str]:
    """The phrases in *texts* by which walls speak of the visit, the visitor and the site."""
    return set(_signs().findall(" ".join(texts).casefold().replace("\u2019", "'")))


@cache
def _signs() -> re.Pattern[str]:
    """How walls speak; compiled when the first page is read."""
    phrases = package_data("walls")["phrases"].split("\n")[:-1]
    return re.compile(rf"\b(?:{'|'.join(phrases)})", re.IGNORECASE)


def _sign_beside(last: PageRecord, body: set[str], length: int, known: float) -> str:
    """Why *body* cannot follow *last*, which must have the share *known* of its words; or ""."""
    texts = [passage.text for passage in last.passages] or [last.text]
    if length < SHRUNK_SHARE * _length(texts):
        return "shrunk"
    return "changed" if len(body & _stems(texts)) < known * len(body) else ""


def _stems(texts: Iterable[str]) -> set[str]:
    return set(content_stems(" ".join(texts)))


def _length(texts: Iterable[str]) -> int:
    return sum(len(text.split()) for text in texts)


def wall_error(sign: str, host: str) -> FetchError:
    """The error of a fetch that met a wall, with its *sign*."""
    return FetchError(
        f"wall-{sign}",
        f"{host} sent something that is not the page: it {WALL_SIGNS[sign]}. Open the address in a "
        "browser; if it shows the page, correct the source's title and topics, else its url.",
        200,
    )
