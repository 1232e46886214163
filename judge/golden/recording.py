"""Make a case from a live judgement: its pages to the byte, its replies, its versions.

record -> scrub keys -> replay: only a case that gives the recorded body again is kept.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge.adapters.memory_cache import MemoryCache, MemoryLock
from judge.errors import ContentBlocked, InvalidReply, ModelUnavailable
from judge.golden.cases import GoldenCase
from judge.golden.compare import Difference, body_differences, masked
from judge.golden.diff import lines_of
from judge.golden.errors import CannotRecord
from judge.golden.files import as_text, write_whole, writing_to
from judge.golden.run import Outcome, ProblemOf, Stage, digest_of, judge_with, run_case
from judge.golden.store import PAGES, StoredCase
from judge.judging.pages.retriever import SnippetRetriever
from judge.judging.pipeline import Pipeline
from judge.ports import LanguageModel, PageFetcher
from judge.settings import EXTRACTIVE
from judge.types.judgements import (
    JudgeRequest,
    ModelReply,
    NotModified,
    Page,
    Prompt,
    Validators,
)

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
NONE_KNOWN = Validators()

Scrub = Callable[[str], str]


class RecordingFetcher:
    """A PageFetcher that keeps what *fetcher* brings; None stands for a page that is down."""

    def __init__(self, fetcher: PageFetcher) -> None:
        self._fetcher = fetcher
        self.pages: dict[str, Page | None] = {}

    async def fetch(
        self, url: str, *, timeout_s: float, validators: Validators = NONE_KNOWN
    ) -> Page | NotModified:
        """As *fetcher* does, FetchError included."""
        self.pages[url] = None  # Also when the time runs out.
        page = await self._fetcher.fetch(url, timeout_s=timeout_s, validators=validators)
        if isinstance(page, Page):
            self.pages[url] = page
        return page


class RecordingModel:
    """A LanguageModel that keeps what *model* says, as a case writes it."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.name = model.name
        self.gives_verdicts = model.gives_verdicts
        self.replies: list[dict[str, Any]] = []
        self.prompts: list[Prompt] = []

    async def complete(
        self, prompt: Prompt, *, timeout_s: float, has_more_room: bool
    ) -> ModelReply:
        """As *model* does."""
        self.prompts.append(prompt)
        try:
            reply = await self._model.complete(
                prompt, timeout_s=timeout_s, has_more_room=has_more_room
            )
        except ContentBlocked as error:
            self.replies.append({"blocked": error.reason})
            raise
        except (ModelUnavailable, TimeoutError, asyncio.CancelledError) as error:
            self.replies.append({"unavailable": str(error) or "no reply in time"})
            raise
        self.replies.append(_written(reply))
        return reply


def _written(reply: ModelReply) -> dict[str, Any]:
    tokens = {
        "input_tokens": reply.usage.input_tokens,
        "output_tokens": reply.usage.output_tokens,
        "thinking_tokens": reply.usage.thinking_tokens,
    }
    return {"text": reply.text, "finish": reply.finish, "model": reply.model, "usage": tokens}


@dataclass(frozen=True, slots=True)
class _Take:
    """What was recorded of one judgement."""

    name: str
    request: JudgeRequest
    outcome: Outcome
    pages: Mapping[str, Page | None]
    model: RecordingModel


@dataclass(frozen=True, slots=True)
class Draft:
    """A case that is not written yet: its document, and its fixtures by file name."""

    name: str
    document: Mapping[str, Any]
    fixtures: Mapping[str, bytes]
    had_keys: bool
    """Whether something that looks like a key was made unreadable."""


def place_for(folder: Path, name: str) -> Path:
    """The file of a new case; raises CannotRecord if *name* cannot be one or is taken."""
    if not NAME.fullmatch(name):
        raise CannotRecord(f"{name!r} cannot name a case; use at most 80 of a-z, 0-9, - and _.")
    path = folder / f"{name}.json"
    if path.exists():
        raise CannotRecord(f"There is a case {path} already. Choose another name.")
    return path


async def record(
    name: str, request: JudgeRequest, pipeline: Pipeline, problem_of: ProblemOf, scrub: Scrub
) -> Draft:
    """Judge *request* through the real *pipeline*, without its cache and fallback, as a draft.

    Raises CannotRecord when the draft would not replay as it was, and what the pipeline raises
    when there is no reply to record.
    """
    fetcher = RecordingFetcher(pipeline.references.retriever.fetcher)
    model = RecordingModel(pipeline.model.primary)
    clock = pipeline.clock
    retriever = SnippetRetriever(
        fetcher, MemoryCache(clock), MemoryLock(clock), clock, pipeline.journal
    )
    listening = replace(
        pipeline,
        references=replace(pipeline.references, retriever=retriever),
        model=replace(pipeline.model, primary=model, fallback=None),
    )
    stored = StoredCase(name, Path(name), GoldenCase(input=request), {})
    try:
        outcome = await judge_with(listening, stored, problem_of)
    finally:
        await retriever.aclose()
    if outcome.error and not isinstance(outcome.error, ContentBlocked | InvalidReply):
        raise outcome.error
    told = replace(outcome, prompts=tuple(model.prompts))
    take = _Take(name, request, told, fetcher.pages, model)
    return await _draft(take, Stage(pipeline.knowledge(), problem_of), scrub)


async def _draft(take: _Take, stage: Stage, scrub: Scrub) -> Draft:
    pages = take.pages
    for url in pages:
        if scrub(url) != url:
            raise CannotRecord("The address of a page holds a key. Take it out of the sources.")
    document = _document(take, stage)
    clean = _scrubbed(document, scrub)
    fixtures = {
        entry["file"]: _scrub_bytes(page.body, scrub)
        for entry, page in zip(clean["pages"].values(), pages.values(), strict=True)
        if page is not None
    }
    had_keys = clean != document or any(
        page is not None and page.body not in fixtures.values() for page in pages.values()
    )
    draft = Draft(take.name, clean, fixtures, had_keys)
    clean["expected"]["prompt_digest"] = await _proven(draft, stage)
    return draft


def _document(take: _Take, stage: Stage) -> dict[str, Any]:
    versions = stage.knowledge.versions
    is_extractive = take.model.name == EXTRACTIVE
    return {
        "about": "",
        "recorded": True,
        "versions": {
            "model": take.model.name,
            "prompt": versions.prompt,
            "sources": versions.sources,
        },
        "input": take.request.model_dump(exclude_none=True),
        "pages": {
            url: {"file": f"{take.name}.{number}.html", "charset": page.charset} if page else None
            for number, (url, page) in enumerate(take.pages.items(), 1)
        },
        "replies": [] if is_extractive else take.model.replies,
        "model": "extractive" if is_extractive else "scripted",
        "expected": _expected(take.outcome),
    }


def _expected(outcome: Outcome) -> dict[str, Any]:
    """What is certain of the recorded answer, and the questions that any answer should meet."""
    exact = {"prompt_digest": digest_of(outcome.prompts), "exact_body": masked(outcome.body)}
    if outcome.status != 200:
        kind = outcome.body["type"].rpartition("/")[2]
        return {"status": outcome.status, "type": kind, **exact}
    question = "cites_something" if outcome.body["references"] else "no_citation"
    return {
        "status": 200,
        "domain": outcome.body["domain"],
        "attempts": outcome.body["attempts"],
        "evaluators": {question: True},
        **exact,
    }


async def _proven(draft: Draft, stage: Stage) -> str:
    """The digest of the prompts that *draft* replays, which is the recorded one without keys.

    Raises CannotRecord unless it replays to the prompts and the body that were recorded.
    """
    case = GoldenCase.model_validate(draft.document)
    pages = {
        url: None if entry is None else Page(url, draft.fixtures[entry["file"]], entry["charset"])
        for url, entry in draft.document["pages"].items()
    }
    outcome = await run_case(StoredCase(draft.name, Path(draft.name), case, pages), stage)
    expected, digest = draft.document["expected"], digest_of(outcome.prompts)
    found = list(body_differences(expected["exact_body"], masked(outcome.body), is_exact=True))
    if digest != expected["prompt_digest"] and not draft.had_keys:
        found.append(Difference("prompt_digest", expected["prompt_digest"], digest))
    if found:
        told = "\n".join(line for difference in found[:5] for line in lines_of(difference))
        raise CannotRecord(f"The case would not replay as it was recorded:\n{told}")
    return digest


def write_draft(folder: Path, draft: Draft) -> Path:
    """Write *draft* as a new case of *folder*; raises what `place_for` does, and CasesLocked."""
    (folder / PAGES).mkdir(parents=True, exist_ok=True)
    with writing_to(folder):
        path = place_for(folder, draft.name)
        for name, body in draft.fixtures.items():
            write_whole(folder / PAGES / name, body)
        write_whole(path, as_text(draft.document).encode())
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
