"""What the contract suites share: a real redis-server, started once."""

from collections.abc import Iterator

import pytest
import redis

from tests.fakes.redis_server import RedisServer, running_redis


@pytest.fixture(scope="session")
def shared_redis_server() -> Iterator[RedisServer]:
    """One server for all tests that leave it running."""
    with running_redis() as server:
        yield server


@pytest.fixture
def redis_url(shared_redis_server: RedisServer) -> str:
    """The address of the shared server, emptied."""
    with redis.Redis.from_url(shared_redis_server.url) as client:
        client.flushall()
    return shared_redis_server.url


@pytest.fixture
def own_redis_server() -> Iterator[RedisServer]:
    """A server for one test, which may pause or kill it."""
    with running_redis() as server:
        yield server
