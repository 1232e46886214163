"""`judge demo`: everything on this machine, with no key, no network and no settings."""

import click

from judge.entrypoints.cli.options import host_option, port_option
from judge.entrypoints.cli.shell import Shell


@click.command()
@click.option("--once", is_flag=True, help="Judge one example dispute, print the verdict and end.")
@host_option
@port_option
@click.pass_obj
def demo(shell: Shell, *, once: bool, host: str, port: int) -> None:
    """Try Judge with no key and no network.

    It quotes example pages that come with it, from a small site on this machine. Of your own
    settings two count: JUDGE_MODEL=openai:NAME with JUDGE_OPENAI_BASE_URL gives verdicts, from a
    model on this machine for instance, and JUDGE_CORS_ORIGINS lets you build a frontend against it.
    """
    import asyncio

    from judge.entrypoints.cli.demo.run import judge_the_example, open_demo
    from judge.entrypoints.cli.output import say
    from judge.settings import EXTRACTIVE

    with open_demo() as (site, settings):
        if once:
            asyncio.run(judge_the_example(settings, shell.journal))
        else:
            say(f"The example pages that it quotes are at {site}")
            if settings.model != EXTRACTIVE:
                say(f"The verdicts are those of {settings.model}.")
            say("Starting; stop it with Ctrl-C.")
            shell.serve_http(settings, host=host, port=port, workers=1)
