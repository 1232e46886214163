"""`judge golden`: replay stored disputes, record new ones, ask the real model, see what moved."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge.entrypoints.cli.options import text_or_json
from judge.entrypoints.cli.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_REPEATS = 1000

_file = click.Path(dir_okay=False, path_type=Path)
_cases = click.option(
    "--cases",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("tests/golden"),
    show_default=True,
    help="The folder of the cases.",
)


def _live(what: str) -> "Callable[[click.decorators.FC], click.decorators.FC]":
    return click.option("--live", is_flag=True, help=f"Ask the real model {what}; needs its key.")


_repeat = click.option(
    "--repeat",
    type=click.IntRange(1, MOST_REPEATS),
    default=1,
    show_default=True,
    help="How often each is asked, with --live.",
)


@click.group()
def golden() -> None:
    """Replay and record golden cases.

    A golden case is a stored dispute with the pages and replies it met and what must come of it.
    """


@golden.command(
    epilog="Exit code 1: a case is not as expected, or could not be scored. 2: nothing could be."
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_cases
@_live("instead of replaying")
@_repeat
@click.option("--report", type=_file, metavar="FILE.html", help="Write a report for reading.")
@click.option("--junit", type=_file, metavar="FILE.xml", help="Write results for a build server.")
@click.option("--out", type=_file, metavar="FILE.jsonl", help="Keep the results, for `compare`.")
@click.pass_obj
def run(
    shell: Shell,
    *,
    names: tuple[str, ...],
    folder: Path,
    live: bool,
    repeat: int,
    report: Path | None,
    junit: Path | None,
    out: Path | None,
) -> int:
    """Judge the cases and say what is not as expected; all of them, or those named.

    Without --live there is no network: pages and replies come from the case.
    """
    import asyncio

    from judge.entrypoints.cli.golden.run import Outputs, run_live, run_replay

    outputs = Outputs(report, junit, out)
    if live:
        return asyncio.run(run_live(folder, names, outputs, repeat, is_verbose=shell.is_verbose))
    if repeat > 1:
        raise click.UsageError("--repeat goes with --live: a replay is the same each time.")
    return asyncio.run(run_replay(folder, names, outputs))


@golden.command("list")
@_cases
@text_or_json
def list_cases(*, folder: Path, form: str) -> None:
    """List the cases."""
    from judge.entrypoints.cli.golden.reports import show_cases

    show_cases(folder, form)


@golden.command(epilog="Exit code 1: look at the personal details that were found in it.")
@click.argument("name")
@_cases
@click.option("--context", "story", metavar="TEXT", help="What happened.")
@click.option("--query", metavar="TEXT", help="What is asked about it.")
@click.option("--domain", metavar="NAME", help="Skip detection; `default` cites no page.")
@click.pass_obj
def new(
    shell: Shell,
    *,
    name: str,
    folder: Path,
    story: str | None,
    query: str | None,
    domain: str | None,
) -> int:
    """Record a case from a live request: its pages, the model's replies, the versions.

    Without --context and --query the request is read from standard input, as JSON. Keys are made
    unreadable; what may be personal is pointed out.
    """
    import asyncio

    from judge.entrypoints.cli.golden.updates import read_request, record_case

    request = read_request(story, query, domain)
    return asyncio.run(record_case(folder, name, request, is_verbose=shell.is_verbose))


@golden.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_cases
def update(*, names: tuple[str, ...], folder: Path) -> int:
    """Bring the cases named up to what a replay gives now, and show what changed.

    Pages, replies, patterns, evaluators and floors stay. Give the reason in the commit.
    """
    import asyncio

    from judge.entrypoints.cli.golden.updates import update_named

    return asyncio.run(update_named(folder, names))


@golden.command(epilog="Exit code 1: something got worse.")
@click.argument("before", type=_file)
@click.argument("after", type=_file)
def compare(*, before: Path, after: Path) -> int:
    """Show what got better and what got worse between two kept results."""
    from judge.entrypoints.cli.golden.reports import show_comparison

    return show_comparison(before, after)


@golden.command(epilog="Exit code 1: a variant changed what it must not.")
@click.argument("name")
@_cases
@_live("too, and show the other side's story")
@_repeat
@click.pass_obj
def vary(shell: Shell, *, name: str, folder: Path, live: bool, repeat: int) -> int:
    """Tell a case in other ways, and report what that changes.

    Pages in another order, a poisoned page, other names, other white space, small and capital
    letters must change nothing.
    """
    import asyncio

    from judge.entrypoints.cli.golden.run import run_variants

    return asyncio.run(
        run_variants(folder, name, repeat, is_live=live, is_verbose=shell.is_verbose)
    )
