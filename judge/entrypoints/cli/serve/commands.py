"""`judge serve`: starts the HTTP server with the settings of this process."""

import click

from judge.entrypoints.cli.shell import Shell


@click.command(epilog="Settings come from the environment and .env; see docs/configuration.md.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="0 takes a free one.",
)
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
@click.pass_obj
def serve(shell: Shell, *, host: str, port: int, workers: int) -> None:
    """Serve the HTTP API."""
    from judge.settings import load_settings

    shell.serve_http(load_settings(), host=host, port=port, workers=workers)
