"""What the names and attributes of an element say about the text inside it.

The word lists were weighed on 255 real pages: a name stays when the text under it was junk more
often than content there (`banner`, `alert`, `notice`, `toc` and `widget` were not).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

Attributes = Mapping[str, str | None]

UNREAD_TAGS = frozenset(
    "script style noscript template svg math iframe object embed canvas video audio picture map "
    "select option datalist button textarea input nav footer dialog head title figcaption caption "
    "legend label menu progress meter rp rt".split()
)
"""Elements whose words are no prose of the page: code, controls, navigation, captions."""

INLINE_TAGS = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q ruby s samp "
    "small span strike strong sub sup time tt u var wbr".split()
)
"""Elements that run on within a line; every other element begins and ends a block."""

HEADING_TAGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})

_DOUBTFUL_TAGS = frozenset({"aside", "header", "figure", "table", "pre", "address", "details"})

_UNREAD_ROLES = frozenset(
    "navigation contentinfo search dialog alertdialog menu menubar tablist toolbar tooltip".split()
)

_JUNK_NAME = re.compile(r"cookie|consent|gdpr|onetrust|breadcrumb|skip-?(?:to|link|nav)")
"""Of a class or id: its text is never the page's, on any page."""

_BEGIN, _END = r"(?:^|[\s_]|(?<!-)-)", r"(?:$|[\s_-])"
"""Around a whole word of a name; not after `--`, which begins a modifier (`hero--sidebar`)."""

_DOUBTFUL_NAME = re.compile(
    r"newsletter|(?:global|phase|emergency|site|top|survey|alert|notification)[_-]?banner|"
    rf"{_BEGIN}(?:navbar|navigation|menu|mega-?menu|footer|sidebar|masthead|toolbar|tooltip|"
    r"dropdown|modal|popup|share|sharing|social|comments?|related|recommended|popular|trending|"
    r"promo|advert(?:isement)?|ads?|sponsor(?:ed)?|announcement|subscribe|signup|login|byline|"
    r"author|caption|credits?|tags?|meta|metadata|pagination|pager|disclaimer|disclosure|"
    rf"copyright|licen[cs]e){_END}"
)
"""Of a class or id: its text is rarely the page's own."""

_HIDDEN_NAME = re.compile(rf"{_BEGIN}(?:sr-only|visually-?hidden|screen-reader-text){_END}")
"""Classes for words that only screen readers speak, such as "Warning" or "opens in a new tab"."""

_BYLINE_NAME = re.compile(r"author|byline")

_LEAD_NAME = re.compile(
    rf"{_BEGIN}(?:lead|lede|intro|introduction|summary|standfirst|subtitle|description|excerpt|"
    rf"tagline|dek){_END}"
)
"""Classes of the opening paragraph when it isn't a `<p>`."""

_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


class Doubt(IntEnum):
    """How likely it is that an element's text is not the page's own."""

    NONE = 0
    SOME = 1
    """Quoted only when too little is left without it."""
    FULL = 2
    """Never quoted, unless it turns out to hold most of the page."""


@dataclass(frozen=True, slots=True)
class NameHints:
    """What one value of `class` or `id` says."""

    doubt: Doubt = Doubt.NONE
    is_hidden: bool = False
    is_byline: bool = False
    is_lead: bool = False


def read_name(name: str) -> NameHints:
    """Return what *name*, the value of a `class` or an `id`, says."""
    name = name.lower()
    doubt = Doubt.SOME if _DOUBTFUL_NAME.search(name) else Doubt.NONE
    return NameHints(
        doubt=Doubt.FULL if _JUNK_NAME.search(name) else doubt,
        is_hidden=_HIDDEN_NAME.search(name) is not None,
        is_byline=_BYLINE_NAME.search(name) is not None,
        is_lead=_LEAD_NAME.search(name) is not None,
    )


def tag_doubt(tag: str) -> Doubt:
    """Return the doubt that the element's kind alone raises."""
    return Doubt.SOME if tag in _DOUBTFUL_TAGS else Doubt.NONE


def is_hidden(attributes: Attributes) -> bool:
    """Tell whether an element with these attributes isn't shown, or only said to be ornament."""
    if "hidden" in attributes:
        return not _is_streamed(attributes)
    style = attributes.get("style")
    is_unstyled = style is None or _HIDING_STYLE.search(style) is None
    return attributes.get("aria-hidden") == "true" or not is_unstyled


def is_control(attributes: Attributes) -> bool:
    """Tell whether an element's role makes it navigation, a dialogue or another control."""
    return attributes.get("role") in _UNREAD_ROLES


def _is_streamed(attributes: Attributes) -> bool:
    """React sends late parts of a page as `<div hidden id="S:0">` and a script shows them."""
    return (attributes.get("id") or "").startswith("S:")
