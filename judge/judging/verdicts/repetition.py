"""Does a text repeat itself or the prompt? Small models under a strict schema fall into both."""

from collections.abc import Iterator, Sequence
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


def repeats_itself(found: Sequence[str]) -> bool:
    """Whether of the words of a text some come three times in a row, or hardly any is new."""
    different = len(set(found))
    if len(found) - different < MOST_IN_A_ROW - 1:
        return False
    if len(found) >= MIN_WORDS and different < LEAST_VARIETY * len(found):
        return True
    return any(_in_a_row(found, size) for size in set(_periods(found)))


def repeats_prompt(found: Sequence[str], instructions: str) -> bool:
    """Whether twelve words in a row of those *found* in a text stand in *instructions*."""
    return len(found) >= COPIED_WORDS and not _runs(instructions).isdisjoint(_in_runs(found))


def _periods(found: Sequence[str]) -> Iterator[int]:
    """The sizes of phrases that may follow one another: some word comes thrice, so far apart."""
    last: dict[str, int] = {}
    gaps: dict[str, int] = {}
    for at, word in enumerate(found):
        gap = at - last.get(word, at)
        if 0 < gap <= LONGEST_PHRASE and gap == gaps.get(word):
            yield gap
        last[word], gaps[word] = at, gap


def _in_a_row(found: Sequence[str], size: int) -> bool:
    """Whether the same *size* words follow one another three times."""
    same = (found[at] == found[at + size] for at in range(len(found) - size))
    # Never empty: some word comes again so far on.
    longest = max(sum(1 for _ in run) for is_same, run in groupby(same) if is_same)
    return longest >= (MOST_IN_A_ROW - 1) * size


@lru_cache(maxsize=32)
def _runs(instructions: str) -> frozenset[int]:
    """Every run of twelve words; remembered, for the instructions hardly ever change."""
    return frozenset(_in_runs(words(instructions)))


def _in_runs(found: Sequence[str]) -> Iterator[int]:
    """The hash of each run, a quarter of the memory of its words."""
    return map(hash, zip(*(found[at:] for at in range(COPIED_WORDS)), strict=False))
