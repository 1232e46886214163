"""A recorded case replays to the recorded body and has no keys."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.adapters.memory.cache import MemoryCache, MemoryLock
from judge.adapters.models.extractive import ExtractiveModel
from judge.bootstrap.sources import compile_knowledge
from judge.errors import ContentBlocked
from judge.golden.case_files import load_case
from judge.golden.case_runner import RunConfig, run_case
from judge.golden.differences import differences, masked
from judge.golden.privacy import scrubber
from judge.golden.recording import CannotRecord, Draft, new_case_path, record, write_draft
from judge.golden.scoring import score
from judge.judging.pipeline import Pipeline
from judge.library.pages.retriever import SnippetRetriever
from judge.ports import LanguageModel
from judge.types.references import Page
from judge.types.replies import ModelReply, Usage
from judge.types.requests import JudgeRequest
from judge.types.text_files import TextFile
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


def site(**changes: Any) -> ScriptedFetcher:
    page = f"<!doctype html><main><p>{REPAIRS} Caf\xe9.</p></main>".encode("latin-1")
    return ScriptedFetcher(
        {
            "https://a.example/repairs": Page("https://a.example/repairs", page, "latin-1"),
            SECOND: Page(SECOND, f"<main><p>{TIME}</p></main>".encode(), "utf-8"),
        }
        | changes
    )


def answer(**changes: Any) -> ModelReply:
    text = json.dumps(reply(**changes), indent=1, ensure_ascii=False)
    return ModelReply(text, "real-model", usage=Usage(10, 20, 30))


def bytes_written_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*.*"))


async def recorded(model: LanguageModel, fetcher: ScriptedFetcher | None = None) -> Draft:
    judging = pipeline(model, fetcher)
    return await record("boiler", ASKED, judging, scrubber([KEY]))


async def test_recorded_case_replays_to_the_same_body_to_the_byte(tmp_path: Path) -> None:
    draft = await recorded(ScriptedModel(answer()))
    stored = load_case(write_draft(tmp_path, draft))
    outcome = await run_case(stored, run_config())
    assert differences(stored.case.expected, outcome) == ()
    recorded_body = read(stored.path)["expected"]["exact_body"]
    assert json.dumps(masked(outcome.body)) == json.dumps(recorded_body)
    assert recorded_body["model"] == "real-model"
    assert recorded_body["usage"]["thinking_tokens"] == 30
    assert not draft.had_keys


async def test_case_keeps_the_sources_that_it_was_recorded_with(tmp_path: Path) -> None:
    kept = (TextFile("config/sources.toml", SOURCES),)
    judging = pipeline(ScriptedModel(answer()))
    draft = await record("boiler", ASKED, judging, scrubber([KEY]), sources=kept)
    stored = load_case(write_draft(tmp_path, draft))
    [name] = stored.case.sources
    assert (tmp_path / "pages" / name).read_text() == SOURCES
    others = RunConfig(compile_knowledge("[domains.pets]\nterms = { dog = 3 }"))
    outcome = await run_case(stored, others)
    assert differences(stored.case.expected, outcome) == ()
    assert outcome.versions.sources == draft.document["versions"]["sources"]
    assert score(stored, 1, outcome, others).sources_version == outcome.versions.sources
    swept = await run_case(stored, replace(others, is_exact=False))
    assert swept.versions == others.knowledge.versions


async def test_page_bytes_replies_and_versions_are_recorded_unchanged(tmp_path: Path) -> None:
    draft = await recorded(ScriptedModel(answer()))
    path = write_draft(tmp_path, draft)
    document = read(path)
    assert (tmp_path / "pages" / "boiler.1.html").read_bytes().count(b"Caf\xe9") == 1
    assert document["pages"]["https://a.example/repairs"]["charset"] == "latin-1"
    assert document["replies"][0]["text"] == answer().text
    known = run_config().knowledge.versions
    assert document["versions"] == {
        "model": "scripted",
        "prompt": known.prompt,
        "sources": known.sources,
    }
    assert document["recorded"] is True
    assert document["input"] == {"context": ASKED.context, "query": ASKED.query}
    assert document["expected"]["evaluators"] == {"cites_something": True}


async def test_two_attempts_and_an_unavailable_page_are_recorded(tmp_path: Path) -> None:
    down = site()
    down.fail(SECOND)
    draft = await recorded(ScriptedModel("no json", answer(summary="See [1].")), down)
    stored = load_case(write_draft(tmp_path, draft))
    assert stored.pages[SECOND] is None
    assert stored.case.expected.attempts == 2
    assert differences(stored.case.expected, await run_case(stored, run_config())) == ()


@pytest.mark.parametrize(
    ("script", "status", "kind"),
    [((ContentBlocked("SAFETY"),), 422, "content-blocked"), (("x", "y"), 502, "invalid-reply")],
)
async def test_refusals_and_invalid_replies_are_recorded(script, status: int, kind: str) -> None:
    draft = await recorded(ScriptedModel(*script))
    assert draft.document["expected"]["status"] == status
    assert draft.document["expected"]["type"] == kind


async def test_dispute_without_pages_is_recorded_to_cite_nothing() -> None:
    asked = JudgeRequest(context="We quarrel about a thing.", query="Am I wrong?")
    model = ScriptedModel(answer(summary="Nothing to cite.", quotes=[]))
    draft = await record("boiler", asked, pipeline(model), scrubber([]))
    assert draft.document["expected"]["evaluators"] == {"no_citation": True}
    assert draft.document["pages"] == {}


async def test_keys_are_scrubbed_everywhere_and_the_case_still_replays(
    tmp_path: Path,
) -> None:
    leaky = site()
    leaky.page(SECOND, f"<!-- {KEY} --><main><p>{TIME} {KEY}</p></main>")
    draft = await recorded(ScriptedModel(answer(paraphrase=f"You said {KEY}.")), leaky)
    stored = load_case(write_draft(tmp_path, draft))
    assert draft.had_keys
    assert differences(stored.case.expected, await run_case(stored, run_config())) == ()
    assert KEY.encode() not in bytes_written_in(tmp_path)


async def test_key_in_the_url_of_a_page_is_refused() -> None:
    known = compile_knowledge(SOURCES.replace("b.example/time", f"b.example/time?key={KEY}"))
    leaky = site()
    leaky.page(f"{SECOND}?key={KEY}", f"<main><p>{TIME}</p></main>")
    judging = pipeline(ScriptedModel(answer()), leaky)
    with pytest.raises(CannotRecord, match="address of a page"):
        await record(
            "boiler",
            ASKED,
            replace(judging, knowledge=lambda: known),
            scrubber([KEY]),
        )


async def test_case_that_would_not_replay_is_refused() -> None:
    judging = pipeline(ScriptedModel(answer()))
    with pytest.raises(CannotRecord, match="would not replay"):
        await record(
            "boiler",
            ASKED,
            judging,
            lambda t: t.replace('"sentences"', '"s3ntences"'),
        )


@pytest.mark.parametrize("name", ["", "Upper", "../up", "a.b", "x" * 81])
def test_invalid_case_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CannotRecord, match="cannot name a case"):
        new_case_path(tmp_path, name)
