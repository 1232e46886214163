"""Terms that must weigh enough together -> a tree of and/or, which every engine can ask.

As Lucene's minimum should match, but each term counts by its weight.
"""

from collections.abc import Sequence

Disjunction = list[tuple[str, "Disjunction | None"]]
"""True where one branch is: its term is there and, if something follows it, that is true."""


def minimum_should_match(weighted: Sequence[tuple[int, str]], minimum: int) -> Disjunction:
    """The tree for terms of *weighted* (heaviest first, all above 0) to weigh *minimum* at least.

    The heaviest term and enough of the rest, or enough of the rest without it. No branches when
    all together are too little. Its size doubles with each term: six are meant.
    """
    branches: Disjunction = []
    for position, (weight, term) in enumerate(weighted):
        if sum(w for w, _ in weighted[position:]) < minimum:
            break
        rest = weighted[position + 1 :]
        more = minimum_should_match(rest, minimum - weight) if weight < minimum else None
        branches.append((term, more))
    return branches
