"""What every test shares: no network but loopback, and no race against hypothesis' clock."""

import os

import pytest
from hypothesis import HealthCheck, settings
from pytest_socket import socket_allow_hosts


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup() -> None:
    """Only loopback and Unix sockets can be connected to."""
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)


# Speed is measured in benchmarks/. CI tries the same examples each time: what it finds, it finds.
# `make mutate` runs each test many times in one process, which hypothesis warns of.
settings.register_profile(
    "judge",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.differing_executors],
)
settings.load_profile("judge")
