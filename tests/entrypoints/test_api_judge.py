"""`POST /api/judge` and `GET /api/domains` over fakes."""

import json
from dataclasses import replace

import pytest

from judge.adapters.memory import Admission
from judge.errors import ContentBlocked, ModelUnavailable
from tests.entrypoints.api_bench import (
    BAD_REPLY,
    DISPUTE,
    GOOD_REPLY,
    PARAGRAPH,
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
    assert reply.headers["cache-control"] == "no-store"
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
    assert body["usage"] == {
        "input_tokens": 100, "output_tokens": 50, "thinking_tokens": 25, "cached_tokens": 0,
    }  # fmt: skip
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


async def test_lengths_are_counted_in_code_points_without_surrounding_space(opened):
    async with opened(ScriptedModel(GOOD_REPLY, GOOD_REPLY)) as bench:
        longest = {**DISPUTE, "context": "😀" * 8000}
        assert (await bench.client.post("/api/judge", json=longest)).status_code != 400
        for wrong in ({"context": "😀" * 8001}, {"query": "   why?   "}):
            refused = await bench.client.post("/api/judge", json={**DISPUTE, **wrong})
            assert refused.status_code == 400


async def test_valid_request_id_is_returned_as_the_verdict_id_and_others_are_replaced(opened):
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        reply = await bench.client.post(
            "/api/judge", json=DISPUTE, headers={"X-Request-ID": "web-1.a_2"}
        )
        replaced = [
            (
                await bench.client.get("/health/live", headers={"X-Request-ID": sent.encode()})
            ).headers
            for sent in ("", "a b", "x" * 129, "äöü", "<script>", "id\t1")
        ]
    assert reply.headers["x-request-id"] == "web-1.a_2"
    assert reply.json()["id"] == "web-1.a_2"
    assert {len(headers["x-request-id"]) for headers in replaced} == {32}


async def test_requested_domain_is_used(opened):
    async with opened(ScriptedModel(json.dumps(verdict_for("no references")))) as bench:
        dishes = {**DISPUTE, "context": "Sam never does the dishes.", "domain": "default"}
        reply = await bench.client.post("/api/judge", json=dishes)
    assert reply.json()["domain"] == "default"
    assert reply.json()["references"] == []
    assert bench.fetcher.calls == []


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
    assert {"rule", "field", "expected", "hard", "attempt"} == set(body["defects"][0])
    assert {defect["attempt"] for defect in body["defects"]} == {1, 2}
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


@pytest.mark.parametrize("path", ["/api/judge", "/api/judge/stream"])
async def test_request_past_the_concurrency_limit_is_refused_at_once(opened, path):
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        admission = Admission(1)
        pipeline = replace(bench.services.pipeline, admission=admission)
        bench.app.state.services = replace(bench.services, pipeline=pipeline)
        async with admission():
            refused = await bench.client.post(path, json=DISPUTE)
            assert (await bench.client.get("/health/live")).status_code == 200
        assert (refused.status_code, refused.json()["type"]) == (503, "/problems/overloaded")
        assert int(refused.headers["retry-after"]) > 0
        assert (await bench.client.post(path, json=DISPUTE)).status_code == 200


SAFETY = (
    'vocabulary = false\n[[safety]]\nterms = ["hits me"]\n'
    'help = [{ title = "Helpers", url = "https://help.example/", phone = "116 999" }]\n'
    "[domains.any]\n"
)


async def test_risky_dispute_gets_help_lines_and_a_careful_prompt(opened):
    said = json.dumps({**json.loads(GOOD_REPLY), "quotes": []}).replace(" [1]", "")
    risky = {"context": "My partner hits me when he drinks.", "query": "Am I unreasonable?"}
    async with opened(ScriptedModel(said), sources=SAFETY) as bench:
        reply = await bench.client.post("/api/judge", json=risky)
        [prompt] = bench.model.prompts
    assert reply.json()["help"] == [
        {"title": "Helpers", "url": "https://help.example/", "phone": "116 999"}
    ]
    assert "never call fear or self-protection unreasonable" in prompt.instructions
