"""For all tests: connections to loopback only, no deadlines in Hypothesis, the longest first."""

import functools
import os
import sys

import pytest
from hypothesis import HealthCheck, Phase, settings
from pytest_socket import socket_allow_hosts
from xdist.scheduler import LoadFileScheduling

LONG = ("slow", "browser", "process")
MUTATING = "MUTANT_UNDER_TEST" in os.environ  # `make mutate` runs each test many times


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup() -> None:
    """Only loopback and Unix sockets can be connected to."""
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)
    if (
        os.environ.get("MUTANT_UNDER_TEST") == "stats"
    ):  # cached calls would run no lines that it counts
        clear_caches()


@pytest.hookimpl(trylast=True)  # Hypothesis marks its tests before
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes seconds comes first.

    Neither that nor made-up examples nor the tests of documents are run with coverage: they would
    take up to three times as long, and reach no line that others do not.
    """
    long = [item for item in items if any(map(item.get_closest_marker, LONG))]
    others = [
        item
        for item in items
        if item.get_closest_marker("hypothesis") or item.nodeid.startswith("tests/docs/")
    ]
    files = {item.path for item in long}
    items.sort(key=lambda item: item.path not in files)
    for item in [*long, *others]:
        item.add_marker(pytest.mark.no_cover)


class WholeFiles(LoadFileScheduling):
    """One worker runs a whole file, and all files of the browser: servers are started once."""

    def _split_scope(self, nodeid: str) -> str:
        return "browser" if "/browser/" in nodeid else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> WholeFiles:
    """Of `pytest -n`: files in the order in which they were collected."""
    config.option.loadscopereorder = False
    return WholeFiles(config, log)


def pytest_collection_finish() -> None:
    """Drop what was cached while collecting: from here on each process runs one mutant."""
    if MUTATING:
        clear_caches()


def clear_caches() -> None:
    """Empty the caches of the core: results of the original code would hide a mutant's faults."""
    core = [m for name, m in sys.modules.items() if name.startswith(("judge.judging", "judge.cit"))]
    for value in [value for module in core for value in vars(module).values()]:
        if isinstance(value, functools._lru_cache_wrapper):
            value.cache_clear()


# No deadline: benchmarks/ measures speed. In CI there are more examples, the same at each run.
settings.register_profile(
    "judge",
    deadline=None,
    max_examples=100 if "CI" in os.environ else 20,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.differing_executors],
    phases=set(Phase) - ({Phase.shrink, Phase.explain} if MUTATING else set()),
)
settings.load_profile("judge")
