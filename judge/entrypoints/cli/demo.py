"""The work of `judge demo`: the example site, settings that need nothing else, one dispute."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from judge.demo.example import CONTEXT, QUERY, demo_settings, example_site
from judge.entrypoints.cli.ask import judge_and_show
from judge.entrypoints.cli.output import detect_terminal, say
from judge.entrypoints.cli.plain_text import wrapped
from judge.ports import Journal
from judge.settings import DemoSettings, Settings, read_environment
from judge.types.requests import JudgeRequest


@contextmanager
def open_demo() -> Iterator[tuple[str, Settings]]:
    """Serve the example site, and keep what the demo writes, while the block runs.

    Yields the site's address and settings that use it. Raises ConfigurationError if one of the few
    environment variables that the demo reads cannot be used.
    """
    with tempfile.TemporaryDirectory(prefix="judge-demo-") as folder, example_site() as site:
        yield site, demo_settings(site, Path(folder), read_environment(DemoSettings))


async def judge_the_example(settings: Settings, journal: Journal) -> None:
    """Show the example dispute on stderr and print its verdict."""
    width = detect_terminal().width
    say(wrapped(f"The dispute: {CONTEXT}", width))
    say(wrapped(f"The question: {QUERY}", width) + "\n")
    request = JudgeRequest(context=CONTEXT, query=QUERY)
    await judge_and_show(settings, request, "text", journal)
    say("\nThe pages were served for this one verdict; `judge demo` keeps them open to read.")
