"""Which rate limits and which values of REDIS_URL are valid."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from judge.settings import Settings
from judge.types.setting_values import MAX_REQUESTS, RedisAddress, parse_rate_limit, parse_redis_url


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


SCHEMES = st.sampled_from(["redis", "rediss", "redis+cluster", "redis+sentinel", "http", ""])
SECRET = "geheim"


@given(SCHEMES, st.text("ab:1@/?#,[]%=. ", max_size=20))
def test_any_text_is_parsed_or_refused_without_the_password(scheme: str, rest: str):
    try:
        address = parse_redis_url(f"{scheme}://:{SECRET}@{rest}")
    except ValueError as error:
        assert SECRET not in str(error)  # noqa: PT017 - most texts raise nothing
    else:
        assert all(url.startswith(("redis://", "rediss://")) for url in address.urls)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("unix:///run/redis.sock?db=1", ("server", ("unix:///run/redis.sock?db=1",), "")),
        ("redis://:6379/2", ("server", ("redis://:6379/2",), "")),
        ("rediss://me:pw@cache", ("server", ("rediss://me:pw@cache/",), "")),
        ("redis+cluster://a:1/0", ("cluster", ("redis://a:1/0",), "")),
        ("redis+sentinel://a,b:2/m/3", ("sentinel", ("redis://a/3", "redis://b:2/3"), "m")),
    ],
)
def test_address_has_a_layout_its_urls_and_perhaps_a_service(url, address):
    assert parse_redis_url(url) == RedisAddress(*address)


@pytest.mark.parametrize(
    "url",
    ["redis://a:0", "redis://a/x", "redis+cluster://a/1", "redis+cluster://a,:2", "tcp://a"],
)
def test_address_without_a_port_name_or_number_is_refused(url):
    with pytest.raises(ValueError, match=r"must be written as redis://.*, with numbers as ports"):
        parse_redis_url(url)


def test_login_and_options_apply_to_every_host():
    address = parse_redis_url("rediss+cluster://me:pw@a:1,[::1]:2?ssl_cert_reqs=none")
    assert address.urls == (
        "rediss://me:pw@a:1/?ssl_cert_reqs=none",
        "rediss://me:pw@[::1]:2/?ssl_cert_reqs=none",
    )


def test_invalid_setting_is_refused_with_an_example():
    with pytest.raises(ValidationError, match="must be written as redis"):
        Settings(REDIS_URL="redis+sentinel://a:26379")
