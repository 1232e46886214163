"""Data types of settings that are more than a text: the rate limit, and where Redis is."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

UNIT_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
"""The units in which a rate can be given."""

MAX_REQUESTS = 1_000_000_000

_RATE = re.compile(r"([0-9]{1,10}) ?/ ?([a-z]{1,9})")


@dataclass(frozen=True, slots=True)
class RateLimit:
    """So many requests per window of seconds; a caller's window begins with its first request."""

    requests: int
    window_s: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """Whether a request is allowed, how many more are, and when the window ends."""

    is_allowed: bool
    remaining: int
    reset_s: float


def parse_rate_limit(text: str) -> RateLimit | None:
    """The limit in *text*, None for `off`; raises ValueError that says how to write one.

    >>> parse_rate_limit("60/minute")
    RateLimit(requests=60, window_s=60)
    """
    folded = text.strip().lower()
    if folded == "off":
        return None
    match = _RATE.fullmatch(folded)
    if match and match[2] in UNIT_SECONDS and 0 < int(match[1]) <= MAX_REQUESTS:
        return RateLimit(int(match[1]), UNIT_SECONDS[match[2]])
    units = ", ".join(UNIT_SECONDS)
    raise ValueError(f"must be a number and one of {units}, as in 60/minute, or off for no limit")


_REDIS_URL = re.compile(
    r"(rediss?)(?:\+(sentinel|cluster))?://(?:([^/?#]*)@)?([^/?#@]*)(?:/([^?#]*))?(\?[^#]*)?"
)
"""Scheme, layout, login, hosts, path and options."""

REDIS_EXAMPLES = (
    "redis://host:6379/0, redis+sentinel://host:26379,host:26379/mymaster or "
    "redis+cluster://host:6379,host:6379"
)


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """The parsed REDIS_URL; each of `urls` is a plain URL of one host, with the login."""

    layout: str
    """`server`, `sentinel` or `cluster`."""
    urls: tuple[str, ...]
    service: str = ""
    """The name of the server in the sentinels' configuration."""


def parse_redis_url(url: str) -> RedisAddress:
    """The address in *url*; raises ValueError, whose text repeats nothing of *url*.

    >>> parse_redis_url("redis+sentinel://:pw@a:1,b:2/main/3")
    RedisAddress(layout='sentinel', urls=('redis://:pw@a:1/3', 'redis://:pw@b:2/3'), service='main')
    """
    if url.startswith("unix://"):
        return RedisAddress("server", (url,))
    if match := _REDIS_URL.fullmatch(url):
        scheme, layout, login, place, path, options = match.groups(default="")
        service, _, database = path.partition("/") if layout == "sentinel" else ("", "", path)
        hosts = place.split(",") if layout else [place]
        has_database = re.fullmatch("0?" if layout == "cluster" else "[0-9]*", database)
        has_service = layout != "sentinel" or bool(service)
        if has_database and has_service and all(_is_host(h, is_only=not layout) for h in hosts):
            user = f"{login}@" if login else ""
            urls = [f"{scheme}://{user}{host}/{database}{options}" for host in hosts]
            return RedisAddress(layout or "server", tuple(urls), service)
    raise ValueError(f"must be written as {REDIS_EXAMPLES}, with numbers as ports and database")


def _is_host(text: str, *, is_only: bool) -> bool:
    """Whether *text* is a host, which may have a port; one of several needs a name."""
    try:
        parts = urlsplit(f"redis://{text}")
        return parts.port != 0 and (is_only or bool(parts.hostname))
    except ValueError:
        return False
