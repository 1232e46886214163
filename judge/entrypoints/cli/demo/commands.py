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
    settings only JUDGE_CORS_ORIGINS counts, so that you can build a frontend against it. With a
    language model, `judge serve` also gives verdicts.
    """
    import asyncio

    from judge.entrypoints.cli.demo.run import judge_the_example, open_demo_run
    from judge.entrypoints.cli.output import say

    with open_demo_run() as demo_run:
        if once:
            asyncio.run(judge_the_example(demo_run, is_verbose=shell.is_verbose))
        else:
            say(f"The example pages that it quotes are at {demo_run.site}")
            say("Starting; stop it with Ctrl-C.")
            shell.serve_http(demo_run.settings, host=host, port=port, workers=1)
