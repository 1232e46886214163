"""A rolling restart under load, with a shared Redis, loses no request."""

import httpx
import pytest
import redis

from tests.entrypoints.api_bench import DISPUTE
from tests.entrypoints.running_server import World, wait_until
from tests.fakes.redis_server import RedisServer

pytestmark = [pytest.mark.real_redis, pytest.mark.process, pytest.mark.slow]


def write_next_version(world: World) -> str:
    """Write sources with another digest and other personas, so that the prompt differs."""
    text = (world.directory / "sources.toml").read_text()
    voices = "".join(
        f'[[personas]]\nname = "{name}"\nbrief = "You look at what a {name} sees."\n'
        for name in ("Therapist", "Analyst", "Coach")
    )
    path = world.directory / "next.toml"
    path.write_text(f"{text}{voices}")
    return str(path)


LATER_READING = "from judge.library.pages import page_records; page_records.READING_VERSION += 1; "


def test_cached_records_of_one_version_do_not_affect_the_other(
    world: World, redis_server: RedisServer
) -> None:
    common = {"REDIS_URL": redis_server.url, "JUDGE_MODEL": "extractive"}
    pages = ("/repairs", "/rent")
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
        with world.server(**common) as old:
            wait_until(lambda: client.keys("page:*") and all(world.site.hits[p] for p in pages))
            before = world.site.hits.copy()
            later = {**common, "JUDGE_SOURCES": write_next_version(world)}
            with world.server(**later, prelude=LATER_READING) as new:
                for server in (new, old, new, old):
                    reply = httpx.post(f"{server.url}/api/judge", json=DISPUTE)
                    assert reply.status_code == 200
                    assert len(reply.json()["references"]) == 2
                fetched = sum(world.site.hits[p] - before[p] for p in pages)
                # Each version reads the page again once, not in turns.
                assert 0 < fetched <= 4
    assert "Traceback" not in old.stderr + new.stderr
