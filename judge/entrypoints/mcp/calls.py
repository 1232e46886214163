"""The context of a tool call, and how the call reports its progress."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext

CallContext = ServerRequestContext[Any, Any]

HEARTBEAT_S = 2.0
"""Between two reports; clients abandon a silent call after tens of seconds."""

Report = Callable[[str], None]
"""Takes a sentence on the current step; returns at once."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a tool's handler gets besides the arguments."""

    context: CallContext
    report: Report
    shown: int = 0
    """Items of the answer's lists in earlier parts; the handler returns these again."""


@asynccontextmanager
async def reporting(
    context: CallContext, name: str, heartbeat_s: float = HEARTBEAT_S
) -> AsyncIterator[Report]:
    """Send each step to the client, and repeat the last one every *heartbeat_s* seconds.

    A client that did not ask for progress gets nothing, and nothing is sent after the block.
    """
    steps: asyncio.Queue[str | None] = asyncio.Queue()
    sending = asyncio.create_task(_send_progress(context, steps, name, heartbeat_s))
    try:
        yield steps.put_nowait
        steps.put_nowait(None)
        await asyncio.wait([sending])
    finally:
        sending.cancel()
        await asyncio.wait([sending])
        if not sending.cancelled():
            sending.exception()  # Ignored: a client that has left must not fail the call.


async def _send_progress(
    context: CallContext, steps: "asyncio.Queue[str | None]", name: str, heartbeat_s: float
) -> None:
    """Send each step until None comes; repeat the last one when none comes for *heartbeat_s*."""
    count = 0
    step: str | None = f"{name} has begun."
    while step is not None:
        count += 1
        await context.session.report_progress(count, message=step)
        with suppress(TimeoutError):
            async with asyncio.timeout(heartbeat_s):
                step = await steps.get()
