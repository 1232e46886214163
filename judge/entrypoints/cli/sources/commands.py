"""`judge sources`: what is configured, whether it works, and why a text gets its domain."""

import click

from judge.entrypoints.cli.options import read_text, text_or_json
from judge.entrypoints.cli.shell import Shell


@click.group()
def sources() -> None:
    """List, check, warm and explain the approved pages."""


@sources.command("list")
@text_or_json
@click.pass_obj
def list_sources(shell: Shell, *, form: str) -> None:
    """List the domains and their pages, those that were updated last first.

    The publishers' dates are known for pages that are kept in Redis.
    """
    import asyncio

    from judge.entrypoints.cli.sources.reports import show_sources

    asyncio.run(show_sources(form, is_verbose=shell.is_verbose))


@sources.command(epilog="Exit code 1 means that a page or an example failed.")
@text_or_json
@click.pass_obj
def check(shell: Shell, *, form: str) -> int:
    """Fetch each page and show what would be quoted.

    Each example in the sources file must get the domain under which it stands. What was fetched
    is kept in Redis, if that is configured.
    """
    import asyncio

    from judge.entrypoints.cli.sources.reports import show_checks

    return asyncio.run(show_checks(form, is_verbose=shell.is_verbose))


@sources.command(epilog="Exit code 1 means that a page failed.")
@click.pass_obj
def warm(shell: Shell) -> int:
    """Fill the cache in Redis, so that nobody waits for a page."""
    import asyncio

    from judge.entrypoints.cli.sources.reports import warm_cache

    return asyncio.run(warm_cache(is_verbose=shell.is_verbose))


@sources.command()
@click.argument("text")
@text_or_json
@click.pass_obj
def explain(shell: Shell, *, text: str, form: str) -> None:
    """Say why TEXT is given its domain, and which pages would be offered.

    TEXT is the story of a dispute; - is stdin.
    """
    import asyncio

    from judge.entrypoints.cli.sources.reports import show_explanation

    asyncio.run(show_explanation(read_text(text), form, is_verbose=shell.is_verbose))
