"""`judge completion`: the script with which a shell completes our commands."""

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


EPILOG = """\b
bash: in ~/.bashrc  eval "$(judge completion bash)"
zsh:  in ~/.zshrc   eval "$(judge completion zsh)"
fish: judge completion fish > ~/.config/fish/completions/judge.fish"""


@click.command(epilog=EPILOG)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands in your shell."""
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"This version of click cannot complete in {shell}.")
    root = context.find_root()
    click.echo(kind(root.command, {}, "judge", "_JUDGE_COMPLETE").source())
