"""Words that must weigh enough together -> a tree of and/or, which every engine can ask."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnyOf:
    """True where one branch is: its word is there and, if something follows it, that is true."""

    branches: tuple[tuple[str, "AnyOf | None"], ...]


def reaching(weighed: Sequence[tuple[int, str]], needed: int) -> AnyOf:
    """The tree for words of *weighed* (heaviest first, all above 0) to weigh *needed* at least.

    The heaviest word and enough of the rest, or enough of the rest without it. No branches when
    all together are too little. Its size doubles with each word: six are meant.
    """
    branches: list[tuple[str, AnyOf | None]] = []
    for position, (weight, word) in enumerate(weighed):
        if sum(w for w, _ in weighed[position:]) < needed:
            break
        rest = weighed[position + 1 :]
        branches.append((word, reaching(rest, needed - weight) if weight < needed else None))
    return AnyOf(tuple(branches))
