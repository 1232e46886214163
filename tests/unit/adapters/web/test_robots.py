"""The rules of robots.txt, and how long they are cached."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.adapters.web import robots
from judge.adapters.web.robots import PRODUCT, RobotsCache, parse_robots
from judge.errors import FetchError

ORIGIN = "https://example.org"
PAGE = f"{ORIGIN}/private/page"
REFUSING = "User-agent: *\nDisallow: /private/\n"


def status(number: int) -> FetchError:
    return FetchError("status", f"example.org answered with status {number}.", number)


def allows(text: str, url: str = PAGE) -> bool:
    return parse_robots(text).can_fetch(url, PRODUCT)


class Site:
    """Answers for robots.txt with what is set, and counts."""

    def __init__(self, reply: str | Exception) -> None:
        self.reply = reply
        self.calls: list[str] = []

    async def __call__(self, url: str) -> str:
        self.calls.append(url)
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


class Time:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


async def refusal(cache: RobotsCache, url: str = PAGE) -> str:
    """The reason why *url* is refused, or nothing."""
    try:
        await cache.check(httpx.URL(url))
    except FetchError as error:
        return error.reason
    return ""


@pytest.mark.parametrize(
    ("text", "is_allowed"),
    [
        ("", True),
        ("User-agent: *\nDisallow: /private/", False),
        ("User-agent: *\nDisallow: /private/\nAllow: /private/page", True),
        ("User-agent: Judge\nDisallow: /", False),
        ("user-agent: JUDGE/1.0\ndisallow: /", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: judge\nDisallow: /other", True),
        ("User-agent: Googlebot\nUser-agent: Judge\nDisallow: /private", False),
        ("User-agent: Googlebot\nDisallow: /", True),
        ("User-agent: j\nDisallow: /", True),
        ("User-agent: judgement-bot\nDisallow: /", True),
        ("User-agent: # nobody\nDisallow: /", True),
        ("User-agent: *  # all\nDisallow: /*/page$", False),
        ("<!doctype html><p>Not found</p>", True),
    ],
)
def test_rules_for_our_product_token_apply(text, is_allowed):
    assert allows(text) is is_allowed


@given(st.text(st.sampled_from("user-agent: *disallow/$#%\n\r\t?&=jéZ0\x00\u2028"), max_size=300))
def test_any_robots_text_can_be_read(text):
    assert allows(text) in {True, False}


@pytest.mark.timeout(30)
def test_many_agents_above_many_rules_do_not_multiply():
    agents = "".join(f"User-agent: bot{number}\n" for number in range(12_000))
    rules = "".join(f"Disallow: /{number}\n" for number in range(12_000))
    assert allows(agents + rules)


async def test_origin_is_requested_once_an_hour():
    site, time = Site(REFUSING), Time()
    cache = RobotsCache(site, time)
    assert await refusal(cache) == "robots"
    assert not await refusal(cache, f"{ORIGIN}/open")
    time.now_s = robots.RULES_TTL_S - 1
    await refusal(cache)
    assert site.calls == [f"{ORIGIN}/robots.txt"]
    time.now_s = robots.RULES_TTL_S
    await refusal(cache)
    assert len(site.calls) == 2


@pytest.mark.parametrize("number", [400, 401, 403, 404, 410])
async def test_without_a_robots_txt_everything_is_allowed(number):
    assert not await refusal(RobotsCache(Site(status(number))))


async def test_too_many_redirects_count_as_no_robots_txt():
    assert not await refusal(RobotsCache(Site(FetchError("redirects", "too many"))))


@pytest.mark.parametrize(
    "reply", [status(500), status(503), FetchError("encoding", "br"), TimeoutError()]
)
async def test_rules_that_cannot_be_read_refuse_everything_for_a_minute(reply):
    site, time = Site(reply), Time()
    cache = RobotsCache(site, time)
    assert await refusal(cache, f"{ORIGIN}/open") == "robots"
    site.reply = status(404)
    time.now_s = robots.UNREACHABLE_TTL_S - 1
    assert await refusal(cache) == "robots"
    assert len(site.calls) == 1
    time.now_s = robots.UNREACHABLE_TTL_S
    assert not await refusal(cache)


@pytest.mark.parametrize("reason", ["address", "connection", "tls", "timeout"])
async def test_unreachable_origin_is_reported_and_requested_again(reason):
    site = Site(FetchError(reason, "example.org cannot be had"))
    cache = RobotsCache(site)
    assert await refusal(cache) == reason
    assert await refusal(cache) == reason
    assert len(site.calls) == 2
