"""`judge serve`: starts the HTTP server with the settings of this process."""

import click

from judge.entrypoints.cli.options import host_option, port_option
from judge.entrypoints.cli.shell import Shell


@click.command(epilog="Settings come from the environment and .env; see docs/configuration.md.")
@host_option
@port_option
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
@click.pass_obj
def serve(shell: Shell, *, host: str, port: int, workers: int) -> None:
    """Serve the HTTP API."""
    from judge.settings import load_settings

    shell.serve_http(load_settings(), host=host, port=port, workers=workers)
