"""Find the citation marks in a text: `[1]`, `[1, 3]`, `[1-3]`, `【1】`, and `<cite i="1"/>`.

Any bracket of any script that holds a digit is either understood exactly or reported as
malformed, whatever else is written in it: a mark never maps to another source, and no citation
leaves in another dress. So it is with whatever begins as a `<cite` tag. Linear in the length of the
text.
"""

import re
from typing import Final, NamedTuple

from judge.text.brackets import PLAIN_MARK, numbered_brackets
from judge.text.english import fold_space

_PAIRS: Final = frozenset({"[]", "【】", "［］", "〔〕"})
"""What a citation is written in; models use them all."""

_LIST_SEPARATOR: Final = re.compile(r" ?(?:[,;，；、&]|\band\b) ?")
_ONE: Final = re.compile(r"\d{1,6}")
_RANGE: Final = re.compile(r"(\d{1,6}) ?[-‐‑‒–—―−~] ?(\d{1,6})")
_LONGEST_RANGE: Final = 20
"""More numbers than any prompt has references: a longer range is a defect, not a list."""

_CITE: Final = re.compile(r"<cite\b[^<>]{0,200}>?", re.IGNORECASE)
_CITE_NUMBER: Final = re.compile(r"<cite\s+i\s*=\s*([\"']?)(\d{1,6})\1\s*/?>", re.IGNORECASE)

_BARE: Final = re.compile(
    # (9). but neither 21(1). nor section 21 (1).
    r"(?<![\d)])(?<![\d)]\s)[(（][\s_*'\"#^]*(?:see\s)?\d{1,3}(?:\s*[,;/&–-]\s*\d{1,3})*[\s_*'\"]*[)）]"
    r"(?=[\s_*]*(?:[.,;:!?…]|$))"
    r"|\b(?:refs?|references?|sources?|citations?|footnotes?)\b[.:#]?\s{0,3}(?:nos?\.?\s?|numbers?\s|#)?\d{1,3}\b"
    # word⁹ and "word."⁹, but not m²
    r"|(?:(?<=[.,;:!?\"”’')\]])|(?<=[^\W\d_]{3})|(?<=\s))[⁰¹²³⁴-⁹]{1,3}(?!\w)"
    r"|[①-⒛⓪-⓿❶-➓]|\d\ufe0f?\u20e3|\^\d{1,3}\b|[\]】］〕][-–—/,;]?\d{1,3}\b",
    re.IGNORECASE,
)


_FIGURE: Final = re.compile(r"[\d⁰¹²³⁴-⁹①-⒛⓪-⓿❶-➓]")
"""What all of these hold, beside plain marks."""


class Mark(NamedTuple):
    """One bracket or tag: the numbers it cites in order, or none when it is malformed."""

    numbers: tuple[int, ...]
    start: int
    end: int
    text: str

    @property
    def is_malformed(self) -> bool:
        """Whether it is a citation that names no reference in one of our forms."""
        return not self.numbers


def find_marks(text: str) -> list[Mark]:
    """Every bracket of *text* that holds a digit, in order, well formed or not."""
    return [
        Mark(
            # Folding first keeps every pattern linear: no run of spaces is longer than one.
            _numbers(fold_space(found.text[1:-1]))
            if found.is_plain and found.text[0] + found.text[-1] in _PAIRS
            else (),
            found.start,
            found.end,
            found.text,
        )
        for found in numbered_brackets(text)
    ]


def find_cite_marks(text: str) -> list[Mark]:
    """Every `<cite i="n"/>` of *text*, in order, well formed or not."""
    return [
        Mark(_cite_numbers(found[0]), found.start(), found.end(), found[0])
        for found in _CITE.finditer(text)
    ]


def find_bare_citations(text: str) -> list[str]:
    """What reads as a citation though it stands in no bracket of ours: `(9).`, `ref. 9`, `word⁹`.

    Parentheses count only at the end of a clause, elsewhere they number the points of a list; and
    not after a number, where they count subsections.
    """
    if not _FIGURE.search(PLAIN_MARK.sub("", text)):
        return []
    return [found.group() for found in _BARE.finditer(text)]


def _cite_numbers(tag: str) -> tuple[int, ...]:
    named = _CITE_NUMBER.fullmatch(tag)
    return (int(named[2]),) if named else ()


def _numbers(body: str) -> tuple[int, ...]:
    """The numbers of `1, 3` or `1-3`, each once, or none if any part is something else."""
    if _ONE.fullmatch(body):
        return (int(body),)  # as nearly always, and splitting takes a while
    found: dict[int, None] = {}
    for part in _LIST_SEPARATOR.split(body):
        span = _RANGE.fullmatch(part)
        if _ONE.fullmatch(part):
            found[int(part)] = None
        elif span:
            first, last = int(span.group(1)), int(span.group(2))
            if not first <= last < first + _LONGEST_RANGE:
                return ()
            found.update(dict.fromkeys(range(first, last + 1)))
        else:
            return ()
    return tuple(found)
