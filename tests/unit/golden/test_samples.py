"""Rates, intervals and states; stored results; costs; changes between two runs."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from judge.errors import ConfigurationError
from judge.golden.rates import newcombe, paired, wilson
from judge.golden.reports import compare_runs
from judge.golden.results import (
    CaseScore,
    Price,
    Prices,
    by_case,
    cost_of,
    read_prices,
)
from judge.types.replies import Usage
from tests.unit.golden.material import sample

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(0, 0, 0.0, 1.0), (81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_interval_of_a_rate_is_wilsons(hits: int, of: int, low: float, high: float) -> None:
    spread = wilson(hits, of)
    assert (round(spread.low, 4), round(spread.high, 4)) == (low, high)


@pytest.mark.parametrize(
    ("before", "after", "low", "high"),
    [((48, 80), (56, 70), 0.0524, 0.3339), ((0, 10), (10, 10), 0.6075, 1.0)],
)
def test_interval_of_a_change_is_newcombes(before, after, low, high) -> None:
    spread = newcombe(before, after)
    assert (round(spread.low, 4), round(spread.high, 4)) == (low, high)


@pytest.mark.parametrize(
    ("rates", "better", "worse", "p"),
    [
        ([(1.0, 1.0)] * 5, 0, 0, 1.0),
        ([(0.0, 1.0)] * 6 + [(1.0, 1.0)] * 4, 6, 0, 0.03125),
        ([(0.0, 1.0)] * 9 + [(1.0, 0.0)] * 2, 9, 2, 0.0654),
        ([(0.4, 0.6)], 1, 0, 1.0),
    ],
)
def test_paired_difference_is_mcnemars_with_a_bootstrap(rates, better, worse, p) -> None:
    found = paired(rates)
    assert (found.better, found.worse, round(found.p, 4)) == (better, worse, round(p, 4))
    assert found.interval.low <= found.change <= found.interval.high
    assert ("clear" in str(found)) == (found.p < 0.05)


def samples(passed: int, failed: int, unscored: int, floor: float = 0.5) -> CaseScore:
    found = [sample(floor=floor) for _ in range(passed)]
    found += [sample(floor=floor, failed=("domain",)) for _ in range(failed)]
    found += [sample(floor=floor, reason="down") for _ in range(unscored)]
    return by_case(found)["boiler"]


@pytest.mark.parametrize(
    ("score", "state"),
    [
        (samples(1, 0, 0, floor=1), "passed"),
        (samples(9, 1, 0, floor=1), "failed"),
        (samples(9, 1, 0, floor=0.9), "passed"),
        (samples(0, 0, 3), "unscored"),
        (samples(2, 0, 1), "passed"),
        (samples(1, 1, 1), "unscored"),
        (samples(0, 3, 1), "failed"),
    ],
)
def test_case_passes_if_its_rate_reaches_its_floor_whatever_unscored_answers_were(
    score: CaseScore, state: str
) -> None:
    assert score.state == state


def test_thinking_is_priced_as_output_and_what_was_cached_as_the_table_says() -> None:
    found = [sample(model="m", usage=Usage(1_000_000, 200_000, 300_000)), sample()]
    prices = Prices(currency="GBP", models={"m": (Price(input=0.5, output=4),)})
    assert cost_of(found, prices) == 2.5
    assert cost_of(found, Prices()) is None
    assert cost_of([], Prices()) == 0.0
    usage = Usage(1_000_000, 0, 0, cached_tokens=500_000)
    assert Price(input=2, output=9).of(usage) == 2.0
    assert Price(input=2, output=9, cached=1).of(usage) == 1.5


def test_prices_are_read_and_mistakes_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    assert read_prices(path) == Prices()
    path.write_text(
        "[[models.m]]\ninput = 1\noutput = 1\n"
        "[[models.m]]\nsince = 2027-01-01\ninput = 2\noutput = 2\n"
    )
    for day, cost in (
        (datetime(2026, 12, 31, tzinfo=UTC), 1),
        (datetime(2027, 1, 1, tzinfo=UTC), 2),
    ):
        run = [sample(model="m", usage=Usage(1_000_000), at=day)]
        assert cost_of(run, read_prices(path)) == cost
    path.write_text("[models.m]\ninput = -1\noutput = 1\n")
    with pytest.raises(ConfigurationError, match=r"prices\.toml .*: models\.m\.0\.input"):
        read_prices(path)
    path.write_text("[models")
    with pytest.raises(ConfigurationError, match="cannot be used"):
        read_prices(path)


def test_changes_are_ordered_worst_first_and_marked_if_significant() -> None:
    def many(case: str, passed: int, of: int) -> list:
        failed = [() if n < passed else ("domain",) for n in range(of)]
        return [sample(case, number=n, failed=failed[n], is_live=True) for n in range(of)]

    before = [*many("down", 20, 20), *many("shaky", 5, 10), *many("up", 0, 10), *many("old", 1, 1)]
    after = [*many("down", 2, 20), *many("shaky", 4, 10), *many("up", 9, 10), *many("fresh", 1, 1)]
    before += [sample("lost"), *many("even", 1, 1)]
    after += [sample("lost", reason="down"), *many("even", 1, 1)]
    changes = compare_runs(before, after)
    assert [(change.name, change.direction) for change in changes] == [
        ("down", "worse"), ("shaky", "worse"), ("old", "gone"), ("lost", "unscored"),
        ("up", "better"), ("fresh", "new"), ("even", "same"),
    ]  # fmt: skip
    spans = {change.name: change.interval for change in changes if change.interval}
    assert list(spans) == ["down", "shaky", "up", "even"]
    assert spans["down"].high < 0 < spans["up"].low
    assert spans["shaky"].low < 0 < spans["shaky"].high
