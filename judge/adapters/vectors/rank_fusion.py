"""Several rankings of the same things -> one, by reciprocal rank: scores need not compare.

Cormack, Clarke and Büttcher, SIGIR 2009; with Qdrant's constant, so that both engines rank alike.
"""

from collections.abc import Sequence

RANK_CONSTANT = 2
"""The first of a ranking counts 1/2, the next 1/3: Qdrant's default, not the paper's 60."""


def share(rank: int) -> float:
    """What a place counts; *rank* is from 0."""
    return 1 / (rank + RANK_CONSTANT)


def fuse(rankings: Sequence[Sequence[str]]) -> list[tuple[str, float]]:
    """All names in *rankings*, best first, each with its score; of equals the first ranking's."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, name in enumerate(ranking):
            scores[name] = scores.get(name, 0.0) + share(rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])
