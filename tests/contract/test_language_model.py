"""Every language model keeps the promises of the port: the real SDK on a fake Gemini, the model
that only quotes, and the scripted one that other tests rely on."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from judge.adapters.extractive_model import ExtractiveModel
from judge.adapters.gemini.client import GeminiClient
from judge.adapters.gemini.model import GeminiModel
from judge.errors import ContentBlocked, ModelUnavailable
from judge.ports import LanguageModel
from judge.types.judgements import JudgeRequest, ModelReply, Prompt, Reference
from tests.fakes.gemini import (
    FakeGemini,
    blocked,
    failure,
    finish,
    no_candidates,
    slow,
    verdict_for,
)
from tests.fakes.journal import RecordingJournal
from tests.fakes.model import ScriptedModel

WORDS = "Your landlord must keep the heating and hot water in repair."
TEXT = f"Judge this.\n<REFERENCES>\n[1] {{1}} {WORDS}\n</REFERENCES>"


def make_prompt() -> Prompt:
    request = JudgeRequest(
        context="The boiler has been cold for a fortnight.",
        query="Am I unreasonable to ask for repairs?",
    )
    fetched_at = datetime(2026, 1, 1, tzinfo=UTC)
    reference = Reference(1, "page", "https://example.org/1", "Repairs", WORDS, fetched_at, False)
    return Prompt("You are a fair judge.", TEXT, request, (reference,))


@dataclass
class Rig:
    """A model, and how to bring it into each situation of the port."""

    model: LanguageModel
    bring_about: Callable[[str], object]


def _scripted() -> Rig:
    verdict = json.dumps(verdict_for(TEXT))
    model = ScriptedModel(*[verdict] * 8)
    situations: dict[str, str | ModelReply | Exception] = {
        "unavailable": ModelUnavailable("no answer"),
        "blocked": ContentBlocked("SAFETY"),
        "out of time": TimeoutError(),
        "empty": ModelReply("", "scripted", "empty"),
        "truncated": ModelReply("{", "scripted", "truncated"),
    }

    def bring_about(situation: str) -> None:
        model._script.appendleft(situations[situation])

    return Rig(model, bring_about)


def _gemini(client: GeminiClient, fake: FakeGemini) -> Rig:
    model = GeminiModel(
        client,
        model="gemini-3.8-flash",
        reply_schema={"type": "object"},
        journal=RecordingJournal(),
        jitter=lambda: -1.0,  # no wait before a second try
    )
    situations = {
        "unavailable": (failure(503), failure(503)),
        "blocked": (blocked(),),
        "out of time": (slow("late", 30),),
        "empty": (no_candidates(),),
        "truncated": (finish("MAX_TOKENS", "{"),),
    }
    return Rig(model, lambda situation: fake.script(*situations[situation]))


@pytest.fixture(params=["gemini", "scripted"])
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    """The models that can fail."""
    if request.param == "scripted":
        yield _scripted()
        return
    async with FakeGemini() as fake:
        client = GeminiClient("k", fake.base_url)
        yield _gemini(client, fake)
        await client.aclose()


@pytest.fixture(params=["gemini", "extractive", "scripted"])
async def model(request: pytest.FixtureRequest) -> AsyncIterator[LanguageModel]:
    """All of them."""
    if request.param == "extractive":
        yield ExtractiveModel()
    elif request.param == "scripted":
        yield _scripted().model
    else:
        async with FakeGemini() as fake:
            client = GeminiClient("k", fake.base_url)
            yield _gemini(client, fake).model
            await client.aclose()


async def complete(model: LanguageModel, timeout_s: float = 10.0) -> ModelReply:
    return await model.complete(make_prompt(), timeout_s=timeout_s, has_more_room=False)


async def test_a_reply_is_one_json_text_with_every_member(model):
    reply = json.loads((await complete(model)).text)

    assert set(reply) == {"paraphrase", "personas", "summary", "references_help", "quotes"}


async def test_a_reply_says_that_it_is_whole_and_who_gave_it(model):
    reply = await complete(model)

    assert (reply.finish, reply.model) == ("stop", model.name)


async def test_only_a_model_that_gives_verdicts_gives_them(model):
    personas = json.loads((await complete(model)).text)["personas"]

    assert {persona["verdict"] is not None for persona in personas} == {model.gives_verdicts}


async def test_a_call_may_ask_for_more_room(model):
    reply = await model.complete(make_prompt(), timeout_s=10, has_more_room=True)

    assert reply.finish == "stop"


async def test_calls_at_the_same_time_each_get_a_reply(model):
    async with asyncio.TaskGroup() as group:
        calls = [group.create_task(complete(model)) for _ in range(8)]

    assert [call.result().finish for call in calls] == ["stop"] * 8


async def test_no_answer_is_model_unavailable_with_a_time_to_come_back(rig):
    rig.bring_about("unavailable")

    with pytest.raises(ModelUnavailable) as caught:
        await complete(rig.model)

    assert caught.value.retry_after_s > 0


async def test_a_safety_filter_is_content_blocked_with_its_reason(rig):
    rig.bring_about("blocked")

    with pytest.raises(ContentBlocked) as caught:
        await complete(rig.model)

    assert caught.value.reason == "SAFETY"


async def test_time_running_out_is_a_timeout_error(rig):
    await complete(rig.model)  # so that no start-up is in the measured time
    rig.bring_about("out of time")

    with pytest.raises(TimeoutError):
        await complete(rig.model, timeout_s=0.1)


@pytest.mark.parametrize("situation", ["empty", "truncated"])
async def test_a_reply_that_is_not_whole_is_no_error_but_says_so(rig, situation):
    rig.bring_about(situation)

    reply = await complete(rig.model)

    assert reply.finish == situation


@pytest.mark.parametrize("situation", ["unavailable", "blocked", "out of time", "empty"])
async def test_one_bad_call_does_not_spoil_the_next(rig, situation):
    await complete(rig.model)
    rig.bring_about(situation)
    with suppress(ModelUnavailable, ContentBlocked, TimeoutError):
        await complete(rig.model, timeout_s=0.2)

    reply = await complete(rig.model)

    assert reply.finish == "stop"
