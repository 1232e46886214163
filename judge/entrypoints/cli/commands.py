"""The commands outside of groups, with their options and help."""

import click
from click.shell_completion import get_completion_class

from judge.entrypoints.cli.options import CommandContext, runs, text_or_json

_host = click.option("--host", default="127.0.0.1", help="The address to listen on.")
_port = click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, help="0 picks a free port."
)


@click.command()
@click.option("--once", is_flag=True, help="Judge one example dispute, print the verdict and exit.")
@_host
@_port
@click.pass_obj
def demo(context: CommandContext, *, once: bool, host: str, port: int) -> None:
    """Try Judge without a key or network.

    The demo quotes built-in example pages, which it serves on this machine. It uses two of your
    settings: with JUDGE_MODEL=openai:NAME and JUDGE_OPENAI_BASE_URL it gives verdicts, for instance
    of a local model, and JUDGE_CORS_ORIGINS allows a frontend of yours to call it.
    """
    import asyncio

    from judge.demo.example import open_demo
    from judge.entrypoints.cli.ask import judge_the_example
    from judge.entrypoints.cli.output import say

    with open_demo() as (site, settings):
        if once:
            asyncio.run(judge_the_example(settings, context.journal))
        else:
            say(f"The example pages that it quotes are at {site}")
            say("Starting; stop it with Ctrl-C.")
            context.serve_http(settings, host=host, port=port, workers=1)


@click.command(epilog="Settings come from the environment and .env; see docs/configuration.md.")
@_host
@_port
@click.option("--workers", type=click.IntRange(1, 128), default=1)
@click.option("--strict", "is_strict", is_flag=True, help="Do not start with broken sources.")
@click.pass_obj
def serve(context: CommandContext, *, host: str, port: int, workers: int, is_strict: bool) -> None:
    """Serve the HTTP API.

    If the sources file is broken, its last good version is served, and an event says so.
    """
    from judge.settings import load_settings

    settings = load_settings()
    if is_strict:
        from judge.bootstrap.sources import open_sources

        open_sources(settings, context.journal)
    context.serve_http(settings, host=host, port=port, workers=workers)


@click.command(
    epilog="""\b
Example:
judge ask --context "My landlord has left the boiler broken for three weeks." \\
          --query "Am I unreasonable to want it repaired?"

Exit code 1 means that the verdict comes with a warning."""
)
@click.option("--context", required=True, help="What happened; - reads stdin.")
@click.option("--query", required=True, help="What you ask about it.")
@click.option("--scope", metavar="SCOPE", help="Also cite your own documents: @collection:name.")
@click.option("--domain", metavar="NAME", help="Skip detection; `default` cites no page.")
@click.option(
    "--other-side",
    "hear_other_side",
    is_flag=True,
    help="Also judge the dispute as the other side would tell it; two more model calls.",
)
@text_or_json
@runs("ask.run_ask")
def ask() -> None:
    """Judge one dispute in the terminal."""


@click.command(
    epilog="""\b
Examples:
judge check answer.md lease.md https://www.example.org/renting
your-assistant | judge check - lease.md --format json

Exit code 0 means that the sources support every claim that is long enough to measure, 1 that they
do not."""
)
@click.argument("answer")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--marks",
    type=click.Choice(["brackets", "cite"]),
    help='Which marks are citations, [1] or <cite i="1"/>; both by default.',
)
@text_or_json
@runs("check.check_files")
def check() -> None:
    """Check an answer's citations against its sources.

    ANSWER is a file; - reads stdin. SOURCE is a text file or the address of an approved page; [1]
    cites the first one. No model is called.
    """


@click.command(
    epilog="""\b
Examples:
judge search "how do nodes talk to one another"
judge search "repairs @collection:leases @modified:last-week"
judge search "boiler" -a | your-assistant

Scopes: @collection:a,b @document:id @folder:2024 @tag:x @modified:today, -@… to exclude,
(@… OR @…) for either, @* for everything. Exit code 1 means that there was a warning."""
)
@click.argument("words", nargs=-1, metavar="[QUERY]")
@click.option("--query", multiple=True, help="The query, instead of QUERY.")
@click.option("--k", "-k", "k", default="5", help="How many results, 3 to 8.")
@click.option(
    "--collection",
    "-c",
    "--store",
    "-s",
    multiple=True,
    metavar="NAME",
    help="The collection, or one of several; JUDGE_COLLECTION by default, unless there is a scope.",
)
@click.option("--context", multiple=True, metavar="SCOPE", help="The scope, as @mentions.")
@text_or_json
@click.option("--answer", "-a", is_flag=True, help="Print sources for an assistant to cite.")
@click.option(
    "--check-answer",
    "reply",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="List the citation marks in an assistant's reply that have no source; - reads stdin.",
)
@runs("search.run_search")
def search() -> None:
    """Search your own documents."""


@click.command(
    epilog="""\b
Clients start this command themselves, with a configuration such as
{"mcpServers": {"judge": {"command": "judge", "args": ["mcp"]}}}

See docs/mcp.md. With stdio, everything except the protocol goes to stderr."""
)
@click.option(
    "--transport",
    type=click.Choice(["stdio", "http"]),
    default="stdio",
    help="stdio: for a client that starts this command; http: at /mcp on --host and --port, as by "
    "`judge serve`.",
)
@click.option(
    "--structured/--no-structured",
    default=True,
    help="Send answers as text and as structured content, or only as text. Over http, clients "
    "choose by the address: /mcp?structured=false.",
)
@_host
@_port
@click.pass_obj
def mcp(context: CommandContext, *, transport: str, structured: bool, host: str, port: int) -> None:
    """Serve assistants over the Model Context Protocol (MCP)."""
    from judge.entrypoints.cli.output import say
    from judge.settings import load_settings

    settings = load_settings()
    if transport == "stdio":
        context.serve_stdio(settings, is_structured=structured)
        return
    path = "/mcp" if structured else "/mcp?structured=false"
    say(f"Agents connect to {path} at the address below.")
    context.serve_http(settings, host=host, port=port, workers=1)


@click.command(epilog="Exit code 1 means that something needs fixing.")
@text_or_json
@runs("doctor.show_checks")
def doctor() -> None:
    """Check the set-up and say what to fix.

    The model is not called, so this costs no tokens.
    """


@click.command(
    epilog="""\b
bash: in ~/.bashrc  eval "$(judge completion bash)"
zsh:  in ~/.zshrc   eval "$(judge completion zsh)"
fish: judge completion fish > ~/.config/fish/completions/judge.fish"""
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for your shell."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "judge", "_JUDGE_COMPLETE").source())
