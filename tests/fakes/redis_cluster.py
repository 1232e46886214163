"""Several redis-server processes on loopback: a cluster, or a server with its sentinels."""

import contextlib
import itertools
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis

from tests.fakes.redis_server import RedisServer, free_port, redis_binary, running_redis

SLOTS = 16_384
PATIENCE_S = 30.0


@dataclass(frozen=True)
class RunningCluster:
    """A cluster: its masters first, then the replica of each master, in the same order."""

    nodes: Sequence[RedisServer]
    masters: int

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return f"redis+cluster://{hosts}"

    def flush(self) -> None:
        for node in self.nodes[: self.masters]:
            ask(node.port, "FLUSHALL")


def ask(port: int, *command: str) -> Any:
    """The reply of the server at *port* of loopback to *command*, as text."""
    with redis.Redis(port=port, decode_responses=True) as client:
        return client.execute_command(*command)


@contextlib.contextmanager
def running_cluster(
    masters: int = 3, replicas: int = 0, *, node_timeout_ms: int = 5000
) -> Iterator[RunningCluster]:
    """A cluster in which all nodes know one another and every slot is served."""
    with contextlib.ExitStack() as stack:
        nodes = []
        buses = []
        for _ in range(masters + replicas):
            buses.append(free_port())
            options = (
                *("--cluster-enabled", "yes", "--cluster-port", str(buses[-1])),
                *("--cluster-node-timeout", str(node_timeout_ms)),
            )
            nodes.append(stack.enter_context(running_redis(*options)))
        for number, (first, end) in enumerate(_bounds(masters)):
            ask(nodes[number].port, "CLUSTER", "ADDSLOTSRANGE", str(first), str(end - 1))
        for number, node in enumerate(nodes):
            ask(node.port, "CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
            ask(nodes[0].port, "CLUSTER", "MEET", "127.0.0.1", str(node.port), str(buses[number]))
        for node in nodes:
            _wait_until(lambda node=node: _is_joined(node, len(nodes)))
        for number, node in enumerate(nodes[masters:]):
            ask(node.port, "CLUSTER", "REPLICATE", ask(nodes[number].port, "CLUSTER MYID"))
            _wait_until(
                lambda node=node: (
                    ask(node.port, "INFO", "replication")["master_link_status"] == "up"
                )
            )
        yield RunningCluster(nodes, masters)


def _bounds(masters: int) -> list[tuple[int, int]]:
    """The first slot of each master, and the one after its last."""
    return list(itertools.pairwise(number * SLOTS // masters for number in range(masters + 1)))


def _is_joined(node: RedisServer, nodes: int) -> bool:
    reply = ask(node.port, "CLUSTER INFO")
    return reply["cluster_state"] == "ok" and int(reply["cluster_known_nodes"]) == nodes


@dataclass(frozen=True)
class WatchedRedis:
    """A master with a replica, and the address of the sentinels that watch it."""

    master: RedisServer
    replica: RedisServer
    url: str


@contextlib.contextmanager
def running_sentinels(sentinels: int = 3, *, down_after_ms: int = 500) -> Iterator[WatchedRedis]:
    """A master called `judge` that *sentinels* watch and replace by its replica."""
    with contextlib.ExitStack() as stack:
        master = stack.enter_context(running_redis())
        replica = stack.enter_context(running_redis("--replicaof", "127.0.0.1", str(master.port)))
        _wait_until(lambda: ask(replica.port, "INFO", "replication")["master_link_status"] == "up")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="judge-sentinel-")))
        ports = [free_port() for _ in range(sentinels)]
        for port in ports:
            stack.enter_context(_sentinel(folder, port, master, down_after_ms))
        for port in ports:
            _wait_until(lambda port=port: _knows_all(port, sentinels))
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        yield WatchedRedis(master, replica, f"redis+sentinel://{hosts}/judge")


@contextlib.contextmanager
def _sentinel(folder: Path, port: int, master: RedisServer, down_after_ms: int) -> Iterator[None]:
    config = folder / f"{port}.conf"
    config.write_text(
        f"port {port}\nbind 127.0.0.1\ndir {folder}\n"
        f"sentinel monitor judge 127.0.0.1 {master.port} 2\n"
        f"sentinel down-after-milliseconds judge {down_after_ms}\n"
        "sentinel failover-timeout judge 5000\n"
    )
    command = [redis_binary(), str(config), "--sentinel"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait(timeout=60)


def _knows_all(port: int, sentinels: int) -> bool:
    try:
        reply = ask(port, "SENTINEL MASTER", "judge")
    except redis.RedisError:
        return False
    return reply["num-other-sentinels"] == sentinels - 1 and reply["num-slaves"] == 1


def _wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "the servers did not find one another in time"
        time.sleep(0.02)
