"""The syntax of a rate limit."""

import pytest

from judge.settings import Settings
from judge.types.limits import MAX_REQUESTS, parse_rate_limit


@pytest.mark.parametrize(
    ("text", "requests", "window_s"),
    [
        ("60/minute", 60, 60),
        (" 5 / Second ", 5, 1),
        ("1000/hour", 1000, 3600),
        ("1/day", 1, 86400),
        (f"{MAX_REQUESTS}/day", 1_000_000_000, 86400),
    ],
)
def test_rate_limit_is_a_number_and_a_unit(text, requests, window_s):
    limit = parse_rate_limit(text)
    assert limit
    assert (limit.requests, limit.window_s) == (requests, window_s)
    assert Settings(JUDGE_RATE_LIMIT=text).rate_limit == text.strip()


def test_off_means_no_limit():
    assert parse_rate_limit(" OFF ") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "60",
        "60/week",
        "/minute",
        "0/minute",
        "-1/minute",
        "1.5/hour",
        f"{MAX_REQUESTS + 1}/day",
    ],
)
def test_invalid_rate_limit_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="must be a number") as caught:
        parse_rate_limit(text)
    assert str(caught.value) == (
        "must be a number and one of second, minute, hour, day, as in 60/minute, "
        "or off for no limit"
    )


def test_the_largest_rate_is_allowed():
    limit = parse_rate_limit(f"{MAX_REQUESTS}/day")
    assert limit
    assert limit.requests == MAX_REQUESTS
