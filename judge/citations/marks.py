"""Finds the citation marks in a text: `[1]`, `[1, 3]`, `[1-3]`, `【1】`, and `<cite i="1"/>`.

Any bracket of any script with a digit in it, and anything that begins like a `<cite` tag, is either
parsed exactly or reported as malformed: a mark never maps to a wrong source, and no citation in an
odd form goes unnoticed. Takes linear time.
"""

import re
from typing import Final, NamedTuple

from judge.text.brackets import PLAIN_MARK, numbered_brackets
from judge.text.english import fold_space

_PAIRS: Final = frozenset({"[]", "【】", "［］", "〔〕"})
"""The brackets of well-formed citations; models use them all."""

_LIST_SEPARATOR: Final = re.compile(r" ?(?:[,;，；、&]|\band\b) ?")
_NUMBER: Final = re.compile(r"\d{1,6}")
_RANGE: Final = re.compile(r"(\d{1,6}) ?[-‐‑‒–—―−~] ?(\d{1,6})")
_MAX_RANGE: Final = 20
"""Numbers in a range, more than any prompt has references: a longer range is malformed."""

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
"""Every bare citation contains one of these."""


class Mark(NamedTuple):
    """One bracket or tag with the numbers it cites, in order; none if it is malformed."""

    numbers: tuple[int, ...]
    start: int
    end: int
    text: str

    @property
    def is_malformed(self) -> bool:
        """Whether it has none of the forms that are understood."""
        return not self.numbers


def find_marks(text: str) -> list[Mark]:
    """Every bracket of *text* with a digit in it, in order, well formed or not."""
    return [
        Mark(
            # Folding white space first keeps the patterns linear.
            _numbers(fold_space(bracket.text[1:-1]))
            if bracket.is_plain and bracket.text[0] + bracket.text[-1] in _PAIRS
            else (),
            bracket.start,
            bracket.end,
            bracket.text,
        )
        for bracket in numbered_brackets(text)
    ]


def find_cite_marks(text: str) -> list[Mark]:
    """Every `<cite i="n"/>` of *text*, in order, well formed or not."""
    return [
        Mark(_cite_numbers(match[0]), match.start(), match.end(), match[0])
        for match in _CITE.finditer(text)
    ]


def find_bare_citations(text: str) -> list[str]:
    """Citations outside the brackets that are understood: `(9).`, `ref. 9`, `word⁹`.

    Parentheses count only at the end of a clause, since elsewhere they number list items, and not
    after a number, where they are subsections.
    """
    if not _FIGURE.search(PLAIN_MARK.sub("", text)):
        return []
    return [match.group() for match in _BARE.finditer(text)]


def _cite_numbers(tag: str) -> tuple[int, ...]:
    named = _CITE_NUMBER.fullmatch(tag)
    return (int(named[2]),) if named else ()


def _numbers(body: str) -> tuple[int, ...]:
    """The distinct numbers of `1, 3` or `1-3`; none if any part is something else."""
    if _NUMBER.fullmatch(body):
        return (int(body),)  # nearly always; splitting is slower
    numbers: dict[int, None] = {}
    for part in _LIST_SEPARATOR.split(body):
        span = _RANGE.fullmatch(part)
        if _NUMBER.fullmatch(part):
            numbers[int(part)] = None
        elif span:
            first, last = int(span.group(1)), int(span.group(2))
            if not first <= last < first + _MAX_RANGE:
                return ()
            numbers.update(dict.fromkeys(range(first, last + 1)))
        else:
            return ()
    return tuple(numbers)
