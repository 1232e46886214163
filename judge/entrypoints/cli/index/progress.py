"""What is seen while documents are indexed, and what Ctrl-C does meanwhile."""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from judge.entrypoints.cli.output import Terminal


class _Rate(ProgressColumn):
    """How many documents a second."""

    def render(self, task: Task) -> Text:
        """The rate, once there is one."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


@contextmanager
def index_bar(phase: str, total: int, *, terminal: Terminal) -> Iterator[Callable[[int], None]]:
    """Show how far it has come, how fast it goes and how long it will take; call to advance."""
    is_shown = terminal.is_lively and sys.stderr.isatty()
    console = Console(stderr=True, quiet=not is_shown)
    columns = (
        TextColumn(phase),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not is_shown) as progress:
        task = progress.add_task("", total=total)
        yield lambda count: progress.advance(task, count)


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
