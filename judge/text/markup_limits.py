"""Bounds the markup of a page before it is parsed, so that no page takes long to parse.

lexbor is linear on real pages, but not on hostile ones: 40,000 nested `<div>` (195 KB) take 1.8 s,
a tag of 50,000 attributes 4.1 s, 150,000 different names 13 s, and unclosed `<b id=1><b id=2>...`
are copied into every later paragraph. The parser cannot be interrupted, so the markup is limited
first, in linear time: 2 MiB of anything then cost less than a second.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser


def _bytes_pattern(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


MAX_BYTES = 2 * 1024 * 1024
"""As much as the fetcher accepts; only input from elsewhere is longer."""

MAX_TAGS = 60_000
"""Every element and comment needs a `<`. The largest of 313 real pages has 12,861."""

MAX_DEPTH = 400
"""Elements open at a time; lexbor's time is tags times depth. Real pages stay under 60."""

MAX_COPIED_NAMES = 16
"""Names of unclosed `<b>`, `<font>` and the like and of their attributes, all of which the parser
copies into each later block. The same limit holds for the attributes of an `<a>`."""

MAX_ATTRIBUTES = 32
"""Attributes of one tag; lexbor's time is their square. Tags of 632 real pages have up to 28."""

MAX_NAMES = 25_000
"""Different names of tags and attributes. The parser looks each one up in a hash table: 0.03 s, or
0.7 s when they are chosen to collide. Of 616 real pages none has more than 4,786 different words,
names among them."""

MIN_NAME_BYTES = 4
"""The length of a name with the byte before it; of shorter ones at most some 300 collide."""

_SPLIT_NAMES = bytes(32 if chr(c) in "\t\n\f\r/=>" else c for c in range(256)).lower()
"""Translates bytes that no name can contain to spaces, and capitals to small letters."""

_MASK_NAMES = bytes(c if c == 32 else 120 for c in _SPLIT_NAMES)
"""The same with an x for every other byte, to count words in a quarter of the time."""

_UNREAD_NAMES = "|".join(
    "script style svg math template noscript textarea title xmp iframe noembed noframes "
    "plaintext".split()
)
"""Elements that are never quoted; they include all that switch the parser to other rules."""

_UNREAD = _bytes_pattern(
    r"<(?=[!sStTnNmMiIxXpP])(?:"  # a quick check before the names, since most tags are none of them
    r"!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))"
    rf"|((?i:{_UNREAD_NAMES}))\b(?:[^<]++|<(?!/(?i:\1)\b))*+(?:</[^>]*+>?|\Z))"
)
"""A comment, or an unread element (the group is its name), to its end or the end of the page."""

_MENU = _bytes_pattern(r"<nav[\s>](?:[^<]++|<(?!/?nav\b))*+</nav>")
"""A menu without a nested one, as sites write it: a quarter of a page's tags, and never quoted.
Readers of the tree skip any other."""

_S = r" \t\n\f\r"
"""White space for a character set; one that contains `\\s` is slower, tested member by member."""

_NAME = rf"[^{_S}/>][^{_S}/>=]*+"
_VALUE = rf"(?:\s*+=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^{_S}>\"'][^{_S}>]*+)?+)?+"
_ATTRIBUTE = _NAME + _VALUE
_NAMES = _bytes_pattern(f"({_NAME}){_VALUE}")
_TOKEN = _bytes_pattern(
    rf"<(?:(/?)([a-zA-Z][^\s/>]*+)((?:[\s/]++|{_ATTRIBUTE})*+)(?:>|\Z)|[!?/][^>]*+>?)"
)
"""A tag as the HTML standard defines it (slash, name, attributes), or a comment or declaration.

Every repetition is possessive, so that it never backtracks.
"""

_FLAT = frozenset({""}) | frozenset(
    "area base basefont bgsound br col embed frame hr image img input keygen link meta param "
    "source track wbr "
    "p option optgroup tr td th thead tbody tfoot colgroup rb rt rp rtc "
    "html head body".split()
)
"""Elements that are void, or end where the next one begins: they do not nest in each other, or
`_MAX_COUNTS` limits them. Comments have an empty name."""

_ITEMS = {"li": "li", "dt": "dd", "dd": "dd"}
"""Elements that end where the next of their kind begins, but nest in those of the other kind."""

_FORMATTING = frozenset("b big code em font i nobr s small strike strong tt u".split())
"""Elements that the parser reopens in each later block until they are closed."""

_BARRIERS = frozenset("applet button caption marquee object select table".split())
"""An end tag does not close an element outside these."""

_SPECIAL = _BARRIERS | frozenset(
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure "
    "footer form frameset h1 h2 h3 h4 h5 h6 header hgroup listing main menu nav ol pre search "
    "section summary ul".split()
)
"""The end tag of any other element does not close one outside these either."""

_LOOSE = _FORMATTING | {"caption", "form", "frameset", "select"}
"""Elements whose end tags close nothing else, or whose start tags the parser may have ignored."""

_MAX_COUNTS = dict.fromkeys("optgroup rb rp rt rtc".split(), 500) | {"html": 1, "body": 1}
"""How many of an element are kept: the first five nest outside their proper parents, and the
attributes of a second `<body>` are added to the first."""

_FEW_TAGS = 15_000
"""Up to so many tags any nesting is fast: 0.3 s if each is inside the one before."""

_FEW_COPIES = 1_000_000
"""The most names of elements and attributes that the parser may copy (0.2 s, 200 MB): all those of
formatting, once for each tag. Elements nested outside their proper parents cost as much."""

_FEW_NESTING = 2_000
"""Up to so many tags nesting cannot cost that, whichever half of them nests."""

_MAX_ALIKE = 3
"""The parser copies at most so many formatting elements with equal attributes."""

_FEW_BODIES = 20
"""Concatenated pages have two or three bodies, and some sites' templates a dozen."""

_BODY = "(?i:body|html)"
_FORMATTING_TAG = _bytes_pattern(
    rf"<(?=[bcefinstuBCEFINSTU])(?i:{'|'.join(sorted(_FORMATTING))})(?=[{_S}/])"
    rf"(?:[{_S}/]++|{_ATTRIBUTE})*+"
)
"""A formatting tag with attributes; without any, no page can cost much."""

_NESTING_TAG = _bytes_pattern(r"<(?=[orOR])(?i:optgroup|rb|rp|rt|rtc)[\s/>]")
"""Elements that nest without limit outside their proper parents."""

_PLAIN = r"[ \n][a-z-]++=\"[^\"]*+\""
"""The form of most attributes, matched in fewer steps."""

_LIGHT = rf"(?:{_PLAIN}|[{_S}/]*+{_ATTRIBUTE}){{0,{MAX_ATTRIBUTES}}}+[{_S}/]*+(?:>|\Z)"
_LIGHT_TAG = rf"[a-zA-Z][^{_S}/>]*+(?:>|{_LIGHT})"
_LIGHT_TAGS = rf"(?:[^<]*+<(?:(?![a-zA-Z])|(?!{_BODY}[{_S}/>]){_LIGHT_TAG}))*+[^<]*+"
_LIGHT_PAGE = _bytes_pattern(
    rf"{_LIGHT_TAGS}(?:<{_BODY}{_LIGHT}{_LIGHT_TAGS}){{0,{_FEW_BODIES}}}+\Z"
)
"""A page in which no tag has too many attributes; matches in one pass without backtracking."""

_REACH = 8
"""Levels up to which the element of an end tag is searched. A miss only overestimates the depth."""


def limit_markup(html: bytes, *, keeps_menus: bool = False) -> bytes:
    """*html* without what is never quoted (scripts, comments, menus), within all limits above.

    *html* is in UTF-8 or another superset of ASCII. What exceeds a limit is cut off (length, tags)
    or left out (a tag too deep, the attributes of a tag with too many); the text stays. Linear in
    time, and never raises.
    """
    # The parser takes a vertical tab for a letter and the patterns for a space; no text has one.
    html = html[:MAX_BYTES].replace(b"\v", b" ")
    # Leave a space or an empty comment, so that the parts around it do not form a new tag; the
    # comment does not split a word.
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
    """The tree of markup from `limit_markup`.

    Without the parser's events, which compare each `<option>` with all others of its list.
    """
    return LexborHTMLParser(limited, options=LexborDocumentOptions.WO_EVENTS)


def _is_within_limits(html: bytes, tags: int) -> bool:
    """Whether *html* is surely within the limits; a fast check, which nearly all pages pass."""
    if tags > _FEW_TAGS or not (_has_few_names(html) and _LIGHT_PAGE.match(html)):
        return False
    names = sum(len(_NAMES.findall(tag)) for tag in set(_FORMATTING_TAG.findall(html)))
    nesting = len(_NESTING_TAG.findall(html)) if tags > _FEW_NESTING else 0
    return (_MAX_ALIKE * names + nesting) * tags <= _FEW_COPIES


def _has_few_names(html: bytes) -> bool:
    """Whether there are at most MAX_NAMES names, even if every word of *html* were one."""
    if len(html) <= MAX_NAMES * MIN_NAME_BYTES:
        return True
    if html.translate(_MASK_NAMES).count(b" x") < MAX_NAMES:
        return True
    return len(set(html.translate(_SPLIT_NAMES).split())) <= MAX_NAMES


@dataclass(slots=True)
class _Nesting:
    """Tracks which elements are open; never counts fewer than the parser will have."""

    counts_names: bool
    """Whether there may be more than MAX_NAMES."""
    names: set[bytes] = field(default_factory=set)
    open: list[tuple[str, bool, int]] = field(default_factory=list)
    """The open elements: name, whether the tag was kept, and how many names are copied with it."""
    depth: int = 0
    copied: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def limited(self, token: re.Match[bytes]) -> bytes:
        """The part of *token*, the next one of the page, that is kept."""
        slash, name, attributes = token.groups(default=b"")
        whole, names = token[0], len(_NAMES.findall(attributes))
        if names > (MAX_COPIED_NAMES if name in b"aA" else MAX_ATTRIBUTES):
            whole, attributes, names = whole.replace(attributes, b"", 1), b"", 0
        if self.counts_names and not self._add_names(name, attributes):
            return b""
        tag = name.lower().decode("latin-1")
        return whole if self._add_tag(tag, names, is_end=bool(slash)) else b""

    def _add_names(self, name: bytes, attributes: bytes) -> bool:
        """Add the names in a tag; False if that would exceed MAX_NAMES."""
        own = {name.lower(), *(attribute.lower() for attribute in _NAMES.findall(attributes))}
        new = own - self.names
        if len(self.names) + len(new) > MAX_NAMES:
            return False
        self.names |= new
        return True

    def _add_tag(self, name: str, attributes: int, *, is_end: bool) -> bool:
        """Open or close an element with so many *attributes*; whether its tag is kept."""
        name = _ITEMS.get(name, name)
        if name not in _FLAT:
            if name in _ITEMS and not is_end and self._is_last(name):
                return self.open[-1][1]
            return self._close(name) if is_end else self._open(name, attributes)
        if name not in _MAX_COUNTS or is_end:
            return True
        self.counts[name] += 1
        return self.counts[name] <= _MAX_COUNTS[name]

    def _open(self, name: str, attributes: int) -> bool:
        """Open an element; whether its tag is kept."""
        copied = 1 + attributes if name in _FORMATTING else 0
        keeps = self.depth < MAX_DEPTH and (not copied or self.copied + copied <= MAX_COPIED_NAMES)
        self.open.append((name, keeps, copied * keeps))
        self.depth += keeps
        self.copied += copied * keeps
        return keeps

    def _close(self, name: str) -> bool:
        """Close an element; False when its start tag was left out."""
        copied = self.copied
        for _ in range(self._open_above(name)):
            self._pop()
        self.copied = copied  # the parser reopens formatting that another end tag closes
        return self._pop() if self._is_last(name) else True

    def _open_above(self, name: str) -> int:
        """How many elements inside *name* its end tag closes."""
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
