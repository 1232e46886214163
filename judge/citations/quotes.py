"""Is a quotation really in the reference it is said to come from?

Exact after folding white space, quotation marks and dashes: `verified`. Nearly, and with nothing
changed that changes the meaning: `repaired`, with the page's own words put in. Else `unverified`.
"""

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from judge.text.english import fold_space, words
from judge.types.judgements import QuoteStatus

MIN_WORDS = 3
"""A quote of fewer words can be found in almost any text, so it shows nothing."""

MIN_WORDS_TO_REPAIR = 5
MIN_SIMILARITY = 90.0
"""Of 100, rapidfuzz's indel similarity. Fuzzy matching alone is too kind: a dropped "not" scores
90 and "24 hours" for "14 hours" 98, hence the guard on numbers and negations."""

_LONGEST_QUOTE = 2
"""Times the length of the reference; spaces may be folded away, but nobody doubles a text."""

# Each of one character, so that a place in the folded text is the same place in the original.
_FOLDS = str.maketrans(
    dict.fromkeys("‘’‚‛′`´ʼ", "'") | dict.fromkeys("“”„‟″«»", '"') | dict.fromkeys("‐‑‒–—―−⁃", "-")
)
_OUTER = " \t\n\"'.…,;:"
_NUMBER_WORDS = frozenset(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
    hundred thousand million first second third fourth fifth half quarter once twice double
    """.split()
)
_NEGATIONS = frozenset(
    """
    no not never none nobody nothing neither nor without cannot unless except hardly rarely
    """.split()
)
_MODALS = frozenset("must may might should shall can could will would need only".split())
"""Changing "may" into "must" changes who is in the right as surely as a "not" does."""

_NOT = "not"
_NEGATIVE_PREFIX = re.compile(r"(?:un|in|im|il|ir|non|dis|mis)(?=\w{3})")
_TOKEN = re.compile(r"[£$€]?\d[\d.,:/]*%?|[^\W\d_]+(?:'[^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class CheckedQuote:
    """How a quote fared, and the page's own words for it (None when they are not there)."""

    status: QuoteStatus
    text: str | None


UNVERIFIED = CheckedQuote("unverified", None)


def check_quote(quote: str, reference: str) -> CheckedQuote:
    """Look *quote* up in *reference*, whose white space is folded in what is returned.

    Time is linear in the reference for any quote.
    """
    if len(quote) > _LONGEST_QUOTE * len(reference):
        return UNVERIFIED
    reference = fold_space(reference)
    page = reference.translate(_FOLDS)
    wanted = fold_space(quote).translate(_FOLDS).strip(_OUTER)
    if len(words(wanted)) < MIN_WORDS or len(wanted) > len(page):
        return UNVERIFIED
    start = _find_whole_words(wanted, page)
    if start >= 0:
        return CheckedQuote("verified", reference[start : start + len(wanted)])
    found = _find_nearly(wanted, page)
    if found is None or _meaning_differs(wanted, page[found]):
        return UNVERIFIED
    return CheckedQuote("repaired", reference[found])


def _find_nearly(wanted: str, page: str) -> slice | None:
    """Where nearly the words of *wanted* stand in *page*, as whole words."""
    if len(words(wanted)) < MIN_WORDS_TO_REPAIR:
        return None
    near = fuzz.partial_ratio_alignment(wanted, page, score_cutoff=MIN_SIMILARITY - 10)
    if near is None:
        return None
    start, end = _whole_words(page, near.dest_start, near.dest_end)
    found = page[start:end].strip(_OUTER)
    if fuzz.ratio(wanted.lower(), found.lower()) < MIN_SIMILARITY:
        return None
    start = page.index(found, start)
    return slice(start, start + len(found))


def _find_whole_words(wanted: str, page: str) -> int:
    """Where *wanted* stands in *page* without cutting a word ("able" is not in "unable")."""
    at = page.find(wanted)
    while at >= 0:
        if _whole_words(page, at, at + len(wanted)) == (at, at + len(wanted)):
            return at
        at = page.find(wanted, at + 1)
    return -1


def _whole_words(page: str, start: int, end: int) -> tuple[int, int]:
    """The stretch widened until it cuts no word in half."""
    while 0 < start < len(page) and page[start - 1].isalnum() and page[start].isalnum():
        start -= 1
    while 0 < end < len(page) and page[end - 1].isalnum() and page[end].isalnum():
        end += 1
    return start, end


def _meaning_differs(quote: str, found: str) -> bool:
    """Whether a number, a negation or an obligation is not the same, and in the same place."""
    ours, theirs = _tokens(quote), _tokens(found)
    changes = Indel.editops(ours, theirs)
    gone = {ours[change.src_pos] for change in changes if change.tag == "delete"}
    put_in = {theirs[change.dest_pos] for change in changes if change.tag == "insert"}
    if any(_is_guarded(token) for token in gone | put_in):
        return True
    return _negates(gone, put_in) or _negates(put_in, gone)


def _tokens(text: str) -> list[str]:
    """The words and numbers in lower case; every negation counts as the same one."""
    tokens = (token.strip(".,:/") for token in _TOKEN.findall(text.lower()))
    return [_NOT if _is_negation(token) else token for token in tokens]


def _is_guarded(token: str) -> bool:
    return (
        token == _NOT
        or token in _NUMBER_WORDS
        or token in _MODALS
        or any(character.isdigit() for character in token)
    )


def _is_negation(token: str) -> bool:
    return token in _NEGATIONS or token.endswith("n't")


def _negates(one: AbstractSet[str], other: AbstractSet[str]) -> bool:
    """Whether a word of *one* is a word of *other* with a negative prefix (unlawful, lawful)."""
    return any(
        (prefix := _NEGATIVE_PREFIX.match(token)) is not None and token[prefix.end() :] in other
        for token in one
    )
