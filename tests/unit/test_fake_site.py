"""The fake site of other tests leaves no connection open when it is stopped."""

import contextlib
import gc
import socket
import threading

import pytest

from tests.fakes.site import FakeSite


@pytest.mark.parametrize("turns", range(8))
def test_connection_made_while_the_site_stops_is_closed(turns: int) -> None:
    site = FakeSite().start()
    assert site._loop
    connected = threading.Event()

    def after(turns: int) -> None:
        assert site._loop
        if turns:
            site._loop.call_soon(after, turns - 1)
        else:
            site._stopping.set()

    def hold_until_connected() -> None:
        connected.wait()
        after(turns)

    site._loop.call_soon_threadsafe(hold_until_connected)
    with socket.create_connection(("127.0.0.1", site.port)) as client:
        connected.set()
        site.stop()
        client.settimeout(5)
        with contextlib.suppress(ConnectionResetError):
            assert client.recv(1) == b""
    gc.collect()
    assert site.open_connections == 0
