"""`POST /api/judge/stream`: the steps of a judgement as server-sent events."""

import asyncio
import json
from contextlib import asynccontextmanager, suppress

import jsonschema
import pytest

from judge.entrypoints.api.app import openapi_document
from judge.entrypoints.api.routes.judge import HEARTBEAT_S
from judge.errors import ContentBlocked, DeadlineExceeded, ModelUnavailable
from judge.ports import OnText, ignore_text
from judge.types.replies import ModelReply, Prompt
from tests.entrypoints.api_bench import (
    BAD_REPLY,
    DISPUTE,
    GOOD_REPLY,
    REPAIRS_URL,
)
from tests.entrypoints.event_stream import EventStream, parse_events
from tests.fakes.model import ScriptedModel, streamed
from tests.fakes.waiting import until

DOCUMENT = openapi_document()
STREAM = "/api/judge/stream"


async def events_of(bench, dispute=DISPUTE, **options) -> EventStream:
    reply = await bench.client.post(STREAM, json=dispute, **options)
    assert reply.status_code == 200
    return parse_events(reply.text)


async def test_steps_are_sent_in_order_and_the_verdict_last(opened):
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        told = await events_of(bench)
    assert told.names == ["domain", "references", "attempt", *["field"] * 5, "verdict"]
    assert told.data_of("domain")["domain"] == "tenancy"
    assert told.data_of("domain")["domain_scores"][0]["matched"] == ["landlord", "boiler"]
    assert [r["url"] for r in told.data_of("references")["references"]] == [REPAIRS_URL]
    assert told.data_of("attempt") == {"number": 1}
    [line] = bench.recorded.fields_of("http.request")
    assert line["status"] == 200
    assert "judgement.finished" in bench.recorded.events


async def test_each_field_event_equals_the_field_of_the_verdict(opened):
    async with opened(ScriptedModel(streamed(GOOD_REPLY))) as bench:
        told = await events_of(bench)
    verdict = told.data_of("verdict")
    fields = [data for name, data in told.events if name == "field"]
    assert [field["name"] for field in fields] == [
        "paraphrase", "personas.0", "personas.1", "personas.2", "summary",
    ]  # fmt: skip
    assert [field["value"] for field in fields] == [
        verdict["paraphrase"], *verdict["personas"], verdict["summary"],
    ]  # fmt: skip
    cited = [citation for field in (fields[-1], *fields[:-1]) for citation in field["citations"]]
    assert cited == verdict["citations"] != []


async def test_stream_is_not_buffered_or_cached_by_proxies(opened):
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        reply = await bench.client.post(STREAM, json=DISPUTE)
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert reply.headers["cache-control"] == "no-store, no-transform"
    assert reply.headers["x-accel-buffering"] == "no"
    assert "content-length" not in reply.headers


async def test_retry_event_has_the_defects(opened):
    async with opened(ScriptedModel(BAD_REPLY, GOOD_REPLY)) as bench:
        told = await events_of(bench)
    assert told.names == [
        *("domain", "references", "attempt", "restart"),
        *("attempt", *["field"] * 5, "verdict"),
    ]
    assert told.data_of("restart")["keeps"] == []
    defects = told.data_of("restart")["defects"]
    assert {"rule", "field", "expected", "hard"} == set(defects[0])
    assert ("citation", "summary") in {(d["rule"], d["field"]) for d in defects}
    assert told.data_of("verdict")["attempts"] == 2


SAME_ID = {"X-Request-ID": "same-1"}


async def test_verdict_event_equals_the_body_of_the_plain_route(opened):
    async with opened(ScriptedModel(GOOD_REPLY, GOOD_REPLY, GOOD_REPLY)) as bench:
        await bench.client.post("/api/judge", json=DISPUTE)  # fills the cache for both
        plain = await bench.client.post("/api/judge", json=DISPUTE, headers=SAME_ID)
        streamed = await bench.client.post(STREAM, json=DISPUTE, headers=SAME_ID)
    line = streamed.text.rstrip().splitlines()[-1]
    assert line.removeprefix("data: ") == plain.text
    assert streamed.headers["x-request-id"] == "same-1"


async def test_text_with_line_breaks_is_one_data_line(opened):
    reply = json.loads(GOOD_REPLY)
    reply["paraphrase"] = "One\nevent: error\r\ndata: {}\n\n\u2028\u2029\u0085 line"
    async with opened(ScriptedModel(json.dumps(reply))) as bench:
        sent = await bench.client.post("/api/judge/stream", json=DISPUTE)
    told = parse_events(sent.text)
    assert told.names[-1] == "verdict"
    assert told.data_of("verdict")["paraphrase"] == reply["paraphrase"]
    assert sent.text.splitlines() == sent.text.removesuffix("\n").split("\n")


FAILURES = [
    ([BAD_REPLY, BAD_REPLY], 502, "invalid-reply"),
    ([ContentBlocked("SAFETY")], 422, "content-blocked"),
    ([ModelUnavailable("Not now.")], 503, "model-unavailable"),
    ([DeadlineExceeded(30)], 504, "deadline-exceeded"),
    ([ZeroDivisionError("a secret")], 500, "internal-error"),
]


@pytest.mark.parametrize(("script", "status", "slug"), FAILURES)
async def test_error_event_is_the_problem_of_the_plain_route(opened, script, status, slug):
    async with opened(ScriptedModel(*script, *script)) as bench:
        plain = await bench.client.post("/api/judge", json=DISPUTE, headers=SAME_ID)
        told = await events_of(bench, headers=SAME_ID)
    problem = told.data_of("error")
    assert told.names[-1] == "error"
    assert problem == plain.json() | {"instance": STREAM}
    assert (problem["status"], problem["type"]) == (status, f"/problems/{slug}")
    assert "secret" not in json.dumps(problem) + bench.log.getvalue()
    counts = bench.counts.render().decode()
    assert f'{{method="POST",route="{STREAM}",status="{status}"}} 1.0' in counts
    assert "judgement.finished" not in bench.recorded.events


REFUSED = (
    {"json": {}},
    {"json": {**DISPUTE, "domain": "nowhere"}},
    {"json": {**DISPUTE, "scope": "@nonsense:x"}},
    {"content": b" " * 70_000, "headers": {"content-type": "application/json"}},
    {"content": b"{}", "headers": {"content-type": "text/plain"}},
)


async def test_refusal_before_the_stream_is_an_ordinary_problem(opened):
    async with opened() as bench:
        for request in REFUSED:
            plain = await bench.client.post("/api/judge", **request)
            streamed = await bench.client.post(STREAM, **request)
            assert streamed.status_code == plain.status_code >= 400
            assert streamed.headers["content-type"] == "application/problem+json"
            assert streamed.json() == plain.json() | {"instance": STREAM}
    assert bench.model.calls == []


@pytest.mark.parametrize("script", [[GOOD_REPLY], [BAD_REPLY, GOOD_REPLY], [BAD_REPLY, BAD_REPLY]])
async def test_events_are_as_documented(opened, script):
    async with opened(ScriptedModel(*script)) as bench:
        told = await events_of(bench)
    for name, data in told.events:
        schema = DOCUMENT["components"]["schemas"]["StreamEvents"]["properties"][name]
        whole = {**schema, "components": DOCUMENT["components"]}
        jsonschema.Draft202012Validator(whole).validate(data)


class HeldModel:
    """Replies when released; records whether it was cancelled."""

    name = "held"
    gives_verdicts = True

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.gate = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        doubles_limit: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        self.started.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return ModelReply(GOOD_REPLY, self.name)


class Caller:
    """An ASGI client that records each message as it is sent, and can disconnect."""

    def __init__(self) -> None:
        self.status = 0
        self.text = ""
        self.is_done = False
        self.is_broken = False
        self.left = asyncio.Event()
        self._body = [{"type": "http.request", "body": json.dumps(DISPUTE).encode()}]

    async def receive(self):
        if self._body:
            return self._body.pop()
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        if self.is_broken:
            raise BrokenPipeError
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.text += message["body"].decode()
            self.is_done = not message.get("more_body", False)


@asynccontextmanager
async def calling(bench, caller: Caller, path: str = STREAM):
    """The app, serving *caller* while the block runs."""
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
    }
    serving = asyncio.create_task(bench.app(scope, caller.receive, caller.send))
    try:
        async with asyncio.timeout(20):
            yield serving
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


async def test_references_are_sent_before_the_model_replies(opened):
    model, caller = HeldModel(), Caller()
    async with opened(model) as bench, calling(bench, caller) as serving:
        await model.started.wait()
        await until(lambda: "event: attempt" in caller.text)
        assert parse_events(caller.text).names == ["domain", "references", "attempt"]
        model.gate.set()
        await serving
    assert parse_events(caller.text).names[-1] == "verdict"
    assert caller.is_done


async def test_heartbeats_are_sent_while_the_model_thinks(opened):
    model, caller = HeldModel(), Caller()
    async with opened(model, heartbeat_s=0.005) as bench, calling(bench, caller) as serving:
        await until(lambda: caller.text.count(": still here") >= 3)
        model.gate.set()
        await serving
    told = parse_events(caller.text)
    assert told.names[-1] == "verdict"
    assert len(told.comments) >= 3
    assert 0 < HEARTBEAT_S <= 10


@pytest.mark.parametrize(("path", "status"), [("/api/judge", 499), (STREAM, 200)])
async def test_disconnecting_cancels_the_model_call(opened, path, status):
    model, caller = HeldModel(), Caller()
    async with opened(model) as bench, calling(bench, caller, path) as serving:
        await model.started.wait()
        await until(lambda: path != STREAM or "event: attempt" in caller.text)
        caller.left.set()
        await serving
        assert model.cancelled.is_set()
        [line] = bench.recorded.fields_of("http.request")
        assert (caller.status, line["status"]) == (status, 499)
    assert "verdict" not in caller.text
    assert "http.error" not in bench.recorded.events


async def test_disconnecting_before_the_first_event_is_not_an_internal_error(opened):
    caller = Caller()
    async with opened() as bench:
        caller.left.set()
        caller.receive = caller_gone
        async with calling(bench, caller) as serving:
            await serving
        [line] = bench.recorded.fields_of("http.request")
    assert (caller.status, line["status"]) == (499, 499)
    assert "http.error" not in bench.recorded.events


async def caller_gone():
    return {"type": "http.disconnect"}
