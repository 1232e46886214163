"""`judge mcp`: starts the MCP server, on stdin and stdout or over HTTP."""

import click

from judge.entrypoints.cli.options import host_option, port_option
from judge.entrypoints.cli.shell import Shell

EPILOG = """\b
Clients start it themselves, with a configuration such as
{"mcpServers": {"judge": {"command": "judge", "args": ["mcp"]}}}

See docs/mcp.md. With stdio everything but the protocol goes to stderr."""


@click.command(epilog=EPILOG)
@click.option(
    "--transport",
    type=click.Choice(["stdio", "http"]),
    default="stdio",
    show_default=True,
    help="stdio: for the client that starts this; http: as `judge serve`, at /mcp, on --host and "
    "--port.",
)
@click.option(
    "--structured/--no-structured",
    default=True,
    show_default=True,
    help="Whether replies have structured content and a summary, or are JSON in text alone, for "
    "clients that read no more. Over http the address tells: /mcp?structured=false.",
)
@host_option
@port_option
@click.pass_obj
def mcp(shell: Shell, *, transport: str, structured: bool, host: str, port: int) -> None:
    """Serve agents over the Model Context Protocol."""
    from judge.entrypoints.cli.output import say
    from judge.settings import load_settings

    settings = load_settings()
    if transport == "stdio":
        shell.serve_stdio(settings, is_structured=structured)
        return
    path = "/mcp" if structured else "/mcp?structured=false"
    say(f"Agents connect to {path} at the address below.")
    shell.serve_http(settings, host=host, port=port, workers=1)
