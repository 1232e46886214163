"""What every test shares: no network but loopback."""

import pytest
from pytest_socket import socket_allow_hosts


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup() -> None:
    """Only loopback and Unix sockets can be connected to."""
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)
