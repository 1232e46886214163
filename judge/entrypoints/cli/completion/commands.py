"""`judge completion`: the script with which a shell completes our commands."""

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

COMPLETIONS: dict[str, type[ShellComplete]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}


EPILOG = """\b
bash: in ~/.bashrc  eval "$(judge completion bash)"
zsh:  in ~/.zshrc   eval "$(judge completion zsh)"
fish: judge completion fish > ~/.config/fish/completions/judge.fish"""


@click.command(epilog=EPILOG)
@click.argument("shell", type=click.Choice(list(COMPLETIONS)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands in your shell."""
    kind = COMPLETIONS[shell]
    click.echo(kind(context.find_root().command, {}, "judge", "_JUDGE_COMPLETE").source())
