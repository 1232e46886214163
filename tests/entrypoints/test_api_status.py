"""Health, metrics, logs, CORS and the pages of the interface."""

import asyncio
import json
import threading

from tests.entrypoints.api_bench import (
    BAD_REPLY,
    DISPUTE,
    GOOD_REPLY,
)
from tests.fakes.model import ScriptedModel
from tests.fakes.waiting import until


def sample(text: str, line: str) -> float:
    """The value of the metric sample that begins with *line*."""
    [found] = [one for one in text.splitlines() if one.startswith(line + " ")]
    return float(found.rpartition(" ")[2])


async def test_a_server_is_live_and_ready_without_redis_and_until_it_shuts_down(opened):
    async with opened(degraded=("redis",)) as bench:
        live = await bench.client.get("/health/live")
        ready = await bench.client.get("/health/ready")
        bench.app.state.is_draining = True
        draining = await bench.client.get("/health/ready")
        bench.app.state.is_draining = False
    assert (live.status_code, live.json()) == (200, {"status": "ok"})
    assert (ready.status_code, ready.json()) == (200, {"status": "ok", "degraded": ["redis"]})
    assert (draining.status_code, draining.json()["status"]) == (503, "draining")
    assert bench.app.state.is_draining is True
    assert bench.model.calls == []


async def test_broken_sources_file_is_ready_but_degraded(opened):
    async with opened() as bench:
        bench.sources.write_text("[domains")
        bench.clock.advance(1)
        bench.services.sources.current()
        await until(lambda: bench.services.sources.problem is not None)
        reply = await bench.client.get("/health/ready")
    assert (reply.status_code, reply.json()["degraded"]) == (200, ["sources"])


async def test_readiness_answers_while_all_threads_are_busy(opened):
    answered = threading.Event()
    async with opened() as bench:
        loop = asyncio.get_running_loop()
        waiting = [loop.run_in_executor(None, answered.wait) for _ in range(64)]
        try:
            reply = await bench.client.get("/health/ready")
        finally:
            answered.set()
        await asyncio.wait(waiting)
    assert (reply.status_code, reply.json()["status"]) == (200, "ok")


async def test_no_sources_is_not_ready(opened):
    async with opened(sources="[domains.a.terms]\nword = 1\n") as bench:
        reply = await bench.client.get("/health/ready")
    assert (reply.status_code, reply.json()["status"]) == (503, "unready")


async def test_warm_up_does_not_delay_startup(opened):
    started, gate = asyncio.Event(), asyncio.Event()

    async def warm():
        started.set()
        await gate.wait()

    async with opened(warm=warm) as bench:
        assert (await bench.client.get("/health/ready")).status_code == 200
        await asyncio.wait_for(started.wait(), 20)


async def test_metrics_count_requests_by_route_and_status(opened):
    async with opened() as bench:
        for path in ("/health/live", "/secret/path", "/problems/not-found"):
            await bench.client.get(path)
        reply = await bench.client.get("/metrics")
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    counted = 'judge_http_requests_total{method="GET",route="%s",status="%s"}'
    assert sample(reply.text, counted % ("/health/live", 200)) == 1
    assert sample(reply.text, counted % ("unmatched", 404)) == 1
    assert sample(reply.text, counted % ("/problems/{slug}", 200)) == 1
    assert sample(reply.text, 'judge_http_request_seconds_count{route="/health/live"}') == 1
    assert "secret" not in reply.text


async def test_metrics_count_verdicts_defects_and_tokens(opened):
    async with opened(ScriptedModel(BAD_REPLY, GOOD_REPLY)) as bench:
        assert (await bench.client.post("/api/judge", json=DISPUTE)).json()["attempts"] == 2
        text = (await bench.client.get("/metrics")).text
    verdicts = 'judge_judgements_total{degraded="false",domain="tenancy",evidence="grounded"}'
    assert sample(text, verdicts) == 1
    defects = 'judge_reply_defects_total{attempt="1",rule="citation",severity="hard"}'
    assert sample(text, defects) >= 1
    assert sample(text, 'judge_model_replies_total{finish="stop",model="scripted"}') == 2
    assert sample(text, 'judge_model_tokens_total{kind="input"}') == 200


async def test_one_line_is_logged_for_each_request(opened):
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        await bench.client.post(
            "/api/judge?token=secret", json=DISPUTE, headers={"x-request-id": "r1"}
        )
    lines = [json.loads(line) for line in bench.log.getvalue().splitlines()]
    [line] = [line for line in lines if line["event"] != "snippet.fetched"]
    assert line["event"] == "http.request"
    assert line["ms"] >= 0
    assert (line["domain"], line["attempts"], line["input_tokens"]) == ("tenancy", 1, 100)
    assert {key: line[key] for key in ("method", "route", "status", "request_id")} == {
        "method": "POST",
        "route": "/api/judge",
        "status": 200,
        "request_id": "r1",
    }
    assert {one["request_id"] for one in lines} == {"r1"}
    assert "secret" not in bench.log.getvalue()


async def test_no_text_of_a_dispute_is_in_logs_or_metrics(opened):
    marked = {
        "context": "My landlord Zebulon won't mend the boiler; xylophone-marker.",
        "query": "Is quokkafield being unreasonable?",
    }
    said = json.loads(GOOD_REPLY)
    said["summary"] = "Wombatmarker says that you are right [1]."
    bad = BAD_REPLY.replace("You ", "Narwhalmarker ")
    requests = [
        {"json": marked},
        {"json": marked},
        {"json": {**marked, "domain": "platypusmarker"}},
        {"json": {**marked, "scope": "@tag:axolotlmarker"}},
        {"json": {**marked, "okapimarker": "x"}},
        {"content": b'{"context": "tapirmarker', "headers": {"content-type": "application/json"}},
        {"json": marked},
    ]
    async with opened(ScriptedModel(json.dumps(said), bad, bad)) as bench:
        statuses = [
            (await bench.client.post("/api/judge", **request)).status_code for request in requests
        ]
        await bench.client.get("/lemurmarker")
        shown = bench.log.getvalue() + (await bench.client.get("/metrics")).text
    assert statuses == [200, 502, 400, 400, 400, 400, 503]
    for word in ("Zebulon", "xylophone", "quokka", "marker", "Wombat", "mend"):
        assert word not in shown
