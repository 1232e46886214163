"""Reads the notes around a page's title: the nations it applies to, and whether it is withdrawn.

Such notes come before the text or right under the title. The same words further down are prose:
an article about withdrawn guidance is not withdrawn.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from judge.library.extract.lead_paragraph import Content
from judge.library.extract.page_blocks import HEADING_TAGS, PageBlock
from judge.library.nations import NATIONS

_BRITAIN = ("england", "scotland", "wales")
_PLACES: dict[str, tuple[str, ...]] = {
    "england": ("england",),
    "scotland": ("scotland",),
    "wales": ("wales",),
    "northern ireland": ("northern-ireland",),
    "great britain": _BRITAIN,
    "united kingdom": NATIONS,
    "britain": _BRITAIN,
    "uk": NATIONS,
    "gb": _BRITAIN,
    "ni": ("northern-ireland",),
}
_PLACE_NAME = rf"(?:{'|'.join(_PLACES)})\b"
_PLACE = rf"(?:(?:all of |the whole of )?the )?{_PLACE_NAME}(?!['\u2019])"
_PLACE_LIST = rf"(?P<places>{_PLACE}(?:(?:(?:,? and|,? or|,| &|/) ?|\u2013){_PLACE})*+)"

_PAGE = (
    r"(?:(?:web)?page|guidance|guide|publication|document|content|information|advice|policy|"
    r"policy paper|leaflet|fact ?sheet|consultation|article|story|press release|speech|statement|"
    r"form|standard|circular|notice|collection|report|code of practice|transcript|case study|"
    r"manual|service|(?:web)?site|version)"
)
_SUBJECT = rf"(?:(?:this|the|our) (?:[\w-]+ )??)?{_PAGE}(?: (?:on|in) this {_PAGE})?"
_APPLIES = re.compile(
    rf"(?:{_SUBJECT} (?:only )?|this |it )?"
    r"(?:(?:applies|apply|relates?|available)(?: only)?(?: to| in| for| across| if you live in)?"
    r"|is (?:only )?for|covers|(?:covers|explains|is about|tells you about|relates to) the law in"
    r"|jurisdiction:|(?:geographical )?extent:|country:|nations?:)"
    r"(?: [a-z]+)??(?: living| who (?:live|rent|work))?(?: in)?:? ?"
    rf"(?:only )?{_PLACE_LIST}(?=\W*$|\W*[.;:(\u2013]|,| only| but| and not| -| see\b)"
    rf"|(?:for )?{_PLACE_LIST.replace('places', 'alone')} only\W*$"
)
"""A line that says where the page applies; after a bracket come links for other nations."""

_DOES_NOT_APPLY = re.compile(
    rf"(?:{_SUBJECT} |this |it )?do(?:es)?(?: not|n['\u2019]t) apply (?:to|in) {_PLACE_LIST}\W*$"
)

_LABEL = re.compile(rf"(?:{_SUBJECT} |this )?applies (?:to|in):?$")
"""A label whose places follow on the next lines."""

_PLACES_ALONE = re.compile(rf"{_PLACE_LIST}\W*$")

_OUT_OF_DATE = (
    r"(?:out of date|obsolete|not being (?:updated|maintained)|no longer (?:available|in force|"
    r"in use|current|valid|up to date|updated|being updated|maintained|being maintained|"
    r"applicable))(?! (?:after|if|once|unless|until|when)\b)"
)
"""The lookahead excludes what a document may say about a later day: "not valid after ..."."""

_GONE = rf"(?:withdrawn|archived|superseded|replaced|rescinded|revoked|retired|{_OUT_OF_DATE})"
_IS_NOW = r"(?:was|is|has been|have been)(?: now)?|has now been"
_WITHDRAWN = re.compile(
    r"\W*(?:(?:warning|important|notice|(?:please )?note|withdrawn|archived(?: content)?)\W+)?"
    rf"(?:(?:(?:the )?{_PAGE} (?:on|in) )?this (?:[\w-]+ ){{0,3}}?{_PAGE}(?: to parliament)? "
    rf"(?:(?:{_IS_NOW}) {_GONE}|(?:has )?(?:expired|ceased to apply)|no longer applies)\b"
    rf"|we (?:have (?:now )?)?(?:withdrew|withdrawn|archived) this {_PAGE}\b"
    rf"|(?:this is|you(?: a|')re viewing)(?: an?)? archived (?:[\w-]+ )?{_PAGE}\b)"
)
_WITHDRAWN_HEADING = re.compile(
    r"this (?:(?!if|that|what|when|whose)[\w-]+ ){1,8}(?:was|has been) (?:withdrawn|archived)\b"
)
"""A heading may call the page anything: "This Welsh language scheme was withdrawn on ..."."""

_WITHDRAWN_TITLE = re.compile(r"[\[(]?(?:withdrawn|archived|superseded)(?:[\])]|\s?[:\u2013-]\s)")
_WITHDRAWN_TAG = re.compile(
    rf"\W*(?:status: )?(?:withdrawn|archived|superseded)(?: {_PAGE})?(?:\W*$|:| by\b| (?:on )?\d)"
)

_TAG_REACH = 3
"""Blocks between the title and a tag such as "Withdrawn"."""

_MAX_NOTE_CHARACTERS = 300
"""Characters of a note; a longer block is prose."""

_MAX_BLOCKS_BEFORE = 60
"""Blocks before the text in which notes are looked for."""


def read_nations(content: Content) -> tuple[str, ...]:
    """The nations that the page says it applies to, in a fixed order; often none."""
    lines = [_folded(block.text) for block in _around_title(content)]
    for at, line in enumerate(lines, 1):
        whole = line
        if _LABEL.match(line):
            places = [*lines[at : at + 1], *takewhile(_PLACES_ALONE.match, lines[at + 1 :])]
            whole = f"applies to {' and '.join(places)}"
        if nations := nations_of(whole):
            return nations
    return ()


def nations_of(line: str) -> tuple[str, ...]:
    """The nations in a *line* such as "Applies to England and Wales (see ...)", or none."""
    line = " ".join(line.lower().split())
    if match := _APPLIES.match(line):
        nations = _nations_named(match["places"] or match["alone"])
        return tuple(nation for nation in NATIONS if nation in nations)
    if match := _DOES_NOT_APPLY.match(line):
        nations = _nations_named(match["places"])
        return tuple(nation for nation in NATIONS if nation not in nations)
    return ()


def _nations_named(places: str) -> set[str]:
    names = re.findall(rf"\b{_PLACE_NAME}", places)
    return {nation for name in names for nation in _PLACES[name]}


def is_withdrawn(content: Content, head_title: str) -> bool:
    """Whether the title or a note near it says that the page is withdrawn."""
    if _WITHDRAWN_TITLE.match(head_title.lower()):
        return True
    title = content.heading.order if content.heading else -9
    return any(_says_withdrawn(content, block, title) for block in _around_title(content))


def _says_withdrawn(content: Content, block: PageBlock, title: int) -> bool:
    line = _folded(block.text)
    if block.order == title:
        return _WITHDRAWN_TITLE.match(line) is not None
    if abs(block.order - title) <= _TAG_REACH and _WITHDRAWN_TAG.match(line):
        return True
    if block.tag in HEADING_TAGS and _WITHDRAWN_HEADING.match(line):
        return True
    return _WITHDRAWN.match(line) is not None and not _is_in_text(content, block)


def _is_in_text(content: Content, block: PageBlock) -> bool:
    """Whether *block* is a paragraph of the text: prose precedes it in the same element."""
    if block.tag in HEADING_TAGS:
        return False
    parents = content.page.parents
    others = (b for b in content.prose if content.title < b.order < block.order)
    return any(parents[b.element] == parents[block.element] for b in others)


def _around_title(content: Content) -> Iterator[PageBlock]:
    """The blocks short enough for a note, down to the second paragraph after the title."""
    after = [block.order for block in content.prose if block.order > content.title]
    last = after[1] if len(after) > 1 else len(content.page.blocks)
    blocks: Sequence[PageBlock] = content.page.blocks[max(0, last - _MAX_BLOCKS_BEFORE) : last + 1]
    return (block for block in blocks if len(block.text) <= _MAX_NOTE_CHARACTERS)


def _folded(text: str) -> str:
    return text.lower().replace("\u2019", "'")
