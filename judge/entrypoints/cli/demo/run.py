"""The work of `judge demo`: the example site, settings that need nothing else, one dispute."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from judge.demo.dispute import CONTEXT, QUERY, demo_settings
from judge.demo.site import example_site
from judge.entrypoints.cli.ask.run import judge_and_show
from judge.entrypoints.cli.output import look_at_terminal, say
from judge.entrypoints.cli.plain_text import folded
from judge.ports import Journal
from judge.settings import Settings, load_demo_settings
from judge.types.requests import JudgeRequest


@dataclass(frozen=True, slots=True)
class DemoRun:
    """The address of the example site, and settings that use it."""

    site: str
    settings: Settings


@contextmanager
def open_demo_run() -> Iterator[DemoRun]:
    """Serve the example site, and keep what the demo writes, while the block runs.

    Raises ConfigurationError for one of the few settings that it heeds when that cannot be used.
    """
    with tempfile.TemporaryDirectory(prefix="judge-demo-") as folder, example_site() as site:
        yield DemoRun(site, demo_settings(site, Path(folder), load_demo_settings()))


async def judge_the_example(demo_run: DemoRun, journal: Journal) -> None:
    """Tell the example dispute on stderr and print its verdict."""
    width = look_at_terminal().width
    say(folded(f"The dispute: {CONTEXT}", width))
    say(folded(f"The question: {QUERY}", width) + "\n")
    request = JudgeRequest(context=CONTEXT, query=QUERY)
    await judge_and_show(demo_run.settings, request, "text", journal)
    say("\nThe pages were served for this one verdict; `judge demo` keeps them open to read.")
