"""How far each sentence of a pair carries the other, in figures: what all weights come to.

A change of a weight, of the words or of the reading shows here at once; whether it is for the
better is measured by `benchmarks.quality`. The right figures then go into `support_scores.txt`.
"""

from pathlib import Path

from judge.citations.support import support

TABLE = Path(__file__).parents[2] / "fixtures" / "support_scores.txt"


def scored(claim: str, source: str) -> str:
    found = support(claim, [source])
    score = "-" if found.score is None else f"{found.score:.3f}"
    return f"{score}{'!' if found.contradicts else ''}"


def test_each_pair_is_carried_as_far_as_recorded() -> None:
    """Forth and back; `!` where one contradicts the other, `-` where there are too few words."""
    recorded = TABLE.read_text(encoding="utf-8").splitlines()
    found = []
    for line in recorded:
        _, one, other = (cell.strip() for cell in line.split("|"))
        found.append(f"{scored(other, one)} {scored(one, other)} | {one} | {other}")
    assert found == recorded
