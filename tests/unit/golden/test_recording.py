"""A recorded case replays to the recorded body and has no keys."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.adapters.memory import MemoryCache, MemoryLock
from judge.adapters.models.extractive import ExtractiveModel
from judge.bootstrap.sources import compile_knowledge
from judge.errors import ConfigurationError, ContentBlocked
from judge.golden.cases import StoredCase, load_case
from judge.golden.differences import differences, masked
from judge.golden.recording import new_case_path, record, scrubber
from judge.golden.replay import run_case
from judge.judging.pipeline import Pipeline
from judge.library.pages.retriever import SnippetRetriever
from judge.ports import LanguageModel
from judge.types.references import Page
from judge.types.replies import ModelReply, Usage
from judge.types.requests import JudgeRequest
from tests.fakes.clock import FakeClock
from tests.fakes.fetcher import ScriptedFetcher
from tests.fakes.journal import RecordingJournal
from tests.fakes.model import ScriptedModel
from tests.fakes.pipeline import build_pipeline
from tests.unit.golden.material import REPAIRS, SOURCES, TIME, read, reply, run_config

KEY = "a-very-secret-key"
ASKED = JudgeRequest(
    context="My landlord Rowan Pike has left the boiler broken.", query="Am I unreasonable?"
)
SECOND = "https://b.example/time"


def pipeline(model: LanguageModel, fetcher: ScriptedFetcher | None = None) -> Pipeline:
    clock, journal = FakeClock(), RecordingJournal()
    cache, lock = MemoryCache(clock), MemoryLock(clock)
    known = compile_knowledge(SOURCES)
    retriever = SnippetRetriever(fetcher or site(), cache, lock, clock, journal)
    return build_pipeline(known, retriever, model, ExtractiveModel(), clock=clock, deadline_s=5)


def site() -> ScriptedFetcher:
    page = f"<!doctype html><main><p>{REPAIRS} Caf\xe9.</p></main>".encode("latin-1")
    return ScriptedFetcher(
        {
            "https://a.example/repairs": Page("https://a.example/repairs", page, "latin-1"),
            SECOND: Page(SECOND, f"<main><p>{TIME}</p></main>".encode(), "utf-8"),
        }
    )


def answer(**changes: Any) -> ModelReply:
    text = json.dumps(reply(**changes), indent=1, ensure_ascii=False)
    return ModelReply(text, "real-model", usage=Usage(10, 20, 30))


async def recorded(folder: Path, judging: Pipeline, **options: Any) -> StoredCase:
    path = folder / "boiler.json"
    await record(path, options.pop("asked", ASKED), judging, scrubber([KEY]), **options)
    return load_case(path)


def bytes_written_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*.*"))


async def is_as_expected(stored: StoredCase) -> bool:
    return differences(stored.case.expected, await run_case(stored, run_config())) == ()


async def test_recorded_case_replays_to_the_same_body_to_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "boiler.json"
    judging = pipeline(ScriptedModel(answer()))
    document, had_keys = await record(path, ASKED, judging, scrubber([KEY]))
    assert (document, had_keys) == (read(path), False)
    outcome = await run_case(load_case(path), run_config())
    recorded_body = document["expected"]["exact_body"]
    assert json.dumps(masked(outcome.body)) == json.dumps(recorded_body)
    assert recorded_body["model"] == "real-model"
    assert recorded_body["usage"]["thinking_tokens"] == 30
    assert (tmp_path / "pages" / "boiler.1.html").read_bytes().count(b"Caf\xe9") == 1
    assert document["pages"]["https://a.example/repairs"]["charset"] == "latin-1"
    assert document["replies"][0]["text"] == answer().text
    known = run_config().knowledge().versions
    assert document["versions"] == {
        "model": "scripted", "prompt": known.prompt, "sources": known.sources,
    }  # fmt: skip
    assert document["recorded"] is True
    assert document["input"] == {"context": ASKED.context, "query": ASKED.query}
    assert document["expected"]["evaluators"] == {"cites_something": True}


async def test_two_attempts_and_an_unavailable_page_are_recorded(tmp_path: Path) -> None:
    down = site()
    down.fail(SECOND)
    model = ScriptedModel("no json", answer(summary="See [1]."))
    stored = await recorded(tmp_path, pipeline(model, down))
    assert stored.pages[SECOND] is None
    assert stored.case.expected.attempts == 2
    assert await is_as_expected(stored)


@pytest.mark.parametrize(
    ("script", "status", "kind"),
    [((ContentBlocked("SAFETY"),), 422, "content-blocked"), (("x", "y"), 502, "invalid-reply")],
)
async def test_refusals_and_invalid_replies_are_recorded(
    tmp_path: Path, script, status: int, kind: str
) -> None:
    stored = await recorded(tmp_path, pipeline(ScriptedModel(*script)))
    assert (stored.case.expected.status, stored.case.expected.type) == (status, kind)


async def test_dispute_without_pages_is_recorded_to_cite_nothing(tmp_path: Path) -> None:
    asked = JudgeRequest(context="We quarrel about a thing.", query="Am I wrong?")
    model = ScriptedModel(answer(summary="Nothing to cite.", quotes=[]))
    stored = await recorded(tmp_path, pipeline(model), asked=asked)
    assert stored.case.expected.evaluators == {"no_citation": True}
    assert stored.pages == {}


async def test_keys_are_scrubbed_everywhere_and_the_case_still_replays(tmp_path: Path) -> None:
    leaky = site()
    leaky.page(SECOND, f"<!-- {KEY} --><main><p>{TIME} {KEY}</p></main>")
    judging = pipeline(ScriptedModel(answer(paraphrase=f"You said {KEY}.")), leaky)
    _, had_keys = await record(tmp_path / "boiler.json", ASKED, judging, scrubber([KEY]))
    assert had_keys
    assert await is_as_expected(load_case(tmp_path / "boiler.json"))
    assert KEY.encode() not in bytes_written_in(tmp_path)


async def test_key_in_the_url_of_a_page_is_refused(tmp_path: Path) -> None:
    known = compile_knowledge(SOURCES.replace("b.example/time", f"b.example/time?key={KEY}"))
    leaky = site()
    leaky.page(f"{SECOND}?key={KEY}", f"<main><p>{TIME}</p></main>")
    judging = replace(pipeline(ScriptedModel(answer()), leaky), knowledge=lambda: known)
    with pytest.raises(ConfigurationError, match="address of a page"):
        await recorded(tmp_path, judging)


async def test_case_that_would_not_replay_is_refused(tmp_path: Path) -> None:
    judging = pipeline(ScriptedModel(answer()))
    with pytest.raises(ConfigurationError, match="would not replay"):
        await record(
            tmp_path / "boiler.json",
            ASKED,
            judging,
            lambda text: text.replace('"sentences"', '"s3ntences"'),
        )
    assert bytes_written_in(tmp_path) == b""


def test_invalid_case_name_is_refused(tmp_path: Path) -> None:
    for name in ("", "Upper", "../up", "a.b", "x" * 81):
        with pytest.raises(ConfigurationError, match="cannot name a case"):
            new_case_path(tmp_path, name)
