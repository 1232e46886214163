"""Find the citation marks in a reply's text: `[1]`, `[1, 3]`, `[1-3]`, `【1】`.

Whatever a model may mean by a bracket with a number in it, it is either understood exactly or
reported as malformed: a mark never maps to another source. Linear in the length of the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from judge.text.english import fold_space

_OPEN, _CLOSE = r"[\[【［〔]", r"[\]】］〕]"
_BRACKET = re.compile(rf"{_OPEN}([^\[\]【】［］〔〕]*){_CLOSE}")
_LIST_SEPARATOR = re.compile(r" ?(?:[,;，；、&]|\band\b) ?")
_ONE = re.compile(r"\d{1,6}")
_RANGE = re.compile(r"(\d{1,6}) ?[-‐‑‒–—―−~] ?(\d{1,6})")
_PUNCTUATION = r"\s.,;&#^*+†‡~〜\-‐‑‒–—―−、，；()"
_DIGIT = r"\d⁰¹²³⁴-⁹₀-₉①-⑳"
_LOOKS_LIKE_A_MARK = re.compile(
    rf"""
    [{_PUNCTUATION}:]*
    (?:(?:refs?|references?|sources?|cit(?:e|ation)s?|nos?|n)\b[\s.:\#]*)?  # what is numbered
    [-−+]?[{_DIGIT}]
    [{_DIGIT}{_PUNCTUATION}]*                # nothing but numbers and punctuation follows
    (?:\band\b[\s\d.,;]*)*
    (?:(?::\d+)?†.*)?                      # `1†source` and `4:0†file`, as some models write
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_LONGEST_RANGE = 20
"""More numbers than any prompt has references: a longer range is a defect, not a list."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One bracket: the numbers it cites in order, or none when it is malformed."""

    numbers: tuple[int, ...]
    start: int
    end: int
    text: str

    @property
    def is_malformed(self) -> bool:
        """Whether the bracket has a number in it but names no reference."""
        return not self.numbers


def find_marks(text: str) -> list[Mark]:
    """Every citation mark of *text* in order, well formed or not; other brackets are prose."""
    return list(_marks(text))


def _marks(text: str) -> Iterator[Mark]:
    for match in _BRACKET.finditer(text):
        # Folding first keeps every pattern below linear: no run of spaces is longer than one.
        body = fold_space(match.group(1))
        numbers = _numbers(body)
        if numbers or _LOOKS_LIKE_A_MARK.fullmatch(body):
            yield Mark(numbers, match.start(), match.end(), match.group())


def _numbers(body: str) -> tuple[int, ...]:
    """The numbers of `1, 3` or `1-3`, each once, or none if any part is something else."""
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
