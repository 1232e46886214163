"""The contract of LanguageModel: Gemini and chat completions on fake servers, the extractive model,
and the scripted one that other tests rely on."""

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from judge.adapters.models.extractive import ExtractiveModel
from judge.adapters.models.gemini import GeminiClient, GeminiService
from judge.adapters.models.openai import open_client
from judge.adapters.models.remote import ModelService, RemoteModel
from judge.errors import ContentBlocked, JudgeError, ModelUnavailable
from judge.judging.prompts import DEFAULT_PERSONAS
from judge.judging.verdicts.check import check_reply
from judge.judging.verdicts.reply_schema import reply_schema
from judge.ports import LanguageModel, OnText, ignore_text
from judge.types.references import Reference
from judge.types.replies import ModelReply, Prompt, Usage
from judge.types.requests import JudgeRequest
from tests.fakes.chat_server import ChatReply, ChatServer, broken, model_at, page
from tests.fakes.gemini import (
    FakeGemini,
    Reply,
    blocked,
    dropped,
    dropped_midway,
    ended_midway,
    failure,
    finish,
    html,
    no_candidates,
    slow,
    verdict_for,
)
from tests.fakes.gemini import text as gemini_text
from tests.fakes.journal import RecordingJournal, full_report
from tests.fakes.model import ScriptedModel

KEY = "sk-very-secret"
WORDS = "Your landlord must keep the heating and hot water in repair."
TEXT = f"Judge this.\n<REFERENCES>\n[1] {{1}} {WORDS}\n</REFERENCES>"


def make_prompt() -> Prompt:
    request = JudgeRequest(
        context="The boiler has been cold for a fortnight.",
        query="Am I unreasonable to ask for repairs?",
    )
    fetched_at = datetime(2026, 1, 1, tzinfo=UTC)
    reference = Reference(1, "page", "https://example.org/1", "Repairs", WORDS, fetched_at, False)
    return Prompt("You are a fair judge.", TEXT, request, (reference,), DEFAULT_PERSONAS)


VERDICT = json.dumps(verdict_for(TEXT))


@dataclass
class ModelUnderTest:
    """A model, a function that brings about a situation of the contract, and its journal."""

    model: LanguageModel
    bring_about: Callable[[str], object]
    journal: RecordingJournal = field(default_factory=RecordingJournal)


def _scripted() -> ModelUnderTest:
    model = ScriptedModel(*[VERDICT] * 8)
    situations: dict[str, str | ModelReply | Exception] = {
        "unavailable": ModelUnavailable("no answer"),
        "blocked": ContentBlocked("SAFETY"),
        "out of time": TimeoutError(),
        "empty": ModelReply("", "scripted", "empty"),
        "truncated": ModelReply("{", "scripted", "truncated"),
    }
    return ModelUnderTest(model, lambda situation: model._script.appendleft(situations[situation]))


def _remote(service: ModelService, journal: RecordingJournal) -> RemoteModel:
    return RemoteModel(service, journal, jitter=lambda: -1.0)  # no wait before a retry


@asynccontextmanager
async def _gemini() -> AsyncIterator[ModelUnderTest]:
    situations = {
        "unavailable": (failure(503, message=f"{KEY} is tired"),) * 4,
        "blocked": (blocked(),),
        "out of time": (slow("late", 30),),
        "empty": (no_candidates(),),
        "truncated": (finish("MAX_TOKENS", "{"),),
        "dropped": (dropped(),),
        "dropped midway": (dropped_midway(VERDICT),),
        "ended midway": (ended_midway(VERDICT),),
        "not JSON": (html(),),
        "failing": (failure(500),),
        "too busy": (failure(429, retry_after="0"),),
        "timed out there": (failure(408),),
        "refused": (failure(403, message=f"{KEY} is no key"),),
        "redirected": (Reply(status=302, headers={"Location": f"http://127.0.0.1/?{KEY}"}),),
        "thinking": (gemini_text(VERDICT, thought="let me see"),),
        "prose": (f"Here you are:\n{VERDICT}\nI hope that helps!",),
        "fenced": (f"```json\n{VERDICT}\n```",),
        "no schema": ('{"answer": 42}',),
    }
    async with FakeGemini() as fake:
        client, journal = GeminiClient(KEY, fake.base_url), RecordingJournal()
        service = GeminiService(
            client,
            journal,
            name="gemini-3.8-flash",
            reply_schema=reply_schema,
            thinking="low",
        )
        yield ModelUnderTest(
            _remote(service, journal),
            lambda situation: fake.script(*situations[situation]),
            journal,
        )
        await client.aclose()


@asynccontextmanager
async def _openai() -> AsyncIterator[ModelUnderTest]:
    situations = {
        "unavailable": (broken(503, f"{KEY} is tired"),) * 4,
        "blocked": (ChatReply(finish="content_filter"),),
        "out of time": (ChatReply("late", delay_s=30),),
        "empty": (ChatReply(),),
        "truncated": (ChatReply("{", finish="length"),),
        "dropped": (ChatReply(cut="at-once"),),
        "dropped midway": (ChatReply(VERDICT, cut="midway"),),
        "ended midway": (ChatReply(VERDICT, cut="silently"),),
        "not JSON": (page(),),
        "failing": (broken(500),),
        "too busy": (broken(429, headers={"Retry-After": "0"}),),
        "timed out there": (broken(408),),
        "refused": (broken(403, f"{KEY} is no key"),),
        "redirected": (ChatReply(body=b"", status=302, headers={"Location": f"/?{KEY}"}),),
        "thinking": (ChatReply(VERDICT, thought="let me see"),),
        "prose": (f"Here you are:\n{VERDICT}\nI hope that helps!",),
        "fenced": (f"```json\n{VERDICT}\n```",),
        "no schema": ('{"answer": 42}',),
    }
    async with ChatServer() as fake, open_client(fake.base_url) as client:
        journal = RecordingJournal()
        yield ModelUnderTest(
            model_at(fake.base_url, client, journal, key=KEY),
            lambda situation: fake.script(*situations[situation]),
            journal,
        )


REMOTE = {"gemini": _gemini, "openai": _openai}


@pytest.fixture(params=REMOTE)
async def remote(request: pytest.FixtureRequest) -> AsyncIterator[ModelUnderTest]:
    """The models behind a service."""
    async with REMOTE[request.param]() as rig:
        yield rig


@pytest.fixture(params=[*REMOTE, "scripted"])
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[ModelUnderTest]:
    """The models that can fail."""
    if request.param == "scripted":
        yield _scripted()
        return
    async with REMOTE[request.param]() as rig:
        yield rig


@pytest.fixture(params=[*REMOTE, "scripted", "extractive"])
async def model(request: pytest.FixtureRequest) -> AsyncIterator[LanguageModel]:
    """All of them."""
    if request.param == "extractive":
        yield ExtractiveModel()
    elif request.param == "scripted":
        yield _scripted().model
    else:
        async with REMOTE[request.param]() as rig:
            yield rig.model


@pytest.fixture(params=["whole", "listening"])
def on_text(request: pytest.FixtureRequest) -> OnText:
    """Without and with a listener for partial text."""
    return ignore_text if request.param == "whole" else lambda _: None


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No seconds of waiting before the retries, whose lengths are claimed elsewhere."""
    monkeypatch.setattr("judge.adapters.models.remote.BUSY_BACKOFFS_S", (0.01, 0.01, 0.01))


async def complete(
    model: LanguageModel, timeout_s: float = 10.0, on_text: OnText = ignore_text
) -> ModelReply:
    return await model.complete(
        make_prompt(), timeout_s=timeout_s, doubles_limit=False, on_text=on_text
    )


def broken_rules_of(reply: ModelReply) -> set[str]:
    checked = check_reply(reply, make_prompt(), needs_verdicts=True)
    return {defect.rule for defect in checked.defects}


async def test_reply_is_one_json_object_with_every_member(model):
    reply = json.loads((await complete(model)).text)

    assert set(reply) == {"paraphrase", "personas", "summary", "references_help", "quotes"}


async def test_reply_has_finish_reason_and_model_name(model):
    reply = await complete(model)

    assert (reply.finish, reply.model) == ("stop", model.name)


async def test_verdicts_are_given_if_and_only_if_the_model_gives_verdicts(model):
    personas = json.loads((await complete(model)).text)["personas"]

    assert {persona["verdict"] is not None for persona in personas} == {model.gives_verdicts}


async def test_call_may_ask_for_more_room(model):
    reply = await model.complete(make_prompt(), timeout_s=10, doubles_limit=True)

    assert reply.finish == "stop"


async def test_concurrent_calls_each_get_a_reply(model):
    async with asyncio.TaskGroup() as group:
        calls = [group.create_task(complete(model)) for _ in range(8)]

    assert [call.result().finish for call in calls] == ["stop"] * 8


async def test_no_answer_raises_model_unavailable_with_retry_after(rig, on_text):
    rig.bring_about("unavailable")

    with pytest.raises(ModelUnavailable) as caught:
        await complete(rig.model, on_text=on_text)

    assert caught.value.retry_after_s > 0


async def test_safety_filter_raises_content_blocked_with_its_reason(rig, on_text):
    rig.bring_about("blocked")

    with pytest.raises(ContentBlocked) as caught:
        await complete(rig.model, on_text=on_text)

    assert caught.value.reason in {"SAFETY", "CONTENT_FILTER"}


async def test_timeout_raises_timeout_error(rig, on_text):
    await complete(rig.model)  # so that the timeout does not include start-up
    rig.bring_about("out of time")

    with pytest.raises(TimeoutError):
        await complete(rig.model, timeout_s=0.1, on_text=on_text)


@pytest.mark.parametrize("situation", ["empty", "truncated"])
async def test_incomplete_reply_has_its_finish_reason(rig, situation, on_text):
    rig.bring_about(situation)

    reply = await complete(rig.model, on_text=on_text)

    assert reply.finish == situation


@pytest.mark.parametrize("situation", ["unavailable", "blocked", "out of time", "empty"])
async def test_failed_call_does_not_affect_the_next(rig, situation):
    await complete(rig.model)
    rig.bring_about(situation)
    with suppress(ModelUnavailable, ContentBlocked, TimeoutError):
        await complete(rig.model, timeout_s=0.2)

    reply = await complete(rig.model)

    assert reply.finish == "stop"


async def test_listener_gets_growing_prefixes_of_the_reply(model):
    heard: list[str] = []

    reply = await complete(model, on_text=heard.append)

    assert all(reply.text.startswith(text) for text in heard)
    assert heard == sorted(heard, key=len)


async def test_remote_model_streams_from_the_first_words_to_the_last(remote):
    heard: list[str] = []

    reply = await complete(remote.model, on_text=heard.append)

    assert len(heard[0]) < len(reply.text) / 5
    assert heard[-1] == reply.text


@pytest.mark.parametrize("situation", ["dropped midway", "ended midway"])
async def test_lost_stream_is_retried_and_streamed_from_the_start(remote, situation):
    heard: list[str] = []
    remote.bring_about(situation)

    reply = await complete(remote.model, on_text=heard.append)

    assert (reply.finish, reply.text) == ("stop", heard[-1])
    assert heard != sorted(heard, key=len)
    assert remote.journal.events == ["model.retried"]


@pytest.mark.parametrize(
    "situation", ["dropped", "not JSON", "failing", "too busy", "timed out there"]
)
async def test_transient_failure_is_retried_once_and_noted(remote, situation, on_text):
    remote.bring_about(situation)

    reply = await complete(remote.model, on_text=on_text)

    assert reply.finish == "stop"
    assert remote.journal.events == ["model.retried"]


async def test_refusal_is_not_retried_and_only_the_operator_sees_why(remote, on_text):
    remote.bring_about("refused")

    with pytest.raises(ModelUnavailable) as caught:
        await complete(remote.model, on_text=on_text)

    [noted] = remote.journal.fields_of("model.unavailable")
    assert noted["hint"] == caught.value.hint
    assert re.search(r"check \w+_API_KEY", caught.value.hint)
    assert caught.value.hint not in str(caught.value)


@pytest.mark.parametrize("situation", ["unavailable", "blocked", "refused", "redirected"])
async def test_key_and_dispute_are_in_no_error_or_log(remote, situation, on_text, caplog):
    caplog.set_level(logging.INFO)
    remote.bring_about(situation)

    with pytest.raises(JudgeError) as caught:
        await complete(remote.model, on_text=on_text)

    told = full_report(caught.value) + repr(remote.model) + str(remote.journal.entries)
    assert KEY not in told + caplog.text
    assert TEXT not in told + caplog.text


async def test_thinking_is_counted_and_left_out_of_the_reply(remote, on_text):
    remote.bring_about("thinking")

    reply = await complete(remote.model, on_text=on_text)

    usage = replace(reply.usage, cached_tokens=0)
    assert usage == Usage(input_tokens=120, output_tokens=80, thinking_tokens=40)
    assert reply.text == VERDICT


@pytest.mark.parametrize(
    ("situation", "broken_rules"),
    [("prose", {"json"}), ("no schema", {"shape"}), ("fenced", set())],
)
async def test_reply_against_the_schema_is_passed_on_to_the_checks(
    remote, situation, broken_rules, on_text
):
    remote.bring_about(situation)

    reply = await complete(remote.model, on_text=on_text)

    assert reply.finish == "stop"
    assert broken_rules_of(reply) == broken_rules
