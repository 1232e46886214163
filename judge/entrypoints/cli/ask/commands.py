"""`judge ask`: one judgement in the terminal, through the pipeline of every entrypoint."""

from collections.abc import Awaitable
from typing import Any

import click

from judge.entrypoints.cli.options import read_text, text_or_json
from judge.entrypoints.cli.shell import Shell

EPILOG = """\b
Example:
judge ask --context "My landlord has left the boiler broken for three weeks." \\
          --query "Am I unreasonable to want it repaired?"

Exit code 1 means that the verdict comes with a warning."""


@click.command(epilog=EPILOG)
@click.option("--context", required=True, metavar="TEXT", help="What happened; - is stdin.")
@click.option("--query", required=True, metavar="TEXT", help="What you ask about it.")
@click.option("--scope", metavar="SCOPE", help="Cite your own documents too: @collection:name.")
@click.option("--domain", metavar="NAME", help="Skip detection; `default` cites no page.")
@click.option(
    "--other-side",
    "hear_other_side",
    is_flag=True,
    help="Let the other side tell the same facts and judge that too; two more calls of the model.",
)
@text_or_json
@click.pass_obj
def ask(shell: Shell, /, *, context: str, form: str, **fields: Any) -> Awaitable[int]:
    """Judge one dispute in the terminal."""
    from judge.entrypoints.cli.ask.run import judge_and_show
    from judge.settings import load_settings
    from judge.types.request_fields import parse_fields
    from judge.types.requests import JudgeRequest

    request = parse_fields(JudgeRequest, {"context": read_text(context), **fields})
    return judge_and_show(load_settings(), request, form, shell.journal)
