"""Tells whether a text repeats itself or the prompt, as small models with strict schemas do."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from judge.text.english import words

MIN_REPEATS = 3
"""A word or phrase repeated this many times in direct succession is not English."""

MAX_PHRASE_WORDS = 40
"""Words of the longest phrase whose repetition is looked for: a long sentence."""

MIN_WORDS = 12
MIN_DISTINCT_SHARE = 0.25
"""Least share of distinct words in a text of `MIN_WORDS`: the barest list of guidance has 0.28."""

RUN_WORDS = 12
"""A run of this many words that is in our instructions too was copied from there."""


def repeats_itself(tokens: Sequence[str]) -> bool:
    """Whether a word or phrase comes three times in a row, or hardly any words are distinct."""
    distinct = len(set(tokens))
    if len(tokens) - distinct < MIN_REPEATS - 1:
        return False
    if len(tokens) >= MIN_WORDS and distinct < MIN_DISTINCT_SHARE * len(tokens):
        return True
    return any(_is_repeated(tokens, size) for size in set(_periods(tokens)))


def repeats_prompt(tokens: Sequence[str], instructions: str) -> bool:
    """Whether a run of twelve *tokens* of a text is in *instructions* too."""
    return len(tokens) >= RUN_WORDS and not _run_hashes(instructions).isdisjoint(_hash_runs(tokens))


def _periods(tokens: Sequence[str]) -> Iterator[int]:
    """The lengths of phrases that may repeat: distances at which a word recurs twice running."""
    last: dict[str, int] = {}
    gaps: dict[str, int] = {}
    for at, word in enumerate(tokens):
        gap = at - last.get(word, at)
        if 0 < gap <= MAX_PHRASE_WORDS and gap == gaps.get(word):
            yield gap
        last[word], gaps[word] = at, gap


def _is_repeated(tokens: Sequence[str], size: int) -> bool:
    """Whether a phrase of *size* words comes three times in direct succession."""
    same = (tokens[at] == tokens[at + size] for at in range(len(tokens) - size))
    # Never empty: `_periods` found a word that recurs at this distance.
    longest = max(sum(1 for _ in run) for is_same, run in groupby(same) if is_same)
    return longest >= (MIN_REPEATS - 1) * size


@lru_cache(maxsize=32)
def _run_hashes(instructions: str) -> frozenset[int]:
    """The runs of twelve words; cached, since the instructions hardly ever change."""
    return frozenset(_hash_runs(words(instructions)))


def _hash_runs(tokens: Sequence[str]) -> Iterator[int]:
    """The hash of each run of twelve words, which takes a quarter of the memory of the words."""
    return map(hash, zip(*(tokens[at:] for at in range(RUN_WORDS)), strict=False))
