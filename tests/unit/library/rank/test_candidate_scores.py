"""Which pages are ranked for some disputes, with their scores and reasons: the sum of all weights.

Whether a change of these is for the better is measured by `benchmarks.relevance`. Recorded by
`python -m tests.unit.library.rank.test_candidate_scores`.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from judge.library.dispute import read_dispute
from judge.library.rank.candidates import rank_candidates
from tests.unit.library.rank.test_candidates import PAGES, compiled

TABLE = Path(__file__).parents[3] / "fixtures" / "candidate_scores.txt"
HEADED = [
    replace(page, passages=tuple((f"{page.title} {n}", text) for n, (_, text) in told))
    for page in PAGES
    for told in [list(enumerate(page.passages))]
]


def measured(disputes: list[str]) -> Iterator[str]:
    """Each dispute, and under it the pages with their passage, score and reasons."""
    index = compiled(HEADED)
    for row in disputes:
        yield row
        domain, context, query = (cell.strip() for cell in row.split("|"))
        for found in rank_candidates(index, read_dispute(context, query), domain):
            name = found.page.url.rpartition("/")[2]
            yield f"  {name} {found.passage} {found.score:.3f}"
            for reason in found.reasons:
                yield f"    {reason.kind} {reason.shown!r} {reason.score:.3f}"


def disputes(recorded: list[str]) -> list[str]:
    return [row for row in recorded if not row.startswith(" ")]


def test_pages_are_ranked_with_the_recorded_scores_and_reasons() -> None:
    recorded = TABLE.read_text(encoding="utf-8").splitlines()
    assert list(measured(disputes(recorded))) == recorded


if __name__ == "__main__":
    rows = measured(disputes(TABLE.read_text(encoding="utf-8").splitlines()))
    TABLE.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
