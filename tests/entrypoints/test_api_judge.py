"""`POST /api/judge` and `GET /api/domains` over fakes."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from judge.adapters.admission import Admission
from judge.entrypoints.api.routes.judge import unless_client_leaves
from judge.errors import ContentBlocked, DeadlineExceeded, ModelUnavailable
from judge.ports import OnText, ignore_text
from judge.types.replies import ModelReply, Prompt
from tests.entrypoints.api_bench import (
    BAD_REPLY,
    DISPUTE,
    GOOD_REPLY,
    PARAGRAPH,
    REPAIRS_PAGE,
    REPAIRS_URL,
    RETELLING,
    RETOLD_REPLY,
    RIGHT_REPLY,
)
from tests.fakes.gemini import verdict_for
from tests.fakes.model import ScriptedModel

MEMBERS = (
    "id paraphrase summary personas domain domain_scores references snippets citations evidence "
    "help warnings other_side model degraded attempts versions usage timings_ms next_steps"
).split()


async def test_verdict_has_exactly_the_members_of_the_contract(opened):
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        reply = await bench.client.post("/api/judge", json=DISPUTE)
    body = reply.json()
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/json"
    assert list(body) == MEMBERS
    assert body["domain"] == "tenancy"
    assert body["domain_scores"][0]["matched"] == ["landlord", "boiler"]
    assert [persona["name"] for persona in body["personas"]] == ["Therapist", "Analyst", "Coach"]
    assert body["references"] == [
        {
            "number": 1,
            "kind": "page",
            "url": REPAIRS_URL,
            "title": "Repairs",
            "text": PARAGRAPH,
            "fetched_at": "2026-01-15T09:30:00Z",
            "updated": None,
            "stale": False,
            "cited": True,
        }
    ]
    assert body["snippets"] == [{"url": REPAIRS_URL, "text": PARAGRAPH}]
    assert body["usage"] == {"input_tokens": 100, "output_tokens": 50, "thinking_tokens": 25}
    assert list(body["timings_ms"]) == ["references", "model", "total"]
    assert body["citations"][0]["quote_status"] == "verified"


async def test_other_side_is_in_the_verdict_if_requested(opened):
    model = ScriptedModel(RIGHT_REPLY, RETOLD_REPLY, RIGHT_REPLY)
    async with opened(model) as bench:
        asked = {**DISPUTE, "hear_other_side": True}
        body = (await bench.client.post("/api/judge", json=asked)).json()
    told = body["other_side"]
    assert list(told) == ["retelling", "personas", "agrees", "note"]
    assert (told["retelling"], told["agrees"], told["note"]) == (RETELLING, False, "")
    assert [list(one) for one in told["personas"]] == [["name", "verdict", "rationale"]] * 3
    assert "Both sides are told that they are right" in body["warnings"][0]
    assert RETELLING not in bench.log.getvalue()
    assert 'judge_model_tokens_total{kind="input"} 300.0' in bench.counts.render().decode()


@pytest.mark.parametrize("wrong", ["yes", 1, None, "true"])
async def test_whether_to_hear_the_other_side_is_true_or_false(opened, wrong):
    async with opened() as bench:
        reply = await bench.client.post("/api/judge", json={**DISPUTE, "hear_other_side": wrong})
    assert reply.status_code == 400
    assert reply.json()["errors"] == [
        {"field": "hear_other_side", "message": "must be true or false"}
    ]


async def test_times_are_whole_seconds_in_utc(opened):
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        bench.clock.advance(0.123456)
        body = (await bench.client.post("/api/judge", json=DISPUTE)).json()
    assert body["references"][0]["fetched_at"] == "2026-01-15T09:30:00Z"
    assert datetime.fromisoformat(body["references"][0]["fetched_at"]).tzinfo == UTC


async def test_null_verdict_is_in_the_body(opened):
    personas = json.loads(GOOD_REPLY)
    for persona in personas["personas"]:
        persona["verdict"] = None
    model = ScriptedModel(json.dumps(personas), gives_verdicts=False)
    async with opened(model) as bench:
        body = (await bench.client.post("/api/judge", json=DISPUTE)).json()
    assert [persona["verdict"] for persona in body["personas"]] == [None, None, None]
    assert body["degraded"] is True


async def test_verdicts_are_not_stored_by_caches(opened):
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        reply = await bench.client.post("/api/judge", json=DISPUTE)
    assert reply.headers["cache-control"] == "no-store"


async def test_surrounding_space_is_not_counted(opened):
    async with opened(ScriptedModel(GOOD_REPLY, GOOD_REPLY)) as bench:
        padded = {**DISPUTE, "query": f"   {DISPUTE['query']}\n\n"}
        assert (await bench.client.post("/api/judge", json=padded)).status_code == 200
        too_short = {**DISPUTE, "query": "   why?   "}
        assert (await bench.client.post("/api/judge", json=too_short)).status_code == 400


async def test_lengths_are_counted_in_code_points(opened):
    async with opened(ScriptedModel(GOOD_REPLY, GOOD_REPLY)) as bench:
        longest = {**DISPUTE, "context": "😀" * 8000}
        assert (await bench.client.post("/api/judge", json=longest)).status_code != 400
        too_long = {**DISPUTE, "context": "😀" * 8001}
        assert (await bench.client.post("/api/judge", json=too_long)).status_code == 400


async def test_valid_request_id_is_returned_and_is_the_verdict_id(opened):
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        reply = await bench.client.post(
            "/api/judge", json=DISPUTE, headers={"X-Request-ID": "web-1.a_2"}
        )
    assert reply.headers["x-request-id"] == "web-1.a_2"
    assert reply.json()["id"] == "web-1.a_2"


@pytest.mark.parametrize("sent", ["", "a b", "x" * 129, "äöü", "<script>", "id\t1"])
async def test_invalid_request_id_is_replaced(opened, sent):
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        reply = await bench.client.post(
            "/api/judge", json=DISPUTE, headers={"X-Request-ID": sent.encode()}
        )
    assert reply.headers["x-request-id"] != sent
    assert len(reply.headers["x-request-id"]) == 32
    assert reply.json()["id"] == reply.headers["x-request-id"]


async def test_reference_has_its_publishers_date(opened):
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        dated = (
            '<meta property="article:modified_time" content="2024-03-01T10:00:00Z"></head><body>'
        )
        page = REPAIRS_PAGE.replace("<body>", f"<head>{dated}", 1)
        bench.fetcher.page(REPAIRS_URL, page)
        body = (await bench.client.post("/api/judge", json=DISPUTE)).json()
    assert body["references"][0]["updated"] == "2024-03-01"


async def test_requested_domain_is_used(opened):
    async with opened(ScriptedModel(json.dumps(verdict_for("no references")))) as bench:
        dishes = {**DISPUTE, "context": "Sam never does the dishes.", "domain": "default"}
        reply = await bench.client.post("/api/judge", json=dishes)
    assert reply.json()["domain"] == "default"
    assert reply.json()["references"] == []
    assert bench.fetcher.calls == []


async def test_without_a_domain_a_clearly_relevant_page_is_offered(opened):
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        reply = await bench.client.post("/api/judge", json={**DISPUTE, "domain": "default"})
    assert reply.json()["domain"] == "default"
    assert [r["url"] for r in reply.json()["references"]] == [REPAIRS_URL]


async def test_domains_are_listed_with_their_sources(opened):
    async with opened() as bench:
        reply = await bench.client.get("/api/domains")
    assert reply.json() == {
        "domains": [
            {
                "name": "tenancy",
                "title": "Renting a home",
                "sources": [{"url": REPAIRS_URL, "title": "Repairs"}],
            },
            {"name": "workplace", "title": "Work", "sources": []},
        ]
    }


async def test_two_defective_replies_are_a_bad_gateway_with_the_defects(opened):
    async with opened(ScriptedModel(BAD_REPLY, BAD_REPLY)) as bench:
        reply = await bench.client.post("/api/judge", json=DISPUTE)
    body = reply.json()
    assert reply.status_code == 502
    assert body["type"].endswith("invalid-reply")
    assert body["attempts"] == 2
    assert {"rule", "field", "expected", "hard"} == set(body["defects"][0])
    assert {(d["rule"], d["field"]) for d in body["defects"]} >= {("citation", "summary")}


INVENTED = "a rule that nobody ever wrote"


async def test_rejected_text_is_not_shown(opened):
    reply = json.loads(GOOD_REPLY)
    reply["personas"][0]["verdict"] = INVENTED
    model = ScriptedModel(*[json.dumps(reply)] * 4)
    async with opened(model) as bench:
        plain = await bench.client.post("/api/judge", json=DISPUTE)
        stream = await bench.client.post("/api/judge/stream", json=DISPUTE)
        assert plain.json()["defects"]
        assert "event: restart" in stream.text
        assert INVENTED not in plain.text + stream.text + bench.log.getvalue()
    assert any(INVENTED in prompt.instructions for prompt in model.prompts)


async def test_blocked_dispute_gets_the_configured_help_lines(opened):
    async with opened(ScriptedModel(ContentBlocked("SAFETY"))) as bench:
        reply = await bench.client.post("/api/judge", json=DISPUTE)
    assert reply.status_code == 422
    assert reply.json()["type"].endswith("content-blocked")
    assert reply.json()["help"] == [
        {"title": "Listeners", "url": "https://help.example/", "phone": "116 000"}
    ]


async def test_unavailable_model_is_an_error_with_retry_after(opened):
    async with opened(ScriptedModel(ModelUnavailable("Not now.", retry_after_s=6.2))) as bench:
        reply = await bench.client.post("/api/judge", json=DISPUTE)
    assert reply.status_code == 503
    assert reply.headers["retry-after"] == "7"
    assert reply.json()["type"].endswith("model-unavailable")
    assert reply.json()["detail"] == reply.json()["error"] == "Not now."


async def test_timeout_is_a_gateway_timeout(opened):
    async with opened(ScriptedModel(DeadlineExceeded(30))) as bench:
        reply = await bench.client.post("/api/judge", json=DISPUTE)
    assert reply.status_code == 504
    assert reply.json()["type"].endswith("deadline-exceeded")


class HeldModel:
    """Replies only when released; records whether the call was cancelled."""

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


async def test_disconnecting_cancels_the_model_call(opened):
    model = HeldModel()
    async with opened(model) as bench:
        statuses, left = [], asyncio.Event()
        messages = [{"type": "http.request", "body": json.dumps(DISPUTE).encode()}]

        async def receive():
            if messages:
                return messages.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            statuses.append(message.get("status"))

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/api/judge",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
        }
        serving = asyncio.create_task(bench.app(scope, receive, send))
        await asyncio.wait_for(model.started.wait(), 20)
        left.set()
        await asyncio.wait_for(serving, 20)
        assert model.cancelled.is_set()
        assert statuses[0] == 499
        assert bench.recorded.fields_of("http.request")[0]["status"] == 499


async def test_disconnecting_while_sending_is_not_an_internal_error(opened):
    async with opened() as bench:
        statuses = []

        async def receive():
            return {"type": "http.disconnect"}

        async def send(message):
            statuses.append(message.get("status"))

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/api/judge",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
        }
        await bench.app(scope, receive, send)
    assert statuses[0] == 499
    assert "http.error" not in bench.recorded.events


async def test_concurrent_disputes_share_one_fetch(opened):
    async with opened(ScriptedModel(*[GOOD_REPLY] * 50)) as bench:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(bench.client.post("/api/judge", json=DISPUTE)) for _ in range(50)
            ]
        assert {task.result().status_code for task in tasks} == {200}
        assert bench.fetcher.hits[REPAIRS_URL] == 1
        assert len({task.result().json()["id"] for task in tasks}) == 50


async def test_messages_after_the_body_do_not_cancel_the_work():
    messages = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive():
        if messages:
            return messages.pop()
        return await asyncio.Event().wait()

    async def work():
        while messages:  # noqa: ASYNC110 - until the watcher has read it
            await asyncio.sleep(0)
        return "done"

    assert await unless_client_leaves(receive, work()) == "done"


async def test_timeout_of_the_work_is_not_mistaken_for_a_disconnect():
    async def work():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await unless_client_leaves(asyncio.Event().wait, work())


@pytest.mark.parametrize("path", ["/api/judge", "/api/judge/stream"])
async def test_request_past_the_concurrency_limit_is_refused_at_once(opened, path):
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        admission = Admission(1, 60)
        pipeline = replace(bench.services.pipeline, admission=admission)
        bench.app.state.services = replace(bench.services, pipeline=pipeline)
        async with admission():
            refused = await bench.client.post(path, json=DISPUTE)
            assert (await bench.client.get("/health/live")).status_code == 200
        assert (refused.status_code, refused.json()["type"]) == (503, "/problems/overloaded")
        assert int(refused.headers["retry-after"]) > 0
        assert (await bench.client.post(path, json=DISPUTE)).status_code == 200


async def test_no_step_exceeds_the_deadline(opened):
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        pipeline = replace(
            bench.services.pipeline, deadline_s=0.05, check_budget=asyncio.Event().wait
        )
        bench.app.state.services = replace(bench.services, pipeline=pipeline)
        async with asyncio.timeout(5):
            reply = await bench.client.post("/api/judge", json=DISPUTE)
    assert (reply.status_code, reply.json()["type"]) == (504, "/problems/deadline-exceeded")
