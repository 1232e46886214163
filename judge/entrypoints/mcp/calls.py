"""One call of a tool: how far its answer was shown already, and how its progress is told."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext

CallContext = ServerRequestContext[Any, Any]

HEARTBEAT_S = 2.0
"""Between two signs of life; clients begin to lose patience after tens of seconds."""

Report = Callable[[str], None]
"""Takes a sentence on what is being done now; it returns at once."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a handler knows besides the arguments."""

    context: CallContext
    report: Report
    shown: int = 0
    """Items of the answer that its cursor leaves behind; the answer has them all the same."""


@asynccontextmanager
async def reporting(
    context: CallContext, name: str, heartbeat_s: float = HEARTBEAT_S
) -> AsyncIterator[Report]:
    """Tells the client, where it asked for that, of each step and that there is life between them.

    Nothing is sent after the block. Only the session knows whether the client asked.
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
            telling.exception()  # Looked at, and let be: that the client is gone breaks no call.


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
