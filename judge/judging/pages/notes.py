"""What a page says about itself around its title: where it applies, and that it is withdrawn.

Such notes stand before the text or right under the title. The same words further down are prose:
an article about withdrawn guidance is not withdrawn.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from judge.judging.pages.lead_paragraph import Content
from judge.judging.pages.markup_hints import HEADING_TAGS
from judge.judging.pages.page_blocks import PageBlock

_ALL = ("england", "scotland", "wales", "northern-ireland")
_BRITAIN = ("england", "scotland", "wales")
_PLACES: dict[str, tuple[str, ...]] = {
    "england": ("england",),
    "scotland": ("scotland",),
    "wales": ("wales",),
    "northern ireland": ("northern-ireland",),
    "great britain": _BRITAIN,
    "united kingdom": _ALL,
    "uk": _ALL,
}
_PLACE = rf"(?:the )?(?:{'|'.join(_PLACES)})\b(?!['\u2019])"
_PLACE_LIST = rf"(?P<places>{_PLACE}(?:(?:,? and|,? or|,| &|/) ?{_PLACE})*+)"

_PAGE = (
    r"(?:(?:web)?page|guidance|guide|publication|document|content|information|advice|policy|"
    r"policy paper|leaflet|fact ?sheet|consultation|article|story|press release|speech|statement|"
    r"form|standard|circular|notice|collection|report|code of practice|transcript|case study|"
    r"manual|service|(?:web)?site)"
)
_SUBJECT = rf"(?:(?:this|the|our) (?:[\w-]+ )??)?{_PAGE}(?: (?:on|in) this {_PAGE})?"
_APPLIES = re.compile(
    rf"(?:{_SUBJECT} (?:only )?|this |it )?"
    r"(?:(?:applies|apply|relates?|available)(?: only)?(?: to| in| for| across| if you live in)?"
    r"|is (?:only )?for|covers|(?:covers|explains|is about|tells you about|relates to) the law in)"
    r"(?: [a-z]+)??(?: living| who (?:live|rent|work))?(?: in)?:? ?"
    rf"(?:only )?{_PLACE_LIST}(?=\W*$|\W*[.;:(\u2013]|,| only| but| -| see\b)"
    rf"|(?:for )?{_PLACE_LIST.replace('places', 'alone')} only\W*$"
)
"""A line that says where the page holds; places that others link to come after a bracket."""

_LABEL = re.compile(rf"(?:{_SUBJECT} |this )?applies (?:to|in):?$")
"""A line whose places are in the next ones."""

_PLACES_ALONE = re.compile(rf"{_PLACE_LIST}\W*$")

_OUT_OF_DATE = (
    r"(?:out of date|no longer (?:in force|in use|current|valid|up to date|updated|"
    r"being updated|maintained|being maintained|applicable))"
    r"(?! (?:after|if|once|unless|until|when)\b)"
)
"""What a document may say of itself about a later day too."""

_GONE = rf"(?:withdrawn|archived|superseded|replaced|rescinded|revoked|retired|{_OUT_OF_DATE})"
_IS_NOW = r"(?:was|is|has been|have been)(?: now)?|has now been"
_WITHDRAWN = re.compile(
    r"\W*(?:(?:warning|important|notice|(?:please )?note|withdrawn|archived(?: content)?)\W+)?"
    rf"(?:(?:(?:the )?{_PAGE} (?:on|in) )?this (?:[\w-]+ ){{0,3}}?{_PAGE}(?: to parliament)? "
    rf"(?:(?:{_IS_NOW}) {_GONE}|no longer applies)\b"
    rf"|we (?:have (?:now )?)?(?:withdrew|withdrawn|archived) this {_PAGE}\b"
    rf"|(?:this is|you(?: a|')re viewing)(?: an?)? archived (?:[\w-]+ )?{_PAGE}\b)"
)
_WITHDRAWN_HEADING = re.compile(
    r"this (?:(?!if|that|what|when|whose)[\w-]+ ){1,8}(?:was|has been) (?:withdrawn|archived)\b"
)
"""A heading may name the page as it likes: "This Welsh language scheme was withdrawn on ..."."""

_WITHDRAWN_TITLE = re.compile(r"[\[(]?(?:withdrawn|archived|superseded)(?:[\])]|\s?[:\u2013-]\s)")
_WITHDRAWN_TAG = re.compile(rf"\W*(?:withdrawn|archived)(?: {_PAGE})?(?:\W*$|:| (?:on )?\d)")

_TAG_REACH = 3
"""Blocks between the title and such a tag."""

_MOST_CHARACTERS = 300
"""Of a note; what is longer is a text."""

_MOST_BEFORE = 60
"""Blocks before the text that are looked at."""


def read_nations(content: Content) -> tuple[str, ...]:
    """Return the nations that the page says it applies to, in `_ALL`'s order; often none."""
    lines = [_folded(block) for block in _around_title(content)]
    for at, line in enumerate(lines, 1):
        places = [*lines[at : at + 1], *takewhile(_PLACES_ALONE.match, lines[at + 1 :])]
        whole = f"applies to {' and '.join(places)}" if _LABEL.match(line) else line
        if nations := nations_of(whole):
            return nations
    return ()


def nations_of(line: str) -> tuple[str, ...]:
    """Return the nations of a *line* such as "Applies to England and Wales (see ...)", or none."""
    found = _APPLIES.match(" ".join(line.lower().split()))
    if not found:
        return ()
    named = re.findall("|".join(_PLACES), found["places"] or found["alone"])
    nations = {nation for name in named for nation in _PLACES[name]}
    return tuple(nation for nation in _ALL if nation in nations)


def is_withdrawn(content: Content, head_title: str) -> bool:
    """Tell whether title or a note beside it say that the page is no longer in force."""
    if _WITHDRAWN_TITLE.match(head_title.lower()):
        return True
    title = content.heading.order if content.heading else -9
    return any(_says_withdrawn(content, block, title) for block in _around_title(content))


def _says_withdrawn(content: Content, block: PageBlock, title: int) -> bool:
    line = _folded(block)
    if block.order == title:
        return _WITHDRAWN_TITLE.match(line) is not None
    if abs(block.order - title) <= _TAG_REACH and _WITHDRAWN_TAG.match(line):
        return True
    if block.tag in HEADING_TAGS and _WITHDRAWN_HEADING.match(line):
        return True
    return _WITHDRAWN.match(line) is not None and not _is_in_text(content, block)


def _is_in_text(content: Content, block: PageBlock) -> bool:
    """Tell whether *block* is a later paragraph that stands among the others."""
    if block.tag in HEADING_TAGS:
        return False
    places = content.page.places
    others = (b for b in content.prose if content.title < b.order < block.order)
    return any(places[b.place].parent == places[block.place].parent for b in others)


def _around_title(content: Content) -> Iterator[PageBlock]:
    """Yield the blocks down to the second paragraph after the title that are short enough."""
    after = [block.order for block in content.prose if block.order > content.title]
    last = after[1] if len(after) > 1 else len(content.page.blocks)
    blocks: Sequence[PageBlock] = content.page.blocks[max(0, last - _MOST_BEFORE) : last + 1]
    return (block for block in blocks if len(block.text) <= _MOST_CHARACTERS)


def _folded(block: PageBlock) -> str:
    return block.text.lower().replace("\u2019", "'")
