"""The real SDK against a fake Gemini on loopback: requests, replies, and failures."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from judge.adapters.models.gemini import (
    MAX_OUTPUT_TOKENS,
    GeminiClient,
    GeminiService,
    thinking_config,
)
from judge.adapters.models.remote import RemoteModel
from judge.errors import ModelUnavailable
from judge.ports import ignore_text
from judge.types.replies import ModelReply, Prompt
from judge.types.requests import JudgeRequest
from tests.fakes.gemini import (
    FakeGemini,
    Reply,
    as_json,
    dropped,
    failure,
    finish,
    html,
    slow,
    text,
    without_end,
)
from tests.fakes.journal import RecordingJournal, full_report
from tests.fakes.waiting import is_ever_within, seconds_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEY = "AIza-very-secret"
SCHEMA = {"type": "object", "properties": {"summary": {"type": "string"}}}
PROMPT = Prompt(
    "You are a fair judge.",
    "Who is right about the dishes?",
    JudgeRequest(context="The dishes were left in the sink.", query="Am I wrong?"),
)
PASSING_TROUBLE = [
    failure(408),
    failure(429),
    failure(500),
    failure(503),
    failure(504),
    html(502),
    html(),
    Reply(b'{"candidates": [', content_type="application/json"),
    Reply(b"\xff\xfe{}", content_type="application/json; charset=utf-8"),
    dropped(),
    dropped(after_headers=True),
]


class Waits:
    """A sleep that records its durations and returns at once."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


class Bench:
    """A model, its service, its journal, and its sleeps."""

    def __init__(self, fake: FakeGemini, *, key=KEY, base_url=None) -> None:
        self.fake = fake
        self.waits = Waits()
        self.heard: list[str] = []
        self.listens = False
        self.journal = RecordingJournal()
        self.client = GeminiClient(key, base_url or fake.base_url)
        service = GeminiService(
            self.client,
            self.journal,
            name="gemini-3.8-flash",
            reply_schema=lambda _: SCHEMA,
            thinking="low",
        )
        self.model = RemoteModel(service, self.journal, sleep=self.waits, jitter=lambda: 0.5)

    def forget(self) -> None:
        self.fake.forget()
        self.waits.seconds.clear()
        self.heard.clear()
        self.journal.entries.clear()

    async def complete(self, *replies, timeout_s=10.0, doubles_limit=False) -> ModelReply:
        self.fake.script(*replies)
        return await self.model.complete(
            PROMPT,
            timeout_s=timeout_s,
            doubles_limit=doubles_limit,
            on_text=self.heard.append if self.listens else ignore_text,
        )


@asynccontextmanager
async def on_bench(**options) -> AsyncIterator[Bench]:
    async with FakeGemini() as fake:
        bench = Bench(fake, **options)
        try:
            yield bench
        finally:
            await bench.client.aclose()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_bench() -> AsyncIterator[Bench]:
    """One client for most tests, since opening one costs 70 ms."""
    async with on_bench() as bench:
        yield bench


@pytest.fixture(params=["whole", "streamed"])
def bench(request: pytest.FixtureRequest, shared_bench: Bench) -> Bench:
    """The shared one, with nothing left of the test before: both ways of asking keep all claims."""
    shared_bench.forget()
    shared_bench.listens = request.param == "streamed"
    return shared_bench


@pytest_asyncio.fixture(loop_scope="module")
async def fresh() -> AsyncIterator[Bench]:
    """One whose client isn't open yet."""
    async with on_bench() as bench:
        yield bench


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def test_prompt_schema_and_limits_are_what_is_sent(bench):
    await bench.complete("{}")

    (body,) = bench.fake.requests
    assert body["systemInstruction"]["parts"] == [{"text": "You are a fair judge."}]
    assert body["contents"] == [{"role": "user", "parts": [{"text": PROMPT.text}]}]
    assert body["generationConfig"] == {
        "maxOutputTokens": MAX_OUTPUT_TOKENS,
        "responseMimeType": "application/json",
        "responseJsonSchema": SCHEMA | {"propertyOrdering": ["summary"]},
        "thinkingConfig": {"thinking_level": "LOW"},
    }
    assert body["store"] is False  # else Google keeps the dispute for up to 55 days


@pytest.mark.parametrize(
    ("model", "thinking", "fields"),
    [
        ("gemini-3.8-flash", "low", {"thinking_level": "low"}),
        ("gemini-3.8-flash", "minimal", {"thinking_level": "low"}),
        ("gemini-3.8-flash", "off", {"thinking_level": "low"}),
        ("gemini-3.6-flash", "off", {"thinking_level": "minimal"}),
        ("gemini-3.5-flash-lite", "minimal", {"thinking_level": "minimal"}),
        ("gemini-3.1-pro", "off", {"thinking_level": "low"}),
        ("gemini-4-flash", "high", {"thinking_level": "high"}),
        ("gemini-2.5-flash", "off", {"thinking_budget": 0}),
        ("gemini-2.5-pro", "off", {"thinking_budget": 128}),
        ("gemini-2.5-flash", "medium", {"thinking_budget": 8192}),
        ("gemini-3.8-flash", "model", {}),
        ("tunedModels/mine", "high", {}),
    ],
)
async def test_thinking_is_said_in_the_words_of_the_family(model, thinking, fields):
    assert thinking_config(model, thinking) == fields


async def test_thinking_that_the_service_refuses_is_left_out_from_then_on(fresh):
    refusal = failure(400, message="Thinking level is not supported for this model.")
    await fresh.complete(refusal, "{}")
    await fresh.complete("{}")

    configs = [body["generationConfig"] for body in fresh.fake.requests]
    assert ["thinkingConfig" in config for config in configs] == [True, False, False]
    assert fresh.journal.events == ["model.thinking_refused"]


async def test_limited_account_is_final(bench):
    with pytest.raises(ModelUnavailable):
        await bench.complete(finish("PUP_LIMITED_DISABLED"))

    (fields,) = bench.journal.fields_of("model.unavailable")
    assert "account" in fields["hint"]
    assert len(bench.fake.requests) == 1


async def test_overloaded_service_is_asked_up_to_four_times(bench):
    reply = await bench.complete(*[failure(503)] * 3, "{}")

    assert reply.text == "{}"
    assert bench.waits.seconds == [1.25, 2.5, 5.0]


async def test_request_goes_to_v1beta_with_the_key_in_a_header(fresh, monkeypatch):
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_API_KEY", "somebody else's")

    await fresh.complete("{}")

    (seen,) = fresh.fake.seen
    assert seen.path == "/v1beta/models/gemini-3.8-flash:generateContent"
    assert seen.headers["x-goog-api-key"] == KEY


@pytest.mark.filterwarnings("ignore:TIRED is not a valid")  # the tests turn warnings into errors
async def test_finish_reason_that_the_sdk_does_not_know_ends_a_reply(bench):
    reply = await bench.complete(finish("TIRED", "so far"))

    assert (reply.finish, reply.text) == ("other", "so far")


@pytest.mark.parametrize("trouble", PASSING_TROUBLE)
async def test_transient_failure_is_retried_once(bench, trouble):
    reply = await bench.complete(trouble, "{}")

    assert (reply.text, len(bench.fake.requests)) == ("{}", 2)
    assert bench.journal.events == ["model.retried"]


async def test_unreachable_service_is_reported_at_once():
    async with on_bench(base_url=f"http://127.0.0.1:{free_port()}") as bench:
        await bench.model.warm()

        async def refused() -> None:
            with pytest.raises(ModelUnavailable):
                await bench.complete()

        # The SDK's own wait after a failed connection would be a second at least.
        assert await is_ever_within(0.9, lambda: seconds_of(refused))
        assert bench.journal.events[:2] == ["model.retried", "model.unavailable"]


async def test_missing_model_is_reported_at_once(bench):
    with pytest.raises(ModelUnavailable):
        await bench.complete(failure(404))

    (fields,) = bench.journal.fields_of("model.unavailable")
    assert (fields["status"], "JUDGE_MODEL" in fields["hint"]) == (404, True)


async def test_redirect_is_not_followed_with_the_key(bench):
    async with FakeGemini() as elsewhere:
        target = f"{elsewhere.base_url}/v1beta/models/x:generateContent"
        with pytest.raises(ModelUnavailable):
            await bench.complete(Reply(status=307, headers={"Location": target}))

        assert elsewhere.seen == []


@pytest.mark.parametrize("trouble", [failure(429, retry_after="3"), failure(429, retry_delay="3s")])
async def test_retry_after_of_the_service_is_respected(bench, trouble):
    await bench.complete(trouble, "{}", timeout_s=5)

    assert bench.waits.seconds == [3.0]


async def test_retry_after_beyond_the_timeout_is_passed_to_the_caller(bench):
    with pytest.raises(ModelUnavailable) as caught:
        await bench.complete(failure(429, retry_after="30"), timeout_s=5)

    assert (caught.value.retry_after_s, len(bench.fake.requests)) == (30.0, 1)
    assert bench.waits.seconds == []


async def test_cancelling_closes_the_connection(bench):
    call = asyncio.create_task(bench.complete(slow("{}", 30)))
    async with asyncio.timeout(20):
        await bench.fake.arrived.wait()

        call.cancel()
        await asyncio.wait([call])
        await bench.fake.abandoned.wait()

    assert call.cancelled()


async def test_client_that_cannot_start_is_model_unavailable_until_it_starts(
    fresh, monkeypatch, tmp_path
):
    with monkeypatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
        await fresh.model.warm()
        with pytest.raises(ModelUnavailable):
            await fresh.complete()

    fields, _ = fresh.journal.fields_of("model.unavailable")
    assert "SSL_CERT_FILE" in fields["hint"]
    assert (await fresh.complete("{}")).text == "{}"


async def test_key_that_is_no_valid_header_is_not_shown():
    async with on_bench(key=f"{KEY}\nx") as bench:
        with pytest.raises(ModelUnavailable) as caught:
            await bench.complete()

        assert KEY not in full_report(caught.value) + str(bench.journal.entries)


async def listening(bench: Bench, *replies, **options) -> ModelReply:
    bench.forget()
    bench.listens = True
    return await bench.complete(*replies, **options)


EVENTS = "text/event-stream"
VERDICT = '{"summary": "You are “right”, they are not."}'


@pytest.mark.parametrize("loses_end", ["dropped", "open"])
@pytest.mark.parametrize("reply", [text(VERDICT), finish("MAX_TOKENS", VERDICT[:9])])
async def test_finished_reply_is_taken_however_its_stream_ends(shared_bench, reply, loses_end):
    taken = await listening(shared_bench, without_end(reply, loses_end))

    assert taken == await listening(shared_bench, reply)


async def test_text_after_an_early_finish_reason_is_awaited(shared_bench):
    halves = (VERDICT[:20], VERDICT[20:])
    events = [
        {"candidates": [{"content": {"parts": [{"text": half}]}, "finishReason": "STOP"}]}
        for half in halves
    ]
    stream = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)

    assert (await listening(shared_bench, Reply(stream, content_type=EVENTS))).text == VERDICT


async def test_error_in_mid_stream_is_retried(shared_bench):
    error = b'data: {"error": {"code": 503, "message": "tired", "status": "UNAVAILABLE"}}\r\n\r\n'

    reply = await listening(shared_bench, Reply(error, content_type=EVENTS), "{}")

    (fields,) = shared_bench.journal.fields_of("model.retried")
    assert (reply.text, fields["status"]) == ("{}", 503)


@pytest.mark.parametrize("before", [b": on my way\n\n", b"event: message\nid: 7\nretry: 5\n"])
async def test_stream_that_the_sdk_cannot_read_is_asked_for_whole(shared_bench, before):
    event = json.dumps({"candidates": [{"content": {"parts": [{"text": VERDICT}]}}]}).encode()
    stream = before + b"data: " + event + b"\n\n"

    reply = await listening(shared_bench, Reply(stream, content_type=EVENTS), VERDICT)

    assert (reply.finish, reply.text) == ("stop", VERDICT)
    assert shared_bench.journal.events == ["model.retried"]


@pytest.mark.parametrize("status", [503, 429])
async def test_error_with_status_200_in_a_stream_is_retried(shared_bench, status):
    reply = await listening(shared_bench, as_json({"error": {"code": status}}), "{}")

    (fields,) = shared_bench.journal.fields_of("model.retried")
    assert (reply.text, fields["status"]) == ("{}", status)


async def test_reply_arrives_whole_behind_a_proxy_without_streaming():
    async with FakeGemini(streams=False) as fake:
        bench = Bench(fake)
        reply = await listening(bench, VERDICT)
        await bench.client.aclose()

    assert (reply.text, bench.journal.events) == (VERDICT, [])
