"""What every test shares: no network but loopback, and no race against hypothesis' clock."""

import functools
import os
import sys

import pytest
from hypothesis import HealthCheck, Phase, settings
from pytest_socket import socket_allow_hosts

MUTATING = "MUTANT_UNDER_TEST" in os.environ  # in `make mutate`: each test runs many times


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup() -> None:
    """Only loopback and Unix sockets can be connected to."""
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)
    if os.environ.get("MUTANT_UNDER_TEST") == "stats":  # each test must reach what it asks
        forget_results()


def pytest_collection_finish() -> None:
    """A process has one mutant: what it remembers from here on is the mutant's."""
    if MUTATING:
        forget_results()


def forget_results() -> None:
    """Empty the caches of the core: what sound code remembered would hide what a mutant breaks."""
    core = [m for name, m in sys.modules.items() if name.startswith(("judge.judging", "judge.cit"))]
    for found in [value for module in core for value in vars(module).values()]:
        if isinstance(found, functools._lru_cache_wrapper):
            found.cache_clear()


# Speed is measured in benchmarks/. CI tries the same examples each time: what it finds, it finds.
settings.register_profile(
    "judge",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.differing_executors],
    phases=set(Phase) - ({Phase.shrink, Phase.explain} if MUTATING else set()),
)
settings.load_profile("judge")
