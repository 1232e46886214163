"""What is seen while documents are indexed, and what Ctrl-C does meanwhile."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from judge.entrypoints.cli.output import Terminal, progress_bar


class _Rate(ProgressColumn):
    """How many documents a second."""

    def render(self, task: Task) -> Text:
        """The rate, once there is one."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


def index_bar(
    phase: str, total: int, *, terminal: Terminal
) -> AbstractContextManager[Callable[[int], None]]:
    """Show how far it has come, how fast it goes and how long it will take; call to advance."""
    columns = (TextColumn(phase), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    return progress_bar("", total, terminal, *columns)


@contextmanager
def stop_on_interrupt() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed inside the block; pressed again, it ends the program at once."""
    loop = asyncio.get_running_loop()
    is_pressed = False

    def press() -> None:
        nonlocal is_pressed
        is_pressed = True
        loop.remove_signal_handler(signal.SIGINT)

    loop.add_signal_handler(signal.SIGINT, press)
    try:
        yield lambda: is_pressed
    finally:
        loop.remove_signal_handler(signal.SIGINT)
