"""What a tool's handler is given besides its arguments, and how a call reports its progress."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext

CallContext = ServerRequestContext[Any, Any]

HEARTBEAT_S = 2.0
"""Between two reports; clients give up on a silent call after tens of seconds."""

Report = Callable[[str], None]
"""Takes a sentence on what is being done now; it returns at once."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a handler is given besides the arguments."""

    context: CallContext
    report: Report
    shown: int = 0
    """How many items of the answer's lists earlier parts showed; the answer holds these too."""


@asynccontextmanager
async def reporting(
    context: CallContext, name: str, heartbeat_s: float = HEARTBEAT_S
) -> AsyncIterator[Report]:
    """Report each step to the client, and the last one again every *heartbeat_s* seconds.

    The session sends nothing to a client that did not ask for progress, and nothing is sent after
    the block.
    """
    steps: asyncio.Queue[str | None] = asyncio.Queue()
    telling = asyncio.create_task(_tell(context, steps, name, heartbeat_s))
    try:
        yield steps.put_nowait
        steps.put_nowait(None)
        await asyncio.wait([telling])
    finally:
        telling.cancel()
        await asyncio.wait([telling])
        if not telling.cancelled():
            telling.exception()  # Ignored: a client that has gone breaks no call.


async def _tell(
    context: CallContext, steps: "asyncio.Queue[str | None]", name: str, heartbeat_s: float
) -> None:
    """Send each step until there is None, and the last one again where none comes for a while."""
    count = 0
    step: str | None = f"{name} has begun."
    while step is not None:
        count += 1
        await context.session.report_progress(count, message=step)
        with suppress(TimeoutError):
            async with asyncio.timeout(heartbeat_s):
                step = await steps.get()
