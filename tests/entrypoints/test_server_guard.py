"""Keys, rate limits and token budgets of the real server, with two workers and Redis."""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from tests.entrypoints.api_bench import DISPUTE
from tests.entrypoints.running_server import RunningServer, World, open_world, wait_until
from tests.fakes.redis_server import RedisServer, running_redis

pytestmark = [pytest.mark.real_redis, pytest.mark.process, pytest.mark.slow]

KEYS = {"JUDGE_API_KEYS": "user-one, user-two, user-three", "JUDGE_ADMIN_KEYS": "the-admin"}
LIMIT = 25
PATH = "/api/domains"
"""Costs next to nothing."""

TOKENS_A_JUDGEMENT = 240


@dataclass
class Guarded:
    """A server with its surroundings."""

    world: World
    server: RunningServer
    redis: RedisServer
    client: httpx.Client
    """Opens a connection per request, so that every worker gets some."""

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(path, headers=headers)

    def judge(self, path: str = "/api/judge", key: str = "", **changes: str) -> httpx.Response:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return self.client.post(path, json=DISPUTE | changes, headers=headers)

    def metric(self, line: str) -> float:
        """The value of the sample that begins with *line*; 0 when there is none."""
        text = self.get("/metrics", authorization="Bearer the-admin").text
        found = re.search(rf"^{re.escape(line)} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else 0.0


@contextlib.contextmanager
def guarded(directory, **environment) -> Iterator[Guarded]:
    with (
        open_world(directory) as world,
        running_redis() as redis,
        world.server(2, REDIS_URL=redis.url, **environment) as server,
        httpx.Client(
            base_url=server.url, timeout=60, limits=httpx.Limits(max_keepalive_connections=0)
        ) as client,
    ):
        yield Guarded(world, server, redis, client)


@pytest.fixture(scope="module")
def keyed(tmp_path_factory) -> Iterator[Guarded]:
    """With keys, a limit for each, and tokens for two judgements; the last test kills its Redis."""
    tokens = str(2 * TOKENS_A_JUDGEMENT)
    environment = {**KEYS, "JUDGE_RATE_LIMIT": f"{LIMIT}/hour", "JUDGE_DAILY_TOKENS": tokens}
    with guarded(tmp_path_factory.mktemp("keyed"), **environment) as bench:
        yield bench


def test_key_is_required_and_never_shown(keyed):
    refused = keyed.judge()
    assert (refused.status_code, refused.json()["type"]) == (401, "/problems/unauthorized")
    assert keyed.judge(key="wrong-one").status_code == 401
    assert keyed.world.gemini.seen == []
    assert keyed.judge(key="user-one").status_code == 200
    assert keyed.get("/health/ready").status_code == 200
    assert keyed.get("/metrics").status_code == 401
    shown = keyed.server.stderr + keyed.get("/metrics", authorization="Bearer the-admin").text
    wait_until(lambda: keyed.server.stderr.count('"status":401') >= 3)
    for word in ("user-one", "wrong-one", "the-admin", "Bearer"):
        assert word not in shown + keyed.server.stderr


def test_workers_share_one_limit(keyed):
    asked = [keyed.get(PATH, authorization="Bearer user-two") for _ in range(LIMIT + 5)]
    assert [reply.status_code for reply in asked] == [200] * LIMIT + [429] * 5
    assert 0 < int(asked[-1].headers["retry-after"]) <= 3600
    assert asked[0].headers["ratelimit-policy"] == f'"default";q={LIMIT};w=3600'


def test_no_worker_calls_the_model_past_the_daily_tokens(keyed):
    seen = keyed.world.gemini.seen
    while len(seen) < 2:
        assert keyed.judge(key="user-three").status_code == 200
    for path in ("/api/judge", "/api/judge/stream") * 3:
        reply = keyed.judge(path, key="user-three")
        assert (reply.status_code, reply.json()["type"]) == (503, "/problems/budget-spent")
        assert 0 < int(reply.headers["retry-after"]) <= 24 * 3600
    assert len(seen) == 2
    assert keyed.metric("judge_tokens_today") == 2 * TOKENS_A_JUDGEMENT
    assert keyed.metric("judge_daily_tokens_limit") == 2 * TOKENS_A_JUDGEMENT


def test_each_worker_enforces_the_limit_and_reports_it_when_redis_dies(keyed):
    def ask(count: int) -> list[int]:
        key = {"authorization": "Bearer user-three"}
        return [keyed.get(PATH, **key).status_code for _ in range(count)]

    assert ask(LIMIT + 1)[-1] == 429
    keyed.redis.kill()
    assert ask(3 * LIMIT).count(200) <= LIMIT
    assert keyed.metric('judge_events_total{event="cache.down"}') >= 1
