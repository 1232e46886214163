"""The work of `judge golden new` and `update`, which write to the folder of the cases."""

from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import SecretStr

from judge.bootstrap.services import open_services
from judge.bootstrap.sources import read_sources
from judge.entrypoints.cli.golden.run import OWN_SOURCES, replay_config, show_sections
from judge.entrypoints.cli.options import FOUND_SOMETHING, FROM_STDIN, read_text
from judge.entrypoints.cli.output import say
from judge.entrypoints.cli.plain_text import one_line
from judge.errors import InvalidRequest
from judge.golden.recording import (
    find_personal_details,
    new_case_path,
    record,
    scrubber,
    update_cases,
)
from judge.golden.reports import Section, difference_lines
from judge.ports import Journal
from judge.settings import load_settings
from judge.types.request_fields import parse_fields, parse_json
from judge.types.requests import JudgeRequest


def record_case(
    journal: Journal,
    *,
    story: str | None,
    query: str | None,
    domain: str | None,
    folder: Path,
    name: str,
    allows_no_pages: bool,
) -> Coroutine[Any, Any, int]:
    """Judge a request live and store it as a case; the exit code.

    The request comes from the options, or without any as JSON from standard input, which is read
    here: in the coroutine Ctrl-C would wait for its end. Raises InvalidRequest.
    """
    if story is not None and query is not None:
        fields = {"context": read_text(story), "query": query, "domain": domain}
        request = parse_fields(JudgeRequest, fields)
    elif story is not None or query is not None or domain is not None:
        raise InvalidRequest("Give both --context and --query, or neither and JSON on stdin.")
    else:
        request = parse_json(JudgeRequest, read_text(FROM_STDIN))
    path = new_case_path(folder, name)  # A bad name is reported before the model is asked.
    return _record_case(journal, request, folder, path, allows_no_pages=allows_no_pages)


async def _record_case(
    journal: Journal, request: JudgeRequest, folder: Path, path: Path, *, allows_no_pages: bool
) -> int:
    settings = load_settings()
    values = [part for _, v in settings for part in (v if isinstance(v, tuple) else (v,))]
    secrets = [part.get_secret_value() for part in values if isinstance(part, SecretStr)]
    async with open_services(settings, journal) as services:
        pipeline = services.pipeline
        own = replay_config(folder).knowledge() if (folder / OWN_SOURCES).is_file() else None
        is_own = own and own.versions == pipeline.knowledge().versions
        document, had_keys = await record(
            path,
            request,
            pipeline,
            scrubber(secrets),
            sources=() if is_own else read_sources(Path(settings.sources)),
            allows_no_pages=allows_no_pages,
        )
    click.echo(str(path))
    say("It replays to the same body. Say in `about` what it is for, and add evaluators.")
    if had_keys:
        say("Something that looks like a key was made unreadable (xxx).")
    if findings := find_personal_details(document):
        say("Look at these before you commit it; they may say who somebody is:")
    for finding in findings:
        say(f"  {finding.field}: {finding.kind}: {one_line(finding.words)}")
    return FOUND_SOMETHING if findings or had_keys else 0


async def update_named(_: Journal, *, folder: Path, names: Sequence[str]) -> int:
    """Rewrite the cases *names* and show what changed; 1 if one is still not as expected."""
    updates = await update_cases(folder, names, replay_config(folder))
    for update in updates:
        changed = f"{len(update.changed)} changed" if update.changed else "nothing changed"
        show_sections([Section(f"{update.name}: {changed}", difference_lines(*update.changed))])
        if update.remaining:
            title = "Still not as expected; only a person can change these:"
            show_sections([Section(title, difference_lines(*update.remaining))])
    return FOUND_SOMETHING if any(update.remaining for update in updates) else 0
