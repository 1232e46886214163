"""Makes a case from a live judgement, and updates what cases expect.

record -> scrub keys -> replay: only a case that reproduces the recorded body is written. An update
turns what a case expects exactly into what a replay gives now. Replies and pages stay, and so do
the expectations that people wrote: patterns, evaluators, floors.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from judge.adapters.memory.cache import MemoryCache, MemoryLock
from judge.errors import ContentBlocked, InvalidReply, JudgeError
from judge.golden.case_files import (
    PAGES,
    StoredCase,
    load_case,
    load_cases,
    serialize_case,
    write_output,
)
from judge.golden.case_runner import Outcome, RunConfig, judge_recorded, run_case
from judge.golden.cases import Expected
from judge.golden.differences import Difference, body_differences, differences, found_value, masked
from judge.golden.replay import RecordingFetcher, RecordingModel
from judge.golden.reports import difference_lines
from judge.judging.pipeline import Pipeline
from judge.library.pages.retriever import SnippetRetriever
from judge.settings import EXTRACTIVE
from judge.types.requests import JudgeRequest
from judge.types.text_files import TextFile

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")

Scrub = Callable[[str], str]

_WRITTEN_BY_PEOPLE = frozenset(
    {"summary_matches", "second_prompt_names", "evaluators", "graded", "floor"}
)


class CannotRecord(JudgeError):
    """The recording cannot become a case; the message says why. Nothing was written."""


class CannotReplay(JudgeError):
    """A case needs replies or pages that it does not have; the message names them."""


@dataclass(frozen=True, slots=True)
class Update:
    """The update of one case: the fields that changed, and what still is not as expected."""

    name: str
    changed: tuple[Difference, ...]
    remaining: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A case before it is written: its document, and its fixtures by file name."""

    name: str
    document: dict[str, Any]
    fixtures: Mapping[str, bytes]
    had_keys: bool = False
    """Whether anything that looks like a key was masked."""


def new_case_path(folder: Path, name: str) -> Path:
    """The file of a new case; raises CannotRecord if *name* cannot be one or is taken."""
    if not NAME.fullmatch(name):
        raise CannotRecord(f"{name!r} cannot name a case; use at most 80 of a-z, 0-9, - and _.")
    path = folder / f"{name}.json"
    if path.exists():
        raise CannotRecord(f"There is a case {path} already. Choose another name.")
    return path


async def record(
    name: str,
    request: JudgeRequest,
    pipeline: Pipeline,
    scrub: Scrub,
    *,
    sources: Sequence[TextFile] = (),
) -> Draft:
    """A draft of *request* as judged by the real *pipeline*, without its cache and fallback.

    The draft includes *sources*, those of the pipeline, if it is to be replayed over them for good.
    Raises CannotRecord when the draft does not replay as recorded, and what the pipeline raises
    when there is no reply to record.
    """
    fetcher = RecordingFetcher(pipeline.references.retriever.fetcher)
    model = RecordingModel(pipeline.model.primary)
    clock, started = pipeline.clock, pipeline.clock.now()
    cache, lock = MemoryCache(clock), MemoryLock(clock)
    retriever = SnippetRetriever(fetcher, cache, lock, clock, pipeline.journal)
    recorded = replace(
        pipeline,
        references=replace(pipeline.references, retriever=retriever),
        model=replace(pipeline.model, primary=model, fallback=None),
    )
    try:
        shown = (ContentBlocked, InvalidReply)
        outcome = await judge_recorded(recorded, model, request, shown=shown)
    finally:
        await retriever.aclose()
    files = {url: f"{name}.{number}.html" for number, url in enumerate(fetcher.pages, 1)}
    config = RunConfig(pipeline.knowledge())
    versions = config.knowledge.versions
    # Named by version, so that cases recorded with the same sources share the files.
    own = [f"sources.{versions.sources}.{number}.toml" for number, _ in enumerate(sources, 1)]
    fixtures = {files[url]: page.body for url, page in fetcher.pages.items() if page}
    fixtures |= zip(own, (file.text.encode() for file in sources), strict=True)
    is_extractive = model.name == EXTRACTIVE
    document = {
        "about": "",
        "recorded": True,
        "recorded_at": started.isoformat(timespec="seconds"),
        "versions": {"model": model.name, "prompt": versions.prompt, "sources": versions.sources},
        "input": request.model_dump(exclude_defaults=True),
        "pages": {
            url: page and {"file": files[url], "charset": page.charset}
            for url, page in fetcher.pages.items()
        },
        **({"sources": own} if own else {}),
        "replies": [] if is_extractive else model.replies,
        "model": "extractive" if is_extractive else "scripted",
        "expected": _expected(outcome),
    }
    draft = _scrubbed(Draft(name, document, fixtures), scrub)
    await _replay(draft, config)
    return draft


def _scrubbed(draft: Draft, scrub: Scrub) -> Draft:
    """*draft* with keys masked; raises CannotRecord where that is impossible."""
    if any(scrub(url) != url for url in draft.document["pages"]):
        raise CannotRecord("The address of a page holds a key. Take it out of the sources.")
    document = _scrubbed_value(draft.document, scrub)
    # Latin-1 maps every byte to a character and back, whatever the charset of the page.
    fixtures = {
        name: scrub(body.decode("latin-1")).encode("latin-1")
        for name, body in draft.fixtures.items()
    }
    had_keys = (document, fixtures) != (draft.document, draft.fixtures)
    return Draft(draft.name, document, fixtures, had_keys)


def _scrubbed_value(value: Any, scrub: Scrub) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {key: _scrubbed_value(below, scrub) for key, below in value.items()}
    return [_scrubbed_value(item, scrub) for item in value] if isinstance(value, list) else value


async def _replay(draft: Draft, config: RunConfig) -> None:
    """Note the prompts of a replay of *draft*; raises CannotRecord unless it gives its body."""
    with TemporaryDirectory(prefix="judge-golden-") as folder:
        outcome = await run_case(load_case(write_draft(Path(folder), draft)), config)
    expected = draft.document["expected"]
    found = list(body_differences(expected["exact_body"], masked(outcome.body), is_exact=True))
    if found:
        lines = [line for difference in found[:5] for line in difference_lines(difference)]
        raise CannotRecord("\n".join(["The case would not replay as it was recorded:", *lines]))
    expected["prompt_digest"] = outcome.prompt_digest
    draft.document["prompts"] = list(outcome.prompts)


def _expected(outcome: Outcome) -> dict[str, Any]:
    """What is exact about the recorded answer, and an evaluator that any answer should pass."""
    exact = {"prompt_digest": outcome.prompt_digest, "exact_body": masked(outcome.body)}
    body = outcome.body
    if outcome.status != 200:
        return {"status": outcome.status, "type": found_value("type", outcome), **exact}
    question = "cites_something" if body["references"] else "no_citation"
    question = "declines_references" if body["evidence"] == "not_applicable" else question
    checked = {key: body[key] for key in ("domain", "attempts")}
    return {"status": 200, **checked, "evaluators": {question: True}, **exact}


def write_draft(folder: Path, draft: Draft) -> Path:
    """Write *draft* as a new case of *folder*.

    Raises CannotRecord, and ConfigurationError where it cannot be written.
    """
    path = new_case_path(folder, draft.name)
    for name, body in draft.fixtures.items():
        write_output(folder / PAGES / name, body)
    write_output(path, serialize_case(draft.document).encode())
    return path


async def update_cases(folder: Path, names: Sequence[str], config: RunConfig) -> list[Update]:
    """Rewrite the cases *names* of *folder*, all or none.

    Raises CannotReplay when a case needs a reply or page that it does not have, and what
    `load_cases` raises.
    """
    cases = load_cases(folder, names)
    updated = [(stored.path, *await _updated(stored, config)) for stored in cases]
    for path, document, _ in updated:
        write_output(path, serialize_case(document).encode())
    return [update for *_, update in updated]


async def _updated(stored: StoredCase, config: RunConfig) -> tuple[dict[str, Any], Update]:
    """The new document of *stored*, and what it changes."""
    outcome = await run_case(stored, config)
    # A case that was written by hand may leave out pages on purpose; a recorded one may not.
    missing = [name for name in outcome.missing if stored.case.recorded or name.startswith("reply")]
    if missing:
        raise CannotReplay(
            f"{stored.name} needs {', '.join(missing)}, which it does not have. Nothing is "
            "invented: record the case anew with `judge golden new`, or write it by hand. "
            "No case was changed."
        )
    document = json.loads(stored.path.read_text(encoding="utf-8-sig"))
    before = document.get("expected", {})
    document["expected"] = {key: _new_value(key, old, outcome) for key, old in before.items()}
    if "prompts" in document:
        document["prompts"] = list(outcome.prompts)
    changed = tuple(body_differences(before, document["expected"], is_exact=True))
    expected = Expected.model_validate(document["expected"])
    remaining = differences(expected, outcome, stored.evaluators)
    return document, Update(stored.name, changed, remaining)


def _new_value(key: str, old: Any, outcome: Outcome) -> Any:
    is_left_out = old is None and not key.endswith("Verdict")
    if key in _WRITTEN_BY_PEOPLE or is_left_out:
        return old
    if key == "status":
        return outcome.status
    if key == "body":
        return _projected(old, outcome.body)
    return masked(outcome.body) if key == "exact_body" else found_value(key, outcome)


def _projected(old: Any, found: Any) -> Any:
    """The part of *found* that *old* names."""
    if isinstance(old, Mapping) and isinstance(found, Mapping):
        return {key: _projected(below, found[key]) for key, below in old.items() if key in found}
    if isinstance(old, list) and isinstance(found, list) and len(old) == len(found):
        return [_projected(before, after) for before, after in zip(old, found, strict=True)]
    return found
