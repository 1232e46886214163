"""The work of `judge index add`: the indexer does it, and a summary at the end tells of it."""

import asyncio
import gc
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

import click

from judge.bootstrap import open_search
from judge.entrypoints.cli.index.progress import index_bar, stop_on_interrupt
from judge.entrypoints.cli.main import INTERRUPTED
from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import format_json, look_at_terminal, say
from judge.entrypoints.cli.plain_text import one_line
from judge.ports import Journal
from judge.search.indexing.indexer import IndexingProgress, IndexingReport
from judge.search.indexing.plan import IndexingOptions
from judge.settings import Settings

GC_THRESHOLD = 20_000
"""New objects between two looks of the collector for cycles: those of some hundred documents."""


def add_documents(
    settings: Settings,
    places: Sequence[str],
    options: IndexingOptions,
    form: str,
    journal: Journal,
) -> int:
    """Add what was named and tell what came of it; the exit code.

    Raises InvalidRequest, IndexLocked and IndexUnavailable.
    """
    # Else a tenth of the time goes into looking for cycles, of which there are hardly any.
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 20)
    report = asyncio.run(_add(settings, places, options, journal))
    for problem in report.problems:
        say(one_line(f"{problem.path}: {problem.reason}"))
    click.echo(format_json(asdict(report)) if form == "json" else _summary(report))
    if report.is_interrupted:
        say("Stopped. What is counted above is indexed; the same command does the rest.")
        return INTERRUPTED
    return FOUND_SOMETHING if report.problems else 0


async def _add(
    settings: Settings, places: Sequence[str], options: IndexingOptions, journal: Journal
) -> IndexingReport:
    async with open_search(settings, journal) as corpus:
        with stop_on_interrupt() as should_stop:
            bar = partial(index_bar, terminal=look_at_terminal())
            return await corpus.indexer.add(places, options, IndexingProgress(bar, should_stop))


def _summary(report: IndexingReport) -> str:
    done = (
        f"{report.added} added, {report.replaced} replaced, {report.unchanged} unchanged, "
        f"{report.removed} removed; {report.passages} passages in {report.elapsed_s:.1f} s."
    )
    counts = {
        "binary": report.binary,
        "empty": report.empty,
        "symbolic links": report.links,
        "with problems": len(report.problems),
    }
    skipped = ", ".join(f"{count} {why}" for why, count in counts.items() if count)
    return f"{done}\nSkipped: {skipped}." if skipped else done
