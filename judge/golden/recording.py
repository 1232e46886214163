"""Make a case from a live judgement: its pages to the byte, its replies, its versions.

record -> scrub keys -> replay: only a case that gives the recorded body again is kept.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from judge.adapters.memory_cache import MemoryCache, MemoryLock
from judge.errors import ContentBlocked, InvalidReply, JudgeError
from judge.golden.case_reader import PAGES, load_case
from judge.golden.case_runner import (
    Outcome,
    ProblemOf,
    RunConfig,
    digest_of,
    judge_recorded,
    run_case,
)
from judge.golden.case_writer import as_text, write_output, writing_to
from judge.golden.difference_text import difference_lines
from judge.golden.differences import Difference, body_differences, masked
from judge.golden.recorders import RecordingFetcher, RecordingModel
from judge.judging.pages.retriever import SnippetRetriever
from judge.judging.pipeline import Pipeline
from judge.settings import EXTRACTIVE
from judge.types.references import Page
from judge.types.requests import JudgeRequest
from judge.types.text_files import TextFile

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")

Scrub = Callable[[str], str]


class CannotRecord(JudgeError):
    """What was recorded cannot become a case; the text says why and nothing was written."""


@dataclass(frozen=True, slots=True)
class _Recording:
    """What was recorded of one judgement."""

    name: str
    request: JudgeRequest
    outcome: Outcome
    pages: Mapping[str, Page | None]
    model: RecordingModel
    sources: Sequence[TextFile]


@dataclass(frozen=True, slots=True)
class Draft:
    """A case that is not written yet: its document, and its fixtures by file name."""

    name: str
    document: Mapping[str, Any]
    fixtures: Mapping[str, bytes]
    had_keys: bool
    """Whether something that looks like a key was made unreadable."""


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
    problem_of: ProblemOf,
    scrub: Scrub,
    *,
    sources: Sequence[TextFile] = (),
) -> Draft:
    """Judge *request* through the real *pipeline*, without its cache and fallback, as a draft.

    The case keeps *sources*, which the pipeline knows, if it is to be replayed over them for good.
    Raises CannotRecord when the draft would not replay as it was, and what the pipeline raises
    when there is no reply to record.
    """
    fetcher = RecordingFetcher(pipeline.references.retriever.fetcher)
    model = RecordingModel(pipeline.model.primary)
    clock = pipeline.clock
    retriever = SnippetRetriever(
        fetcher, MemoryCache(clock), MemoryLock(clock), clock, pipeline.journal
    )
    recorded = replace(
        pipeline,
        references=replace(pipeline.references, retriever=retriever),
        model=replace(pipeline.model, primary=model, fallback=None),
    )
    try:
        outcome = await judge_recorded(recorded, model, request, problem_of)
    finally:
        await retriever.aclose()
    if outcome.error and not isinstance(outcome.error, ContentBlocked | InvalidReply):
        raise outcome.error
    recording = _Recording(name, request, outcome, fetcher.pages, model, sources)
    return await _draft(recording, RunConfig(pipeline.knowledge(), problem_of), scrub)


async def _draft(recording: _Recording, config: RunConfig, scrub: Scrub) -> Draft:
    pages = recording.pages
    for url in pages:
        if scrub(url) != url:
            raise CannotRecord("The address of a page holds a key. Take it out of the sources.")
    document = _document(recording, config)
    clean = _scrubbed(document, scrub)
    seen = {
        entry["file"]: page.body
        for entry, page in zip(clean["pages"].values(), pages.values(), strict=True)
        if page is not None
    }
    texts = (file.text.encode() for file in recording.sources)
    seen |= zip(clean.get("sources", ()), texts, strict=True)
    fixtures = {name: _scrub_bytes(body, scrub) for name, body in seen.items()}
    had_keys = clean != document or fixtures != seen
    draft = Draft(recording.name, clean, fixtures, had_keys)
    clean["expected"]["prompt_digest"] = await _replayed_digest(draft, config)
    return draft


def _document(recording: _Recording, config: RunConfig) -> dict[str, Any]:
    versions = config.knowledge.versions
    is_extractive = recording.model.name == EXTRACTIVE
    return {
        "about": "",
        "recorded": True,
        "versions": {
            "model": recording.model.name,
            "prompt": versions.prompt,
            "sources": versions.sources,
        },
        "input": recording.request.model_dump(exclude_defaults=True),
        "pages": {
            url: {"file": f"{recording.name}.{number}.html", "charset": page.charset}
            if page
            else None
            for number, (url, page) in enumerate(recording.pages.items(), 1)
        },
        **_kept_sources(recording.sources, versions.sources),
        "replies": [] if is_extractive else recording.model.replies,
        "model": "extractive" if is_extractive else "scripted",
        "expected": _expected(recording.outcome),
    }


def _kept_sources(sources: Sequence[TextFile], digest: str) -> dict[str, list[str]]:
    """The fixtures of *sources*, which all cases that are recorded with them share."""
    names = [f"sources.{digest}.{number}.toml" for number, _ in enumerate(sources, 1)]
    return {"sources": names} if names else {}


def _expected(outcome: Outcome) -> dict[str, Any]:
    """What is certain of the recorded answer, and the questions that any answer should meet."""
    exact = {"prompt_digest": digest_of(outcome.prompts), "exact_body": masked(outcome.body)}
    if outcome.status != 200:
        kind = outcome.body["type"].rpartition("/")[2]
        return {"status": outcome.status, "type": kind, **exact}
    return {
        "status": 200,
        "domain": outcome.body["domain"],
        "attempts": outcome.body["attempts"],
        "evaluators": {_question(outcome): True},
        **exact,
    }


def _question(outcome: Outcome) -> str:
    """What any answer should do with the references: cite them, decline them, or have none."""
    if outcome.body["evidence"] == "not_applicable":
        return "declines_references"
    return "cites_something" if outcome.body["references"] else "no_citation"


async def _replayed_digest(draft: Draft, config: RunConfig) -> str:
    """The digest of the prompts that *draft* replays, which is the recorded one without keys.

    Raises CannotRecord unless it replays to the prompts and the body that were recorded.
    """
    with TemporaryDirectory(prefix="judge-golden-") as folder:
        stored = load_case(write_draft(Path(folder), draft))
    outcome = await run_case(stored, config)
    expected, digest = draft.document["expected"], digest_of(outcome.prompts)
    found = list(body_differences(expected["exact_body"], masked(outcome.body), is_exact=True))
    if digest != expected["prompt_digest"] and not draft.had_keys:
        found.append(Difference("prompt_digest", expected["prompt_digest"], digest))
    if found:
        lines = [line for difference in found[:5] for line in difference_lines(difference)]
        raise CannotRecord("\n".join(["The case would not replay as it was recorded:", *lines]))
    return digest


def write_draft(folder: Path, draft: Draft) -> Path:
    """Write *draft* as a new case of *folder*.

    Raises CannotRecord, CasesLocked, and ConfigurationError where it cannot be written.
    """
    with writing_to(folder):
        path = new_case_path(folder, draft.name)
        for name, body in draft.fixtures.items():
            write_output(folder / PAGES / name, body)
        write_output(path, as_text(draft.document).encode())
    return path


def _scrubbed(value: Any, scrub: Scrub) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {key: _scrubbed(below, scrub) for key, below in value.items()}
    return [_scrubbed(below, scrub) for below in value] if isinstance(value, list) else value


def _scrub_bytes(body: bytes, scrub: Scrub) -> bytes:
    """Latin-1 gives every byte a character and back, whatever the page's own charset."""
    return scrub(body.decode("latin-1")).encode("latin-1")
