"""`judge check`: an answer's citations against its sources, in the terminal."""

import click

from judge.entrypoints.cli.options import runs, text_or_json

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
@runs("check.run.check_files")
def check() -> None:
    """Check an answer's citations against its sources.

    ANSWER is a file; - is stdin. SOURCE is a text file or the address of an approved page; the
    first one is what [1] cites. No model is asked.
    """
