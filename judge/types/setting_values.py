"""Data types of settings that are more than a text: the rate limit, and where Redis is."""

import re
from dataclasses import dataclass
from typing import Literal
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


_SEVERAL = re.compile(
    r"(rediss?)\+(sentinel|cluster)://(?:([^/?#]*)@)?([^/?#@]+)(?:/([^?#]*))?(\?[^#]*)?"
)
"""Scheme, layout, login, hosts, path and options."""

SERVER_EXAMPLE = "redis://host:6379/0"
SENTINEL_EXAMPLE = "redis+sentinel://host:26379,host:26379/mymaster"
CLUSTER_EXAMPLE = "redis+cluster://host:6379,host:6379"


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """The parsed REDIS_URL; each of `urls` is a plain URL of one host, with the login."""

    layout: Literal["server", "sentinel", "cluster"]
    urls: tuple[str, ...]
    service: str = ""
    """The name of the server in the sentinels' configuration."""


def parse_redis_url(url: str) -> RedisAddress:
    """The address in *url*; raises ValueError, whose text repeats nothing of *url*.

    >>> parse_redis_url("redis+sentinel://:pw@a:1,b:2/main/3")
    RedisAddress(layout='sentinel', urls=('redis://:pw@a:1/3', 'redis://:pw@b:2/3'), service='main')
    """
    if url.startswith(("redis://", "rediss://", "unix://")):
        database = "" if url.startswith("unix://") else urlsplit(url).path.strip("/")
        if not (_has_valid_port(url) and _is_database(database)):
            raise ValueError(f"has a port or a database that is no number; write {SERVER_EXAMPLE}")
        return RedisAddress("server", (url,))
    match = _SEVERAL.fullmatch(url)
    if not match:
        raise ValueError(
            f"must begin with redis:// or rediss://, as in {SERVER_EXAMPLE}; several servers are "
            f"written as {SENTINEL_EXAMPLE} or {CLUSTER_EXAMPLE}"
        )
    scheme, layout, login, hosts, path, options = match.groups(default="")
    is_sentinel = layout == "sentinel"
    service, _, database = path.partition("/") if is_sentinel else ("", "", path)
    if is_sentinel and not service:
        raise ValueError(f"names no service; write it as {SENTINEL_EXAMPLE}")
    if not _is_database(database) or (not is_sentinel and database not in {"", "0"}):
        raise ValueError(
            f"names a database that is no number, or not 0 in a cluster; write "
            f"{SENTINEL_EXAMPLE}/0 or {CLUSTER_EXAMPLE}"
        )
    user = f"{login}@" if login else ""
    urls = tuple(f"{scheme}://{user}{host}/{database}{options}" for host in hosts.split(","))
    if not all(_has_valid_port(each) and urlsplit(each).hostname for each in urls):
        raise ValueError("has a host without a name, or a port that is no number")
    return RedisAddress("sentinel" if is_sentinel else "cluster", urls, service)


def _is_database(path: str) -> bool:
    return re.fullmatch("[0-9]*", path) is not None


def _has_valid_port(url: str) -> bool:
    """Whether *url* can be parsed; urllib's own error may quote a secret."""
    try:
        return urlsplit(url).port != 0
    except ValueError:
        return False
