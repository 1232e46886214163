"""`judge search`: find passages of the indexed documents."""

import click

from judge.entrypoints.cli.options import format_option, runs

EPILOG = """\b
Examples:
judge search "how do nodes talk to one another"
judge search "repairs @collection:leases @modified:last-week"
judge search "boiler" -a | your-assistant

Scopes: @collection:a,b @document:id @folder:2024 @tag:x @modified:today, -@… to exclude,
(@… OR @…) for either, @* for everything. Exit code 1 means that there was a warning."""


@click.command(epilog=EPILOG)
@click.argument("words", nargs=-1, metavar="[QUERY]")
@click.option("--query", metavar="TEXT", help="What to look for, instead of QUERY.")
@click.option("--k", "-k", "k", default="5", show_default=True, help="How many results, 3 to 8.")
@click.option(
    "--collection",
    "-c",
    "--store",
    "-s",
    metavar="NAME",
    help="Where to look; by default where the scope says, without one JUDGE_COLLECTION.",
)
@click.option("--context", metavar="SCOPE", help="Where to look, as @mentions.")
@format_option
@click.option("--answer", "-a", is_flag=True, help="Numbered sources for an assistant to cite.")
@click.option(
    "--check-answer",
    "reply",
    metavar="FILE",
    type=click.File(encoding="utf-8", errors="replace"),
    help="Say which citation marks in an assistant's reply have no source; - is stdin.",
)
@runs("search.run.run_search")
def search() -> None:
    """Search your own documents."""
