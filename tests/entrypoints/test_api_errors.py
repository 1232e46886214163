"""Every error is a problem (RFC 9457), whatever is sent and wherever it fails."""

import asyncio
import gzip
import json

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge import errors
from judge.entrypoints.api import http_messages
from judge.entrypoints.api.http_messages import (
    MAX_BODY_BYTES,
    ClientLeft,
    RequestRefused,
    problem_of,
    read_body,
)
from judge.ports import OnText, ignore_text
from judge.problems import KINDS, as_body
from judge.types.replies import Defect, ModelReply, Prompt
from judge.types.request_fields import BadFields, parse_json
from judge.types.requests import JudgeRequest
from tests.entrypoints.api_bench import DISPUTE

JSON = {"content-type": "application/json"}
MEMBERS = {"type", "title", "status", "detail", "instance", "error"}


def assert_problem(reply: httpx.Response, status: int, slug: str) -> dict:
    body = reply.json()
    assert reply.status_code == body["status"] == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["x-request-id"]
    assert body.keys() >= MEMBERS
    assert body["type"].endswith(f"/{slug}")
    assert body["error"] == body["detail"]
    return body


WRONG_FIELDS = [
    ({"query": "Is it fair?"}, "context", "is missing; add it"),
    ({**DISPUTE, "context": "  short "}, "context", "must have at least 10 characters"),
    ({**DISPUTE, "query": "q" * 1001}, "query", "must have at most 1000 characters"),
    ({**DISPUTE, "query": 7}, "query", "must be a text"),
    ({**DISPUTE, "query": None}, "query", "must be a text"),
    ({**DISPUTE, "domain": ["tenancy"]}, "domain", "must be a text"),
    ({**DISPUTE, "scope": "@tag:" + "x" * 1996}, "scope", "must have at most 2000 characters"),
    ({**DISPUTE, "model": "x"}, "model", "is not known here; known are context, query, "),
    ({**DISPUTE, "{0}": "x"}, "{0}", "is not known here"),
    ({**DISPUTE, "context": "nul \x00 in the middle"}, "context", "must not hold NUL"),
    ({**DISPUTE, "hear_other_side": "yes"}, "hear_other_side", "must be true or false"),
    ([], "body", "must be a JSON object"),
    ("text", "body", "must be a JSON object"),
]


async def test_wrong_fields_are_named_with_a_message(opened):
    async with opened() as bench:
        for body, field, message in WRONG_FIELDS:
            reply = await bench.client.post("/api/judge", json=body)
            [error] = assert_problem(reply, 400, "invalid-request")["errors"]
            assert error["field"] == field
            assert error["message"].startswith(message)
        several = await bench.client.post("/api/judge", json={"a": 1, "context": "x"})
        problem = assert_problem(several, 400, "invalid-request")
        assert {error["field"] for error in problem["errors"]} == {"context", "query", "a"}
        flood = {f"{'f' * 200}{number}": 1 for number in range(100)}
        problem = assert_problem(
            await bench.client.post("/api/judge", json=flood), 400, "invalid-request"
        )
    assert len(problem["errors"]) == 20
    assert max(len(error["field"]) for error in problem["errors"]) == 100


NO_OBJECTS = [
    b"",
    b"{",
    b"null",
    b"\xff\xfe{}",
    "{}".encode("utf-16"),
    b'{"context": "lone \\ud800 surrogate", "query": "is it fair?"}',
    b"[" * 60_000,
    b'{"x":' + b"[" * 500 + b"]" * 500 + b"}",
    b'{"context": NaN, "query": Infinity}',
]


async def test_body_that_is_no_dispute_in_json_is_refused(opened):
    async with opened() as bench:
        for body in NO_OBJECTS:
            reply = await bench.client.post("/api/judge", content=body, headers=JSON)
            assert_problem(reply, 400, "invalid-request")
        for other in ("text/plain", "application/x-www-form-urlencoded", "json", "a/b+json"):
            headers = {"content-type": other}
            reply = await bench.client.post(
                "/api/judge", content=json.dumps(DISPUTE), headers=headers
            )
            assert_problem(reply, 415, "unsupported-media-type")
        for coding in ("gzip", "br", "identity, gzip"):
            headers = {**JSON, "content-encoding": coding}
            body = gzip.compress(json.dumps(DISPUTE).encode())
            reply = await bench.client.post("/api/judge", content=body, headers=headers)
            problem = assert_problem(reply, 415, "unsupported-media-type")
            assert problem["detail"] == "The body is compressed. Send it as it is."


async def test_usual_spellings_of_json_are_accepted(opened):
    body = b"\xef\xbb\xbf" + json.dumps(DISPUTE).encode().ljust(MAX_BODY_BYTES - 3)
    async with opened() as bench:
        for headers in (
            {"content-type": "application/json; charset=utf-8", "content-encoding": "Identity"},
            {"content-type": "Application/JSON"},
            {"content-type": "application/ld+json"},
        ):
            reply = await bench.client.post("/api/judge", content=body, headers=headers)
            assert_problem(reply, 503, "model-unavailable")


async def test_a_body_over_the_limit_is_too_large_and_not_read_if_it_says_so(opened):
    sent = []

    async def chunks():
        for _ in range(10):
            sent.append(1)
            yield b" " * (MAX_BODY_BYTES // 8)

    announced = {**JSON, "content-length": str(100 * 1024 * 1024)}
    async with opened() as bench:
        for path in ("/api/judge", "/api/judge/stream", "/api/check"):
            reply = await bench.client.post(path, content=chunks(), headers=announced)
            assert_problem(reply, 413, "too-large")
        assert sent == []
        for body in (chunks(), b" " * (MAX_BODY_BYTES + 1)):
            reply = await bench.client.post("/api/judge", content=body, headers=JSON)
            assert_problem(reply, 413, "too-large")


async def test_unknown_names_list_the_valid_ones(opened):
    async with opened() as bench:
        domain = await bench.client.post("/api/judge", json={**DISPUTE, "domain": "magic"})
        scope = await bench.client.post("/api/judge", json={**DISPUTE, "scope": "@tag:x"})
    problem = assert_problem(domain, 400, "unknown-domain")
    assert problem["valid"] == ["tenancy", "workplace", "default"]
    assert "magic" in problem["detail"]
    assert assert_problem(scope, 400, "bad-scope")["valid"] == []


async def test_a_browser_gets_a_page_where_there_is_nothing_and_a_program_a_problem(opened):
    browser = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    async with opened() as bench:
        for path, home in (("/nothing", "./"), ("/no/thing/<b>", "../../")):
            reply = await bench.client.get(path, headers=browser)
            assert (reply.status_code, reply.headers["content-type"]) == (
                404,
                "text/html; charset=utf-8",
            )
            assert f'<a href="{home}">' in reply.text
            assert "<b>" not in reply.text
            assert reply.headers["content-security-policy"].startswith("default-src 'none'")
            assert_problem(await bench.client.get(path), 404, "not-found")
        assert_problem(await bench.client.get("/api/no", headers=browser), 404, "not-found")


async def test_unknown_routes_methods_and_hosts(opened):
    async with opened() as bench:
        for path in ("/nothing", "/api", "/schema/nothing.json", "/problems/none", "/é"):
            assert_problem(await bench.client.get(path), 404, "not-found")
        for method, path, allowed in (
            ("GET", "/api/judge", {"OPTIONS", "POST"}),
            ("DELETE", "/api/judge", {"OPTIONS", "POST"}),
            ("POST", "/api/domains", {"GET", "OPTIONS"}),
            ("BREW", "/health/live", {"GET", "OPTIONS"}),
            ("PUT", "/api/search", {"GET", "OPTIONS", "POST"}),
        ):
            reply = await bench.client.request(method, path)
            assert set(reply.headers["allow"].split(", ")) == allowed
            assert_problem(reply, 405, "method-not-allowed")
        assert (await bench.client.head("/api/judge")).status_code == 405
        assert (await bench.client.options("/api/judge")).status_code == 204
        reply = await bench.client.get("/health/live", headers={"host": "a b/c"})
        assert_problem(reply, 400, "invalid-request")


class BrokenModel:
    """Fails with an unexpected error that quotes the prompt."""

    name = "broken"
    gives_verdicts = True

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        doubles_limit: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        raise RuntimeError(prompt.text)


async def test_internal_error_shows_only_a_request_id(opened):
    async with opened(BrokenModel()) as bench:
        reply = await bench.client.post("/api/judge", json=DISPUTE, headers={"x-request-id": "abc"})
    problem = assert_problem(reply, 500, "internal-error")
    assert problem["request_id"] == "abc"
    assert "boiler" not in reply.text
    assert "RuntimeError" not in reply.text
    [noted] = bench.recorded.fields_of("http.error")
    assert noted["error"] == "RuntimeError"
    assert noted["place"].startswith("test_api_errors.py:")
    assert "boiler" not in bench.log.getvalue()


async def test_slow_body_is_a_timeout(monkeypatch):
    monkeypatch.setattr(http_messages, "BODY_TIMEOUT_S", 0.001)
    with pytest.raises(BadFields, match="in time"):
        await read_body({"headers": []}, asyncio.Event().wait)


@given(body=st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_no_bytes_cause_an_internal_error(body):
    with pytest.raises(BadFields) as caught:
        parse_json(JudgeRequest, body)
    assert caught.value.errors


DEFECT = Defect("citation", "summary", "[7]", "a number from 1 to 2", is_hard=True)


@pytest.mark.parametrize(
    ("error", "status", "slug"),
    [
        (errors.InvalidRequest("no"), 400, "invalid-request"),
        (errors.UnknownDomain("x", ["a"]), 400, "unknown-domain"),
        (errors.BadScope("no", ["a"]), 400, "bad-scope"),
        (errors.NotFound("no"), 404, "not-found"),
        (errors.ModelUnavailable("no"), 503, "model-unavailable"),
        (errors.BudgetSpent("no", 60), 503, "budget-spent"),
        (errors.Overloaded(), 503, "overloaded"),
        (errors.IndexUnavailable("no"), 503, "index-unavailable"),
        (errors.ContentBlocked("SAFETY"), 422, "content-blocked"),
        (errors.InvalidReply([DEFECT], [DEFECT]), 502, "invalid-reply"),
        (errors.DeadlineExceeded(30), 504, "deadline-exceeded"),
        (errors.ConfigurationError("no"), 500, "internal-error"),
        (errors.CacheUnavailable("no"), 500, "internal-error"),
        (ValueError("no"), 500, "internal-error"),
        (RequestRefused("too-large", "no"), 413, "too-large"),
        (RequestRefused("unsupported-media-type"), 415, "unsupported-media-type"),
        (ClientLeft(), 499, "client-left"),
    ],
)
def test_each_error_has_its_status_and_type(error, status, slug):
    problem = problem_of(error)
    assert (problem.kind.status, problem.slug) == (status, slug)
    assert as_body(problem, path="/x y", request_id="1")["instance"] == "/x%20y"


def test_every_retryable_problem_has_retry_after():
    again = [errors.ModelUnavailable("no", 0.2), errors.BudgetSpent("no", 61.5)]
    waits = [problem_of(error).headers["Retry-After"] for error in again]
    assert waits == ["1", "62"]
    assert "Retry-After" in problem_of(errors.IndexUnavailable("no")).headers


async def test_each_problem_type_links_to_its_documentation(opened):
    async with opened() as bench:
        for slug, kind in KINDS.items():
            reply = await bench.client.get(f"/problems/{slug}")
            assert reply.status_code == 200
            assert reply.headers["content-type"].startswith("text/html")
            assert kind.title.replace("'", "&#x27;") in reply.text
