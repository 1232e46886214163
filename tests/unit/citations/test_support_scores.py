"""How far each sentence of a pair supports the other, in figures: the effect of all weights.

A change of a weight, of the words or of the reading shows here at once; whether it is for the
better is measured by `benchmarks.quality`. Recorded by
`python -m tests.unit.citations.test_support_scores`.
"""

from pathlib import Path

from judge.citations.support import support

TABLE = Path(__file__).parents[2] / "fixtures" / "support_scores.txt"


def scored(claim: str, source: str) -> str:
    found = support(claim, [source])
    score = "-" if found.score is None else f"{found.score:.3f}"
    return f"{score}{'!' if found.contradicts else ''}"


def measured(row: str) -> str:
    """Forth and back; `!` where one contradicts the other, `-` where there are too few words."""
    _, one, other = (cell.strip() for cell in row.split("|"))
    return f"{scored(other, one)} {scored(one, other)} | {one} | {other}"


def test_each_pair_has_its_recorded_support() -> None:
    recorded = TABLE.read_text(encoding="utf-8").splitlines()
    assert [measured(row) for row in recorded] == recorded


if __name__ == "__main__":
    rows = TABLE.read_text(encoding="utf-8").splitlines()
    TABLE.write_text("".join(f"{measured(row)}\n" for row in rows), encoding="utf-8")
