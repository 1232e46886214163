"""Markup that would cost too much becomes markup that can't, before a parser sees it.

lexbor is linear on pages, but not on what can be sent instead of one: 40,000 nested `<div>`
(195 KB) take it 1.8 s, a tag of 50,000 attributes 4.1 s, 150,000 names that all differ 13 s, and
unclosed `<b id=1><b id=2>...` are copied into every later paragraph. A parser can't be stopped
half-way, so the markup is bounded first, in linear time: 2 MiB of anything cost less than a second.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser


def _bytes_pattern(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


MAX_BYTES = 2 * 1024 * 1024
"""What the fetcher lets through; anything longer comes from elsewhere."""

MAX_TAGS = 60_000
"""Every element and comment needs a `<`. The largest of 313 real pages has 12,861."""

MAX_DEPTH = 400
"""Open elements at one time; lexbor's time is tags times depth. Real pages stay under 60."""

MAX_COPIED_NAMES = 16
"""Of unclosed `<b>`, `<font>` and the like, and of their attributes: all are copied into each later
block. So are those of an unclosed `<a>`, of which there is one."""

MAX_ATTRIBUTES = 32
"""Attributes of one tag; lexbor's time is their square. Tags of 632 real pages have up to 28."""

MAX_NAMES = 25_000
"""Names of tags and attributes that differ, each of which the parser compares with a share of those
before: 0.03 s, and 0.7 s where they are chosen to share one list of its table. The most different
words of 616 real pages, names among them, are 4,786."""

SHORTEST_NAME = 4
"""Bytes of a name with what stands before it: of shorter ones some 300 share a list at most."""

_NAMES_APART = bytes(32 if chr(c) in "\t\n\f\r/=>" else c for c in range(256)).lower()
"""A space for each byte that no name can hold, and small letters for capitals."""

_NAMES_AS_ONE = bytes(c if c == 32 else 120 for c in _NAMES_APART)
"""The same with an x for every other byte, to count words in a quarter of the time."""

_UNREAD_NAMES = "|".join(
    "script style svg math template noscript textarea title xmp iframe noembed noframes "
    "plaintext".split()
)
"""Never quoted, and all that could make the parser read what follows by other rules than ours."""

_UNREAD = _bytes_pattern(
    r"<(?=[!sStTnNmMiIxXpP])(?:"  # looked at before the names, since most tags are none of these
    r"!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))"
    rf"|((?i:{_UNREAD_NAMES}))\b(?:[^<]++|<(?!/(?i:\1)\b))*+(?:</[^>]*+>?|\Z))"
)
"""A comment, or an unread element (of which the group is the name), to its end or the page's."""

_MENU = _bytes_pattern(r"<nav[\s>](?:[^<]++|<(?!/?nav\b))*+</nav>")
"""A menu without another in it, as sites write it: a quarter of a page's tags, and never read.
Any other is left to the tree's readers."""

_S = r" \t\n\f\r"
"""White space for a set: one that holds a class instead is looked through member by member."""

_NAME = rf"[^{_S}/>][^{_S}/>=]*+"
_VALUE = rf"(?:\s*+=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^{_S}>\"'][^{_S}>]*+)?+)?+"
_ATTRIBUTE = _NAME + _VALUE
_NAMES = _bytes_pattern(f"({_NAME}){_VALUE}")
_TOKEN = _bytes_pattern(
    rf"<(?:(/?)([a-zA-Z][^\s/>]*+)((?:[\s/]++|{_ATTRIBUTE})*+)(?:>|\Z)|[!?/][^>]*+>?)"
)
"""A tag as the HTML standard reads it (slash, name, attributes), or a comment or declaration.

Every repetition is possessive, so a failure is never tried again another way.
"""

_FLAT = frozenset({""}) | frozenset(
    "area base basefont bgsound br col embed frame hr image img input keygen link meta param "
    "source track wbr "
    "p option optgroup tr td th thead tbody tfoot colgroup rb rt rp rtc "
    "html head body".split()
)
"""Elements that are empty, or end by themselves where the next begins: alone they don't nest, or
`_RATIONS` keeps them few. Comments have no name."""

_ITEMS = {"li": "li", "dt": "dd", "dd": "dd"}
"""Elements that end where the next of their kind begins, but nest in those of the other."""

_FORMATTING = frozenset("b big code em font i nobr s small strike strong tt u".split())
"""Elements that the parser opens again in each later block until they are closed."""

_BARRIERS = frozenset("applet button caption marquee object select table".split())
"""An end tag doesn't reach an element outside these."""

_SPECIAL = _BARRIERS | frozenset(
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure "
    "footer form frameset h1 h2 h3 h4 h5 h6 header hgroup listing main menu nav ol pre search "
    "section summary ul".split()
)
"""The end tag of any other element doesn't reach outside these either."""

_LOOSE = _FORMATTING | {"caption", "form", "frameset", "select"}
"""Their end tags close nothing else, or they may not have been opened where they stood."""

_RATIONS = dict.fromkeys("optgroup rb rp rt rtc".split(), 500) | {"html": 1, "body": 1}
"""How many of an element are kept: the first five nest when they stand outside theirs, and what is
on a second `<body>` goes to the first."""

_FEW_TAGS = 15_000
"""So few can nest as they like: 0.3 s if each is inside the one before."""

_FEW_COPIES = 1_000_000
"""The most names of elements and attributes that the parser can copy (0.2 s, 200 MB): those of all
formatting, as often as there are tags. Elements that nest outside theirs cost as much."""

_FEW_NESTING = 2_000
"""So few tags can't cost that by nesting, whichever half of them does."""

_MOST_ALIKE = 3
"""Of formatting with the same attributes the parser copies no more."""

_FEW_BODIES = 20
"""Pages stuck together have two or three, and some sites' templates a dozen."""

_BODY = "(?i:body|html)"
_FORMATTING_TAG = _bytes_pattern(
    rf"<(?=[bcefinstuBCEFINSTU])(?i:{'|'.join(sorted(_FORMATTING))})(?=[{_S}/])"
    rf"(?:[{_S}/]++|{_ATTRIBUTE})*+"
)
"""With its attributes; of formatting without any all that there can be is little."""

_NESTING_TAG = _bytes_pattern(r"<(?=[orOR])(?i:optgroup|rb|rp|rt|rtc)[\s/>]")
"""Of elements that nest without end where they stand outside theirs."""

_PLAIN = r"[ \n][a-z-]++=\"[^\"]*+\""
"""What most attributes are, to be read in fewer steps."""

_LIGHT = rf"(?:{_PLAIN}|[{_S}/]*+{_ATTRIBUTE}){{0,{MAX_ATTRIBUTES}}}+[{_S}/]*+(?:>|\Z)"
_LIGHT_TAG = rf"[a-zA-Z][^{_S}/>]*+(?:>|{_LIGHT})"
_LIGHT_TAGS = rf"(?:[^<]*+<(?:(?![a-zA-Z])|(?!{_BODY}[{_S}/>]){_LIGHT_TAG}))*+[^<]*+"
_LIGHT_PAGE = _bytes_pattern(
    rf"{_LIGHT_TAGS}(?:<{_BODY}{_LIGHT}{_LIGHT_TAGS}){{0,{_FEW_BODIES}}}+\Z"
)
"""A page without a tag of too many attributes, read in one go: nothing is looked at twice."""

_REACH = 8
"""How far up an end tag is looked for. Not finding it only makes the count of open tags higher."""


def limit_markup(html: bytes, *, keeps_menus: bool = False) -> bytes:
    """Return *html* without what is never read (scripts, comments, menus), within all bounds above.

    It is in UTF-8, or in any encoding that leaves ASCII as it is.
    What is over a bound is cut off (length, tags) or left out (a tag too deep, attributes of a tag
    that has too many); the text stays. Linear in time, and never raises.
    """
    # To the parser it is a letter, to patterns a space, and text has none.
    html = html[:MAX_BYTES].replace(b"\v", b" ")
    # A space or an empty comment joins nothing into a new tag, and a comment doesn't split a word.
    html = _UNREAD.sub(lambda found: b" " if found[1] else b"<!---->", html)
    if not keeps_menus:
        html = _MENU.sub(b" ", html)
    tags = html.count(b"<")
    if tags > MAX_TAGS:
        html, tags = b"<".join(html.split(b"<", MAX_TAGS)[:MAX_TAGS]), MAX_TAGS
    if _is_within_limits(html, tags):
        return html
    return _TOKEN.sub(_Nesting(counts_names=not _has_few_names(html)).limited, html)


def parse_markup(limited: bytes) -> LexborHTMLParser:
    """Return the tree of markup that `limit_markup` has bounded.

    Without the parser's events, for which each option is compared with all others of its list.
    """
    return LexborHTMLParser(limited, options=LexborDocumentOptions.WO_EVENTS)


def _is_within_limits(html: bytes, tags: int) -> bool:
    """Tell in the least time, since nearly all pages are, whether *html* can't cost much."""
    if tags > _FEW_TAGS or not (_has_few_names(html) and _LIGHT_PAGE.match(html)):
        return False
    names = sum(len(_NAMES.findall(tag)) for tag in set(_FORMATTING_TAG.findall(html)))
    nesting = len(_NESTING_TAG.findall(html)) if tags > _FEW_NESTING else 0
    return (_MOST_ALIKE * names + nesting) * tags <= _FEW_COPIES


def _has_few_names(html: bytes) -> bool:
    """Tell whether names are no more than MAX_NAMES, even if all words of *html* were some."""
    if len(html) <= MAX_NAMES * SHORTEST_NAME:
        return True
    if html.translate(_NAMES_AS_ONE).count(b" x") < MAX_NAMES:
        return True
    return len(set(html.translate(_NAMES_APART).split())) <= MAX_NAMES


@dataclass(slots=True)
class _Nesting:
    """Follows which elements are open, never counting fewer than the parser will have."""

    counts_names: bool
    """Whether there may be more than MAX_NAMES."""
    names: set[bytes] = field(default_factory=set)
    open: list[tuple[str, bool, int]] = field(default_factory=list)
    """Their names, whether their tags were kept, and how many names are copied with them."""
    depth: int = 0
    copied: int = 0
    rationed: Counter[str] = field(default_factory=Counter)

    def limited(self, token: re.Match[bytes]) -> bytes:
        """Return what may stay of *token*, the next of the page."""
        slash, name, attributes = token.groups(default=b"")
        whole, names = token[0], len(_NAMES.findall(attributes))
        if names > (MAX_COPIED_NAMES if name in b"aA" else MAX_ATTRIBUTES):
            whole, attributes, names = whole.replace(attributes, b"", 1), b"", 0
        if self.counts_names and not self._takes_names(name, attributes):
            return b""
        tag = name.lower().decode("latin-1")
        return whole if self._takes(tag, names, is_end=bool(slash)) else b""

    def _takes_names(self, name: bytes, attributes: bytes) -> bool:
        """Note the names of a tag; return whether there is room for them."""
        own = {name.lower(), *(found.lower() for found in _NAMES.findall(attributes))}
        new = own - self.names
        if len(self.names) + len(new) > MAX_NAMES:
            return False
        self.names |= new
        return True

    def _takes(self, name: str, attributes: int, *, is_end: bool) -> bool:
        """Note a tag of so many *attributes*; return whether it can stay."""
        name = _ITEMS.get(name, name)
        if name not in _FLAT:
            if name in _ITEMS and not is_end and self._is_last(name):
                return self.open[-1][1]
            return self._close(name) if is_end else self._open(name, attributes)
        if name not in _RATIONS or is_end:
            return True
        self.rationed[name] += 1
        return self.rationed[name] <= _RATIONS[name]

    def _open(self, name: str, attributes: int) -> bool:
        """Note a start tag; return whether there is room for it."""
        copied = 1 + attributes if name in _FORMATTING else 0
        keeps = self.depth < MAX_DEPTH and (not copied or self.copied + copied <= MAX_COPIED_NAMES)
        self.open.append((name, keeps, copied * keeps))
        self.depth += keeps
        self.copied += copied * keeps
        return keeps

    def _close(self, name: str) -> bool:
        """Note an end tag; return False when its start tag was left out."""
        copied = self.copied
        for _ in range(self._open_above(name)):
            self._pop()
        self.copied = copied  # what another end tag closes is opened again
        return self._pop() if self._is_last(name) else True

    def _open_above(self, name: str) -> int:
        """Return how many elements an end tag closes on its way to *name*."""
        if name in _LOOSE or self._is_last(name):
            return 0
        for above, (other, *_) in enumerate(reversed(self.open[-_REACH:])):
            if other == name:
                return above
            if other in _BARRIERS or (other in _SPECIAL and name not in _SPECIAL):
                return 0
        return 0

    def _is_last(self, name: str) -> bool:
        return bool(self.open) and self.open[-1][0] == name

    def _pop(self) -> bool:
        _, keeps, copied = self.open.pop()
        self.depth -= keeps
        self.copied -= copied
        return keeps
