"""`judge ask`: one judgement in the terminal, through the pipeline of every entrypoint."""

import click

from judge.entrypoints.cli.options import runs, text_or_json

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
@runs("ask.run.judge_typed")
def ask() -> None:
    """Judge one dispute in the terminal."""
