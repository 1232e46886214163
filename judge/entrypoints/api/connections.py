"""HTTP/1.1 connections whose heads have to arrive in time, which uvicorn does not ask for."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_TIMEOUT_S = 10.0
"""From connecting, or the first byte of a later request, to the end of the request's head."""


class BoundedConnection(H11Protocol):
    """Closes the connection of a client that does not finish the head of its request.

    docs/operations.md says which other limits are a proxy's.
    """

    head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self.head_timer = self.loop.call_later(HEAD_TIMEOUT_S, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Read *data*; wait for the rest if it ends within a head."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self.head_timer is None:
            self.head_timer = self.loop.call_later(HEAD_TIMEOUT_S, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _stop_waiting(self) -> None:
        if self.head_timer:
            self.head_timer.cancel()
            self.head_timer = None
