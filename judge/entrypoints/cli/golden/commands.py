"""`judge golden`: replay stored disputes, record new ones, ask the real model, see what moved."""

from pathlib import Path

import click

from judge.entrypoints.cli.options import runs, text_or_json

_times = click.IntRange(1, 1000)
_file = click.Path(dir_okay=False, path_type=Path)
_cases = click.option(
    "--cases",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("tests/golden"),
    help="The folder of the cases.",
)


_live = click.option("--live", "is_live", is_flag=True, help="Ask the real model; needs its key.")
_names = click.argument("names", nargs=-1, metavar="[NAME]...")
_report = click.option("--report", type=_file, metavar="FILE.html", help="Write a report as HTML.")
_junit = click.option(
    "--junit", type=_file, metavar="FILE.xml", help="Write JUnit results, for CI."
)
_out = click.option(
    "--out", "results", type=_file, metavar="FILE.jsonl", help="Write the results here too."
)


@click.group()
def golden() -> None:
    """Replay and record golden cases.

    A golden case is a stored dispute with its pages, the model's replies and the expected result.
    """


@golden.command(
    epilog="Exit code 1: a case is not as expected, or could not be scored; 2: an error."
)
@_names
@_cases
@_live
@click.option("--repeat", type=_times, default=1, help="How often to judge each case.")
@_report
@_junit
@_out
@click.option(
    "--sources",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Use these sources, not the cases' own; check only what also holds for live runs.",
)
@click.option(
    "--model", "models", multiple=True, metavar="NAME", help="Ask this one, not JUDGE_MODEL."
)
@click.option(
    "--keep-answers",
    "keeps_answers",
    is_flag=True,
    help="Store the text of live answers too, for `compare` and `score`.",
)
@click.option(
    "--resume",
    "resumed",
    type=_file,
    metavar="FILE.jsonl",
    help="Ask only for what this file of an interrupted run lacks.",
)
@runs("golden.run.run_cases")
def run() -> None:
    """Judge all cases, or those named, and show what is not as expected.

    Without --live no network is used: pages and replies come from the case. The results are stored
    for `compare`; those of live answers without their text, unless you pass --keep-answers.

    Give --model or --sources several times to see them side by side, with a paired test that tells
    a difference from chance.
    """


@golden.command(epilog="Exit codes as for `run`.")
@click.argument("run_file", type=_file, required=False, metavar="[RUN]")
@_cases
@_live
@_report
@_junit
@_out
@runs("golden.run.score_run")
def score() -> None:
    """Score stored live answers again by what the cases expect now.

    RUN is a results file with answers (--keep-answers), by default the last stored one. The model
    gives no new answers; with --live it is asked the questions of `graded` about each.
    """


@golden.command("list")
@_cases
@text_or_json
@runs("golden.run.show_cases")
def list_cases() -> None:
    """List the cases."""


@golden.command(epilog="Exit code 1: the case may contain personal details; look at each.")
@click.argument("name")
@_cases
@click.option("--context", "story", help="What happened.")
@click.option("--query", help="What is asked about it.")
@click.option("--domain", metavar="NAME", help="Skip detection; `default` cites no page.")
@click.option(
    "--allow-no-pages", "allows_no_pages", is_flag=True, help="Also if every page was down."
)
@runs("golden.write.record_case")
def new() -> None:
    """Record a case from a live request: its pages, the model's replies, the versions.

    Without --context and --query the request is read from stdin, as JSON. Keys are replaced by xxx,
    and possible personal details are listed. If every page was down, no case is written, unless
    you pass --allow-no-pages.
    """


@golden.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_cases
@runs("golden.write.update_named")
def update() -> None:
    """Update the named cases to what a replay gives now, and show what changed.

    Pages, replies, patterns, evaluators and floors stay as they are.
    """


@golden.command(epilog="Exit code 1: something got worse.")
@click.argument("before", type=_file, required=False)
@click.argument("after", type=_file, required=False)
@runs("golden.run.show_comparison")
def compare() -> None:
    """Compare two runs: prompts and answers word by word, and the rates of live runs.

    Without files: the last stored run and the newest different one before it. With one file: that
    run and the last stored one.
    """


@golden.command(epilog="Exit code 1: more flipped than --max-flips allows.")
@_names
@_cases
@_live
@click.option("--repeat", type=_times, help="How often to judge each, with --live.  [default: 5]")
@click.option("--max-flips", type=click.IntRange(0), default=0, help="How many flips are allowed.")
@click.option("--out", type=_file, metavar="FILE.jsonl", help="Write results, a line per variant.")
@runs("golden.run.run_variants")
def vary() -> None:
    """Judge variants of all cases, or of those named, and show which outcomes flip.

    Pages in another order, a page with a prompt injection, other names, white space and case must
    change nothing. Each unchanged case is judged first, so that the model's random variation does
    not count as a flip.
    """
