"""Parses REDIS_URL: one server, the sentinels that know it, or nodes of a cluster."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

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
