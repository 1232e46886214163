"""`judge doctor`: is everything there that a judgement needs?"""

import click

from judge.entrypoints.cli.options import runs, text_or_json


@click.command(epilog="Exit code 1 means that something needs fixing.")
@text_or_json
@runs("doctor.checks.show_checks")
def doctor() -> None:
    """Check the set-up and say what to fix.

    The model is not asked, so this costs no tokens.
    """
