"""`judge doctor`: is everything there that a judgement needs?"""

import click

from judge.entrypoints.cli.options import FOUND_SOMETHING, text_or_json
from judge.entrypoints.cli.shell import Shell


@click.command(epilog="Exit code 1 means that something needs fixing.")
@text_or_json
@click.pass_obj
def doctor(shell: Shell, *, form: str) -> int:
    """Check the set-up and say what to fix.

    The model is not asked, so this costs no tokens.
    """
    from judge.entrypoints.cli.doctor.checks import run_checks, show_checks

    checks = run_checks(shell.journal)
    show_checks(checks, form)
    return 0 if all(check.is_ok for check in checks) else FOUND_SOMETHING
