"""`judge golden`: replay stored disputes, record new ones, ask the real model, see what moved."""

from collections.abc import Callable
from pathlib import Path

import click

from judge.entrypoints.cli.options import runs, text_or_json

MAX_REPEATS = 1000

_file = click.Path(dir_okay=False, path_type=Path)
_cases = click.option(
    "--cases",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("tests/golden"),
    show_default=True,
    help="The folder of the cases.",
)


def _live(what: str) -> Callable[[click.decorators.FC], click.decorators.FC]:
    return click.option(
        "--live", "is_live", is_flag=True, help=f"Ask the real model {what}; needs its key."
    )


_report = click.option("--report", type=_file, metavar="FILE.html", help="Write a report to read.")
_junit = click.option(
    "--junit", type=_file, metavar="FILE.xml", help="Write results for a build server."
)
_out = click.option(
    "--out", "results", type=_file, metavar="FILE.jsonl", help="Keep the results there too."
)
_sources = click.option(
    "--sources",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Judge over this sources file, not the cases' own; check only what any good answer meets.",
)


@click.group()
def golden() -> None:
    """Replay and record golden cases.

    A golden case is a stored dispute with its pages, the model's replies and the expected result.
    """


@golden.command(
    epilog="Exit code 1: a case is not as expected, or could not be scored. 2: nothing could be."
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_cases
@_live("instead of replaying")
@click.option(
    "--repeat",
    type=click.IntRange(1, MAX_REPEATS),
    default=1,
    show_default=True,
    help="How often each is judged.",
)
@_report
@_junit
@_out
@_sources
@click.option(
    "--keep-answers",
    "keeps_answers",
    is_flag=True,
    help="Keep the words of live answers too, for `compare` and `score`.",
)
@runs("golden.run.run_cases")
def run() -> None:
    """Judge the cases and say what is not as expected; all of them, or those named.

    Without --live there is no network: pages and replies come from the case. The results are
    kept for `compare`; those of live answers without their words, unless --keep-answers is given.
    """


@golden.command(epilog="Exit codes as for `run`.")
@click.argument("kept", type=_file, required=False, metavar="[RUN]")
@_cases
@_live("the questions of `graded` about each answer")
@_report
@_junit
@_out
@runs("golden.run.score_run")
def score() -> None:
    """Score kept live answers again, by what the cases expect now.

    RUN is a file of results with answers (--keep-answers); without it the last one kept. No
    answer is asked anew.
    """


@golden.command("list")
@_cases
@text_or_json
@runs("golden.reports.show_cases")
def list_cases() -> None:
    """List the cases."""


@golden.command(epilog="Exit code 1: look at the personal details that were found in it.")
@click.argument("name")
@_cases
@click.option("--context", "story", metavar="TEXT", help="What happened.")
@click.option("--query", metavar="TEXT", help="What is asked about it.")
@click.option("--domain", metavar="NAME", help="Skip detection; `default` cites no page.")
@click.option(
    "--allow-no-pages", "allows_no_pages", is_flag=True, help="Also when every page was down."
)
@runs("golden.new_and_update.record_case")
def new() -> None:
    """Record a case from a live request: its pages, the model's replies, the versions.

    Without --context and --query the request is read from standard input, as JSON. Keys are made
    unreadable; what may be personal is pointed out. When every page was down no case is made,
    unless --allow-no-pages says that this is what it is for.
    """


@golden.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_cases
@runs("golden.new_and_update.update_named")
def update() -> None:
    """Bring the cases named up to what a replay gives now, and show what changed.

    Pages, replies, patterns, evaluators and floors stay. Give the reason in the commit.
    """


@golden.command(epilog="Exit code 1: something got worse.")
@click.argument("before", type=_file, required=False)
@click.argument("after", type=_file, required=False)
@runs("golden.reports.compare_kept")
def compare() -> None:
    """Show what changed between two runs: prompts and answers word by word, rates of live ones.

    Without files: the last run kept, and the newest before it that is not the same. With one:
    that, and the last run kept.
    """


@golden.command(epilog="Exit code 1: more flipped than --max-flips allows.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_cases
@_live("too, and let the other side tell the story")
@click.option(
    "--repeat",
    type=click.IntRange(1, MAX_REPEATS),
    help="How often each is asked, with --live.  [default: 5]",
)
@click.option(
    "--max-flips",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="How many variants may change what they must not.",
)
@click.option("--out", type=_file, metavar="FILE.jsonl", help="Keep the results, a case a line.")
@runs("golden.vary.run_variants")
def vary() -> None:
    """Judge variants of the cases, all or those named, and report what changes.

    Pages in another order, a poisoned page, other names, other white space, small and capital
    letters must change nothing. With --live the other side is heard too, as `judge ask
    --other-side` does: who tells a dispute must not decide who is right. Each case is first asked
    as it is, so that what the model varies by itself is not counted as a flip.
    """
