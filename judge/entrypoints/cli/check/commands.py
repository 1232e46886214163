"""`judge check`: an answer's citations against its sources, in the terminal."""

from collections.abc import Awaitable
from typing import Any

import click

from judge.entrypoints.cli.options import text_or_json
from judge.entrypoints.cli.shell import Shell

EPILOG = """\b
Examples:
judge check answer.md lease.md https://www.gov.uk/private-renting
your-assistant | judge check - lease.md --format json

Exit code 0 means that every claim is carried by what it cites, 1 that not every one is."""


@click.command(epilog=EPILOG)
@click.argument("answer")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--marks",
    type=click.Choice(["brackets", "cite"]),
    help='The form that cites, [1] or <cite i="1"/>; by default both do.',
)
@text_or_json
@click.pass_obj
def check(shell: Shell, /, *, answer: str, **options: Any) -> Awaitable[int]:
    """Check an answer's citations against its sources.

    ANSWER is a file; - is stdin. SOURCE is a text file or the address of an approved page; the
    first one is what [1] cites. No model is asked.
    """
    from judge.entrypoints.cli.check.run import check_files, read_answer

    return check_files(shell.journal, read_answer(answer), **options)
