"""Does a text repeat itself or the prompt? Small models under a strict schema fall into both."""

from collections import Counter
from functools import lru_cache
from itertools import groupby

from judge.text.english import words

MOST_IN_A_ROW = 3
"""The same word or the same few words, so often one after the other, are no English."""

LONGEST_PHRASE = 40
"""Words of a phrase that is looked for in a row: a long sentence."""

MIN_WORDS = 12
LEAST_VARIETY = 0.25
"""Of a text of so many words, the share that differ: the barest list of guidance has 0.28."""

COPIED_WORDS = 12
"""So many words in a row that stand in our instructions too were copied from there."""


def repeats_itself(text: str) -> bool:
    """Whether a word or phrase of *text* comes three times in a row, or hardly any word is new."""
    found = words(text)
    different = len(set(found))
    if len(found) - different < MOST_IN_A_ROW - 1:
        return False
    if len(found) >= MIN_WORDS and different < LEAST_VARIETY * len(found):
        return True
    return any(_in_a_row(found, size) for size in _periods(found))


def repeats_prompt(text: str, instructions: str) -> bool:
    """Whether twelve words in a row of *text* stand in *instructions*."""
    found = words(text)
    ours = _runs(instructions)
    starts = range(len(found) - COPIED_WORDS + 1)
    return any(tuple(found[at : at + COPIED_WORDS]) in ours for at in starts)


def _periods(found: list[str]) -> set[int]:
    """The sizes of phrases that may follow one another: some word comes thrice, so far apart."""
    if max(Counter(found).values()) < MOST_IN_A_ROW:
        return set()
    last: dict[str, int] = {}
    gaps: list[int] = []
    for at, word in enumerate(found):
        gaps.append(at - last.get(word, at))
        last[word] = at
    return {
        gap for at, gap in enumerate(gaps) if 0 < gap <= LONGEST_PHRASE and gaps[at - gap] == gap
    }


def _in_a_row(found: list[str], size: int) -> bool:
    """Whether the same *size* words follow one another three times."""
    same = (found[at] == found[at + size] for at in range(len(found) - size))
    longest = max((sum(1 for _ in run) for is_same, run in groupby(same) if is_same), default=0)
    return longest >= (MOST_IN_A_ROW - 1) * size


@lru_cache(maxsize=16)
def _runs(instructions: str) -> frozenset[tuple[str, ...]]:
    """Every run of twelve words; remembered, for the instructions hardly ever change."""
    ours = words(instructions)
    starts = range(len(ours) - COPIED_WORDS + 1)
    return frozenset(tuple(ours[at : at + COPIED_WORDS]) for at in starts)
