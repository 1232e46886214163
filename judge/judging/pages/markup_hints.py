"""What the names and attributes of an element say about the text inside it.

The word lists were weighed on 255 real pages: a name stays when the text under it was junk more
often than content there (`banner`, `alert`, `notice`, `toc` and `widget` were not).
"""

import functools
import re
from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

Attributes = Mapping[str, str | None]

UNREAD_TAGS = frozenset(
    "script style noscript template svg math iframe object embed canvas video audio picture map "
    "select option datalist button textarea input img hr nav footer dialog head title figcaption "
    "caption legend label menu progress meter rp rt".split()
)
"""Elements whose words are no prose of the page: code, controls, navigation, captions."""

INLINE_TAGS = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q ruby s samp "
    "small span strike strong sub sup time tt u var wbr".split()
)
"""Elements that run on within a line; every other element begins and ends a block."""

ENDING_TAGS = frozenset({"nav", "footer", "hr"})
"""Of those, the ones that end the paragraph that they stand in."""

HEADING_TAGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})

DOUBTFUL_TAGS = frozenset({"aside", "header", "figure", "table", "pre", "address", "details"})

_UNREAD_ROLES = frozenset(
    "navigation contentinfo search dialog alertdialog menu menubar tablist toolbar tooltip".split()
)

_JUNK_PARTS = re.compile(r"cookie|consent|gdpr|onetrust|breadcrumb|skip-?(?:to|link|nav)")
"""Parts of a class or id whose text is never the page's, on any page."""

_DOUBTFUL_WORDS = frozenset(
    "navbar navigation menu megamenu footer sidebar masthead toolbar tooltip dropdown modal popup "
    "share sharing social comment comments related recommended popular trending newsletter promo "
    "ad ads advert advertisement sponsor sponsored announcement subscribe signup login byline "
    "author caption credit credits tag tags meta metadata pagination pager disclaimer disclosure "
    "copyright licence license footnote footnotes".split()
)
"""Words of a class or id whose text is rarely the page's own."""

_BANNER_WORDS = frozenset("global phase emergency site top survey alert notification".split())
"""With `banner`; alone it is as often the head of the article."""

_LEAD_WORDS = frozenset({"lead", "lede", "intro", "introduction", "summary"})
"""Words of the class of an opening paragraph; they count right under the title only. What is called
a subtitle or excerpt is as often a teaser, written by somebody else."""

_SPOKEN_NAMES = ("sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text")
"""Classes for words that only screen readers speak: "Warning", "opens in a new tab"."""

_BYLINE_PARTS = ("author", "byline")

_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


_TELLING_WORDS = _DOUBTFUL_WORDS | _LEAD_WORDS | {"banner"}
_TELLING_PARTS = re.compile("|".join((_JUNK_PARTS.pattern, *_SPOKEN_NAMES, *_BYLINE_PARTS)))
"""One look for what most names have nothing of."""

_TELLING_ATTRIBUTES = frozenset({"hidden", "style", "aria-hidden", "role"})
"""Attributes without which an element is surely shown: most have none of these."""


class Doubt(IntEnum):
    """How likely it is that an element's text is not the page's own."""

    NONE = 0
    SOME = 1
    """Quoted only when too little is left without it."""
    FULL = 2
    """Never quoted, unless it turns out to hold most of the page."""


class NameHints(NamedTuple):
    """What one value of `class` or `id` says."""

    doubt: Doubt = Doubt.NONE
    is_hidden: bool = False
    is_byline: bool = False
    is_lead: bool = False


SAYS_NOTHING = NameHints()
HIDDEN = NameHints(is_hidden=True)


@functools.lru_cache(maxsize=4096)
def read_name(name: str) -> NameHints:
    """Return what *name*, the value of a `class` or an `id`, says.

    Remembered: a page repeats a few names a thousand times, and so do the pages of a site.
    """
    name = name.lower()
    spaced = name.replace("_", " ")
    if _TELLING_WORDS.isdisjoint(spaced.replace("-", " ").split()) and not _TELLING_PARTS.search(
        name
    ):
        return SAYS_NOTHING
    # A word after "--" is a modifier: `hero--sidebar` is no sidebar.
    words = set(spaced.replace("--", "+").replace("-", " ").split())
    return NameHints(
        doubt=_name_doubt(name, words),
        is_hidden=any(spoken in name for spoken in _SPOKEN_NAMES),
        is_byline=any(part in name for part in _BYLINE_PARTS),
        is_lead=not words.isdisjoint(_LEAD_WORDS),
    )


def _name_doubt(name: str, words: set[str]) -> Doubt:
    if _JUNK_PARTS.search(name):
        return Doubt.FULL
    is_banner = "banner" in words and not words.isdisjoint(_BANNER_WORDS)
    is_doubtful = is_banner or not words.isdisjoint(_DOUBTFUL_WORDS)
    return Doubt.SOME if is_doubtful else Doubt.NONE


def is_hidden(attributes: Attributes) -> bool:
    """Tell whether an element with these attributes isn't shown, or only said to be ornament."""
    if "hidden" in attributes:
        return not _is_streamed(attributes)
    style = attributes.get("style")
    is_styled_away = style is not None and _HIDING_STYLE.search(style) is not None
    return is_styled_away or attributes.get("aria-hidden") == "true"


def is_unread(attributes: Attributes) -> bool:
    """Tell whether the element is hidden or, by its role, navigation or another control."""
    if _TELLING_ATTRIBUTES.isdisjoint(attributes):
        return False
    return attributes.get("role") in _UNREAD_ROLES or is_hidden(attributes)


def _is_streamed(attributes: Attributes) -> bool:
    """React sends late parts of a page as `<div hidden id="S:0">` and a script shows them."""
    return (attributes.get("id") or "").startswith("S:")
