"""The commands outside of groups, with their options and help.

Only what all of them need is imported here; the work of each is imported when it runs.
"""

import click
from click.shell_completion import get_completion_class

from judge.entrypoints.cli.context import CommandContext
from judge.entrypoints.cli.options import runs, text_or_json

_host = click.option(
    "--host", default="127.0.0.1", show_default=True, help="The address to listen on."
)
_port = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="0 takes a free one.",
)


@click.command()
@click.option("--once", is_flag=True, help="Judge one example dispute, print the verdict and end.")
@_host
@_port
@click.pass_obj
def demo(context: CommandContext, *, once: bool, host: str, port: int) -> None:
    """Try Judge with no key and no network.

    It quotes example pages that come with it, from a small site on this machine. It uses
    two of your settings: JUDGE_MODEL=openai:NAME with JUDGE_OPENAI_BASE_URL gives verdicts, for
    instance from a model on this machine, and JUDGE_CORS_ORIGINS lets you build a frontend on it.
    """
    import asyncio

    from judge.entrypoints.cli.demo import judge_the_example, open_demo
    from judge.entrypoints.cli.output import say
    from judge.settings import EXTRACTIVE

    with open_demo() as (site, settings):
        if once:
            asyncio.run(judge_the_example(settings, context.journal))
        else:
            say(f"The example pages that it quotes are at {site}")
            if settings.model != EXTRACTIVE:
                say(f"The verdicts are those of {settings.model}.")
            say("Starting; stop it with Ctrl-C.")
            context.serve_http(settings, host=host, port=port, workers=1)


@click.command(epilog="Settings come from the environment and .env; see docs/configuration.md.")
@_host
@_port
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
@click.pass_obj
def serve(context: CommandContext, *, host: str, port: int, workers: int) -> None:
    """Serve the HTTP API."""
    from judge.settings import load_settings

    context.serve_http(load_settings(), host=host, port=port, workers=workers)


ASK_EPILOG = """\b
Example:
judge ask --context "My landlord has left the boiler broken for three weeks." \\
          --query "Am I unreasonable to want it repaired?"

Exit code 1 means that the verdict comes with a warning."""


@click.command(epilog=ASK_EPILOG)
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
@runs("ask.run.run_ask")
def ask() -> None:
    """Judge one dispute in the terminal."""


CHECK_EPILOG = """\b
Examples:
judge check answer.md lease.md https://www.gov.uk/private-renting
your-assistant | judge check - lease.md --format json

Exit code 0 means that what is cited supports every claim long enough to measure, 1 that it does
not."""


@click.command(epilog=CHECK_EPILOG)
@click.argument("answer")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--marks",
    type=click.Choice(["brackets", "cite"]),
    help='The form that cites, [1] or <cite i="1"/>; by default both do.',
)
@text_or_json
@runs("check.check_files")
def check() -> None:
    """Check an answer's citations against its sources.

    ANSWER is a file; - is stdin. SOURCE is a text file or the address of an approved page; the
    first one is what [1] cites. No model is asked.
    """


SEARCH_EPILOG = """\b
Examples:
judge search "how do nodes talk to one another"
judge search "repairs @collection:leases @modified:last-week"
judge search "boiler" -a | your-assistant

Scopes: @collection:a,b @document:id @folder:2024 @tag:x @modified:today, -@… to exclude,
(@… OR @…) for either, @* for everything. Exit code 1 means that there was a warning."""


@click.command(epilog=SEARCH_EPILOG)
@click.argument("words", nargs=-1, metavar="[QUERY]")
@click.option("--query", metavar="TEXT", help="What to look for, instead of QUERY.")
@click.option("--k", "-k", "k", default="5", show_default=True, help="How many results, 3 to 8.")
@click.option(
    "--collection",
    "-c",
    "--store",
    "-s",
    metavar="NAME",
    help="Where to look; by default where the scope says, without one JUDGE_COLLECTION.",
)
@click.option("--context", metavar="SCOPE", help="Where to look, as @mentions.")
@text_or_json
@click.option("--answer", "-a", is_flag=True, help="Numbered sources for an assistant to cite.")
@click.option(
    "--check-answer",
    "reply",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="Say which citation marks in an assistant's reply have no source; - is stdin.",
)
@runs("search.run.run_search")
def search() -> None:
    """Search your own documents."""


MCP_EPILOG = """\b
Clients start it themselves, with a configuration such as
{"mcpServers": {"judge": {"command": "judge", "args": ["mcp"]}}}

See docs/mcp.md. With stdio everything but the protocol goes to stderr."""


@click.command(epilog=MCP_EPILOG)
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
    "clients that read nothing else. Over http, the address sets it: /mcp?structured=false.",
)
@_host
@_port
@click.pass_obj
def mcp(context: CommandContext, *, transport: str, structured: bool, host: str, port: int) -> None:
    """Serve agents over the Model Context Protocol."""
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

    The model is not asked, so this costs no tokens.
    """


COMPLETION_EPILOG = """\b
bash: in ~/.bashrc  eval "$(judge completion bash)"
zsh:  in ~/.zshrc   eval "$(judge completion zsh)"
fish: judge completion fish > ~/.config/fish/completions/judge.fish"""


@click.command(epilog=COMPLETION_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands in your shell."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "judge", "_JUDGE_COMPLETE").source())
