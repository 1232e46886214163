"""What the names and attributes of an element say about the text inside it.

The word lists were weighed on 255 real pages: a name stays when the text under it was junk more
often than content there (`banner`, `alert`, `notice`, `toc` and `widget` were not).
"""

import functools
import re
from collections.abc import Mapping
from enum import IntEnum

Attributes = Mapping[str, str | None]

LINE_BREAKS = frozenset({"br", "img"})

UNREAD_TAGS = frozenset(
    "script style noscript template svg math iframe object embed canvas video audio picture map br "
    "select option datalist button textarea input img nav footer dialog head title figcaption "
    "caption legend label menu progress meter rp rt del s strike".split()
) | {"-comment", ""}
"""Elements whose words are no prose of the page: code, controls, navigation, captions, what was
struck out. The last two are the parser's names for comments and instructions such as `<?php`."""

INLINE_TAGS = frozenset(
    "a abbr acronym b bdi bdo big cite code data dfn em font i ins kbd mark nobr q ruby samp "
    "small span strong sub sup time tt u var wbr".split()
)
"""Elements that run on within a line; every other element begins and ends a block."""

HEADING_TAGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "summary"})

_BOILERPLATE_TAGS = frozenset({"aside", "form", "header", "figure", "pre", "address"})

_SUPPLEMENTARY_TAGS = frozenset({"table", "details"})

_UNREAD_ROLES = frozenset(
    "navigation contentinfo search dialog alertdialog menu menubar toolbar tooltip".split()
)

_JUNK_PARTS = ("cookie", "consent", "gdpr", "onetrust", "breadcrumb")
"""Parts of a class or id whose text is never the page's, on any page."""

_BOILERPLATE_WORDS = frozenset(
    "navbar navigation menu megamenu footer sidebar masthead toolbar tooltip dropdown modal popup "
    "share sharing social comment comments related recommended popular trending newsletter promo "
    "ad ads advert advertisement sponsor sponsored announcement subscribe signup login byline "
    "author caption credit credits tag tags meta metadata pagination pager survey feedback "
    "disclaimer disclosure copyright licence license footnote footnotes notification".split()
)
"""Words of a class or id whose text is rarely the page's own."""

_LEAD_WORDS = frozenset({"lead", "summary"})
"""Words of the class of a paragraph that describes a page of guidance under its title."""

_SPOKEN = re.compile("sr-only|visually-?hidden|screen-reader-text")

_BYLINE_PARTS = ("author", "byline")

_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|clip\s*:\s*rect\s*\(\s*0"
    r"|(?:left|top|text-indent)\s*:\s*-\d{3}",
    re.IGNORECASE,
)
"""Not what is transparent or has no height: scripts show that as one scrolls or unfolds it."""

_TELLING_ATTRIBUTES = frozenset({"role", "hidden", "style", "aria-hidden"})


class Boilerplate(IntEnum):
    """How likely it is that an element's text is not the page's own."""

    NONE = 0
    SUPPLEMENTARY = 1
    """The page's own, but not where its lead stands: a table, or what is unfolded on demand."""
    SOME = 2
    """Quoted only when too little is left without it."""
    FULL = 3
    """Never quoted, unless it turns out to hold most of the page."""


def read_boilerplate(tag: str, attributes: Attributes) -> Boilerplate:
    """Return how likely such an element is boilerplate by its tag, class and id."""
    return _boilerplate(tag, attributes.get("class"), attributes.get("id"))


def is_byline(attributes: Attributes) -> bool:
    """Tell whether the element's class says that it names an author."""
    name = (attributes.get("class") or "").lower()
    return any(part in name for part in _BYLINE_PARTS)


def is_lead(attributes: Attributes) -> bool:
    """Tell whether the element's class says that it is an opening paragraph."""
    return not _LEAD_WORDS.isdisjoint(_words((attributes.get("class") or "").lower()))


@functools.lru_cache(maxsize=4096)
def _boilerplate(tag: str, class_name: str | None, element_id: str | None) -> Boilerplate:
    """Remembered: a page repeats a few names a thousand times, and so do the pages of a site."""
    name = f"{class_name or ''} {element_id or ''}".lower()
    if any(map(name.__contains__, _JUNK_PARTS)):
        return Boilerplate.FULL
    if tag in _BOILERPLATE_TAGS or not _BOILERPLATE_WORDS.isdisjoint(_words(name)):
        return Boilerplate.SOME
    return Boilerplate.SUPPLEMENTARY if tag in _SUPPLEMENTARY_TAGS else Boilerplate.NONE


def _words(name: str) -> list[str]:
    """Return the words of a class or id; one after "--" is a modifier and not told apart."""
    return name.replace("_", " ").replace("--", "+").replace("-", " ").split()


def is_hidden(attributes: Attributes) -> bool:
    """Tell whether an element with these attributes isn't shown, or only spoken, or ornament."""
    if _is_spoken(attributes.get("class") or ""):
        return True
    if "hidden" in attributes:
        # What a search in the page unfolds is shown in the end.
        return attributes["hidden"] != "until-found" and not _is_streamed(attributes)
    if (style := attributes.get("style")) and _HIDING_STYLE.search(style):
        return True
    return attributes.get("aria-hidden") == "true"


def is_unread(attributes: Attributes) -> bool:
    """Tell whether the element is hidden or, by its role, navigation or another control."""
    if _TELLING_ATTRIBUTES.isdisjoint(attributes):  # as nearly always
        return _is_spoken(attributes.get("class") or "")
    return attributes.get("role") in _UNREAD_ROLES or is_hidden(attributes)


def _is_spoken(name: str) -> bool:
    """Tell whether a class is for words that only screen readers speak: "opens in a new tab"."""
    may_be = "-only" in name or "idden" in name or "-reader" in name
    return may_be and _SPOKEN.search(name.lower()) is not None


def _is_streamed(attributes: Attributes) -> bool:
    """React sends late parts of a page as `<div hidden id="S:0">` and a script shows them."""
    return (attributes.get("id") or "").startswith("S:")
