"""Access over HTTP: keys, rate limits, origins, and security headers."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from litestar import Litestar, get, post

from judge.adapters.memory import MemoryRateLimiter
from judge.entrypoints.api.access_policy import ACCESS, Access, AccessPolicy
from judge.entrypoints.api.http_messages import RequestRefused
from judge.settings import Settings
from judge.types.setting_values import parse_rate_limit
from tests.entrypoints.api_bench import DISPUTE, GOOD_REPLY
from tests.fakes.clock import FakeClock
from tests.fakes.model import ScriptedModel

API, ADMIN = "user-key-1", "admin-key-1"
BOTH = {"JUDGE_API_KEYS": f"{API}, user-key-2", "JUDGE_ADMIN_KEYS": ADMIN}
NO_KEYS: dict[str, str] = {}
ONLY_API = {"JUDGE_API_KEYS": API}
ONLY_ADMIN = {"JUDGE_ADMIN_KEYS": ADMIN}
ORIGIN = "https://app.example"


def with_settings(**values: str) -> Settings:
    return Settings(_env_file=None, **values)


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def status(keys: dict[str, str], access: Access, sent: str | None, *, is_public: bool) -> int:
    """The status that a request with the key *sent* gets from a route that needs *access*."""
    policy = AccessPolicy(with_settings(**keys), is_public=is_public)
    header = f"Bearer {sent}".encode() if sent else None
    try:
        policy.principal(header, "203.0.113.9").require(access)
    except RequestRefused as refused:
        return refused.problem.kind.status
    return 200


class TestRules:
    """The access table of docs/security.md, row by row."""

    TABLE = (
        # access, is public: without keys, with API keys, with admin keys, with both
        (Access.OPEN, False, (200, 200, 200, 200)),
        (Access.OPEN, True, (200, 200, 200, 200)),
        (Access.JUDGING, False, (200, 401, 200, 401)),
        (Access.JUDGING, True, (200, 401, 200, 401)),
        (Access.METRICS, True, (200, 401, 401, 401)),
        (Access.PRIVATE, False, (200, 401, 200, 401)),
        (Access.PRIVATE, True, (403, 401, 401, 401)),
        (Access.ADMIN, False, (200, 401, 401, 401)),
        (Access.ADMIN, True, (403, 401, 401, 401)),
    )

    @pytest.mark.parametrize(("access", "is_public", "statuses"), TABLE)
    def test_who_sends_no_valid_key(self, access, is_public, statuses):
        for keys, expected in zip((NO_KEYS, ONLY_API, ONLY_ADMIN, BOTH), statuses, strict=True):
            for sent in (None, "wrong"):
                assert status(keys, access, sent, is_public=is_public) == expected

    @pytest.mark.parametrize("access", Access)
    def test_an_admin_key_opens_everything_and_an_api_key_all_but_writing(self, access):
        for keys in (BOTH, ONLY_ADMIN):
            assert status(keys, access, ADMIN, is_public=True) == 200
        for keys in (BOTH, ONLY_API):
            expected = 403 if access is Access.ADMIN else 200
            assert status(keys, access, API, is_public=True) == expected

    @pytest.mark.parametrize(
        "header",
        [
            b"", b"Bearer", b"Bearer ", b"Basic user-key-1", b"user-key-1", b"Bearer user-key",
            b"Bearer user-key-11", b"Bearer user-key-1, Bearer user-key-1", b"Bearer USER-KEY-1",
            b"Bearer \xff\xfe",
        ],
    )  # fmt: skip
    def test_anything_but_the_exact_key_is_refused(self, header):
        policy = AccessPolicy(with_settings(**BOTH), is_public=True)
        assert policy.principal(header, "").key is None


def handlers(app: Litestar) -> Iterator[tuple[str, Any]]:
    for route in app.routes:
        for handler in getattr(route, "route_handlers", [getattr(route, "route_handler", None)]):
            if getattr(handler, "http_methods", None) != {"OPTIONS"}:
                yield route.path, handler


EXPECTED = {
    "/api/check": Access.JUDGING,
    "/api/judge": Access.JUDGING,
    "/api/judge/stream": Access.JUDGING,
    "/api/domains": Access.JUDGING,
    "/health/live": Access.OPEN,
    "/health/ready": Access.OPEN,
    "/metrics": Access.METRICS,
}


async def test_every_route_declares_its_access(opened):
    async with opened() as bench:
        found = {
            (path, method): handler.opt.get(ACCESS)
            for path, handler in handlers(bench.app)
            for method in getattr(handler, "http_methods", {"*"})
        }
    assert all(isinstance(access, Access) for access in found.values()), found
    for (path, method), access in found.items():
        if path in EXPECTED:
            assert access is EXPECTED[path], path
        elif path.startswith("/api/documents") and method != "GET":
            assert access is Access.ADMIN, path
        elif path.startswith(("/api/", "/mcp")):
            assert access is Access.PRIVATE, path
        else:
            assert access is Access.OPEN, path


class TestKeysOverHttp:
    async def test_without_a_key_no_api_route_answers(self, opened):
        async with opened(settings=with_settings(**BOTH)) as bench:
            for path in ("/api/domains", "/api/search?q=a", "/api/code/search"):
                reply = await bench.client.get(path)
                assert reply.status_code == 401, path
                assert reply.headers["www-authenticate"].startswith("Bearer")
                assert reply.json()["type"].endswith("unauthorized")
            assert (await bench.client.post("/api/judge", json=DISPUTE)).status_code == 401

    async def test_wrong_and_missing_key_have_different_errors(self, opened):
        async with opened(settings=with_settings(**BOTH)) as bench:
            none = (await bench.client.get("/api/domains")).json()["detail"]
            wrong = (await bench.client.get("/api/domains", headers=bearer("x"))).json()["detail"]
        assert "A key is needed" in none
        assert "not known" in wrong

    async def test_unusual_path_spelling_does_not_bypass_the_key(self, opened):
        async with opened(settings=with_settings(**BOTH)) as bench:
            for path in ("//api/domains", "/api//domains", "/api/domains/", "/./api/domains"):
                request = bench.client.build_request("GET", "/")
                request.url = request.url.copy_with(raw_path=path.encode())
                assert (await bench.client.send(request)).status_code in {401, 404}, path

    async def test_keys_are_in_no_log_and_no_metric(self, opened):
        async with opened(ScriptedModel(GOOD_REPLY), settings=with_settings(**BOTH)) as bench:
            for key in (API, ADMIN, "a-wrong-key"):
                await bench.client.post("/api/judge", json=DISPUTE, headers=bearer(key))
            shown = bench.log.getvalue() + bench.counts.render().decode()
        assert "http.request" in shown
        for word in (API, ADMIN, "a-wrong-key", "Bearer", "key:"):
            assert word not in shown

    async def test_added_routes_are_private_by_default(self, opened):
        @get("/api/extra")
        async def search() -> str:
            return "found"

        @post("/api/extra", access=Access.ADMIN)
        async def add() -> str:
            return "added"

        async with opened(is_public=True) as bench:
            bench.app.register(search)
            bench.app.register(add)
            assert (await bench.client.get("/api/extra")).json()["type"].endswith("forbidden")
            assert (await bench.client.post("/api/extra")).status_code == 403
        async with opened(settings=with_settings(**BOTH)) as bench:
            bench.app.register(search)
            bench.app.register(add)
            assert (await bench.client.get("/api/extra", headers=bearer(API))).text == "found"
            for key, expected in ((API, 403), (ADMIN, 201), ("x", 401)):
                reply = await bench.client.post("/api/extra", headers=bearer(key))
                assert reply.status_code == expected


SCOPED = {**DISPUTE, "scope": "@collection:leases"}


class TestScope:
    async def test_public_server_without_keys_refuses_a_scope_in_a_dispute(self, opened):
        async with opened(ScriptedModel(GOOD_REPLY), is_public=True) as bench:
            for path in ("/api/judge", "/api/judge/stream"):
                reply = await bench.client.post(path, json=SCOPED)
                assert (reply.status_code, reply.json()["type"]) == (403, "/problems/forbidden")
            assert bench.model.calls == []
            assert (await bench.client.post("/api/judge", json=DISPUTE)).status_code == 200


class TestOtherSites:
    """Without keys, routes that are open to this machine are closed to web pages in its browser."""

    FORM = "multipart/form-data; boundary=x"
    ALLOWED = (
        {},
        {"host": "127.0.0.1:8000"},
        {"host": "[::1]:8000"},
        {"origin": "http://localhost:8000"},
        {"origin": ORIGIN},
    )
    FOREIGN = (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://["},
        {"host": "rebound.evil.example"},
        {"host": "rebound.evil.example", "origin": "http://localhost"},
        {"host": ""},
    )

    async def test_foreign_origin_cannot_write_documents(self, opened):
        async with opened(settings=with_settings(JUDGE_CORS_ORIGINS=ORIGIN)) as bench:
            for expected, several in ((400, self.ALLOWED), (403, self.FOREIGN)):
                for headers in several:
                    sent = {"content-type": self.FORM, **headers}
                    reply = await bench.client.post("/api/documents", content=b"", headers=sent)
                    assert reply.status_code == expected, headers

    async def test_foreign_host_name_cannot_search(self, opened):
        async with opened() as bench:
            reply = await bench.client.get("/api/search?q=lease", headers={"host": "evil.example"})
        assert reply.json()["type"].endswith("forbidden")

    @pytest.mark.parametrize("keys", [NO_KEYS, ONLY_ADMIN])
    async def test_foreign_origin_cannot_spend_tokens(self, opened, keys):
        model = ScriptedModel(GOOD_REPLY)
        async with opened(model, settings=with_settings(**keys)) as bench:
            for headers in self.FOREIGN:
                for path in ("/api/judge", "/api/judge/stream"):
                    reply = await bench.client.post(path, json=DISPUTE, headers=headers)
                    assert reply.json()["type"] == "/problems/forbidden"
            # A form or a text needs no preflight.
            for headers in ({}, {"content-type": "text/plain;charset=UTF-8"}):
                reply = await bench.client.post(
                    "/api/judge", content=json.dumps(DISPUTE), headers=headers
                )
                assert reply.status_code == 415
        assert model.prompts == []

    @pytest.mark.parametrize("origins", [ORIGIN, "*"])
    async def test_allowed_origin_may_judge(self, opened, origins):
        settings = with_settings(JUDGE_CORS_ORIGINS=origins)
        async with opened(ScriptedModel(GOOD_REPLY), settings=settings) as bench:
            reply = await bench.client.post("/api/judge", json=DISPUTE, headers={"origin": ORIGIN})
        assert reply.status_code == 200

    async def test_key_is_accepted_from_any_origin(self, opened):
        headers = {"host": "judge.example", "origin": "https://x.example", **bearer(API)}
        async with opened(settings=with_settings(**BOTH)) as bench:
            reply = await bench.client.get("/api/search?q=lease", headers=headers)
        assert reply.status_code != 403


def limited(limit: str, **values: str) -> dict[str, Any]:
    """Settings and limiter for `opened`."""
    parsed = parse_rate_limit(limit)
    assert parsed
    return {
        "settings": with_settings(JUDGE_RATE_LIMIT=limit, **values),
        "limiter": MemoryRateLimiter(parsed, FakeClock()),
    }


class TestRateLimit:
    async def test_429_past_the_limit_has_retry_after(self, opened):
        async with opened(**limited("3/minute")) as bench:
            replies = [await bench.client.get("/api/domains") for _ in range(4)]
        assert [reply.status_code for reply in replies] == [200, 200, 200, 429]
        assert replies[0].headers["ratelimit-policy"] == '"default";q=3;w=60'
        assert [reply.headers["ratelimit"] for reply in replies] == [
            f'"default";r={left};t=60' for left in (2, 1, 0, 0)
        ]
        assert replies[3].headers["retry-after"] == "60"
        assert replies[3].json()["type"] == "/problems/rate-limited"
        assert replies[3].json()["error"] == replies[3].json()["detail"]
        assert replies[3].headers["x-request-id"]

    async def test_health_metrics_files_and_preflights_are_not_counted(self, opened):
        setup = limited("1/hour", JUDGE_CORS_ORIGINS=ORIGIN)
        asked = {"origin": ORIGIN, "access-control-request-method": "POST"}
        async with opened(**setup) as bench:
            for path in (
                "/health/live",
                "/health/ready",
                "/metrics",
                "/",
                "/playground/app.js",
                "/widget.js",
                "/schema/openapi.json",
            ):
                reply = await bench.client.get(path)
                assert (reply.status_code, "ratelimit" in reply.headers) == (200, False)
            assert (await bench.client.options("/api/judge", headers=asked)).status_code == 204
            assert (await bench.client.get("/api/domains")).status_code == 200
            assert (await bench.client.get("/api/domains")).status_code == 429

    async def test_each_key_has_its_own_limit(self, opened):
        async with opened(**limited("1/minute", JUDGE_API_KEYS="a-1, b-2")) as bench:
            for key in ("a-1", "b-2"):
                for expected in (200, 429):
                    reply = await bench.client.get("/api/domains", headers=bearer(key))
                    assert reply.status_code == expected

    @pytest.mark.parametrize("path", ["/api/domains", "/metrics"])
    async def test_guessing_keys_is_limited_by_address(self, opened, path):
        async with opened(**limited("3/minute", JUDGE_API_KEYS="a-1")) as bench:
            replies = [
                await bench.client.get(path, headers=bearer(f"guess-{number}"))
                for number in range(5)
            ]
        assert [reply.status_code for reply in replies] == [401, 401, 401, 429, 429]

    async def test_clients_behind_a_trusted_proxy_have_their_own_limits(self, opened):
        async with opened(**limited("1/minute", JUDGE_TRUSTED_PROXIES="127.0.0.0/8")) as bench:
            for number in range(61):
                client = {"x-forwarded-for": f"198.51.100.{number}"}
                assert (await bench.client.get("/api/domains", headers=client)).status_code == 200

    async def test_429_is_readable_across_origins(self, opened):
        setup = limited("1/minute", JUDGE_CORS_ORIGINS=ORIGIN)
        async with opened(**setup) as bench:
            for expected in (200, 429):
                reply = await bench.client.get("/api/domains", headers={"origin": ORIGIN})
                assert reply.status_code == expected
        assert reply.headers["access-control-allow-origin"] == ORIGIN
        assert "Retry-After" in reply.headers["access-control-expose-headers"]


PATHS = ["/health/live", "/metrics", "/schema", "/schema/schema.js", "/api/domains", "/nothing"]


class TestBrowsers:
    async def test_every_reply_has_the_security_headers(self, opened):
        async with opened() as bench:
            replies = [await bench.client.get(path, headers={"cookie": "a=b"}) for path in PATHS]
        for reply in replies:
            assert reply.headers["x-content-type-options"] == "nosniff"
            assert reply.headers["x-frame-options"] == "DENY"
            assert reply.headers["referrer-policy"] == "no-referrer"
            assert reply.headers["cross-origin-opener-policy"] == "same-origin"
            assert reply.headers["cross-origin-resource-policy"] == "same-origin"
            [policy] = reply.headers.get_list("content-security-policy")
            assert policy.startswith("default-src 'none'")
            assert "frame-ancestors 'none'" in policy
            assert "set-cookie" not in reply.headers

    async def test_only_the_exact_origin_may_read_replies_and_caches_are_told(self, opened):
        similar = ("null", "https://app.example.evil.example", "http://app.example", "")
        async with opened(settings=with_settings(JUDGE_CORS_ORIGINS=ORIGIN)) as bench:
            for origin in similar:
                reply = await bench.client.get("/api/domains", headers={"origin": origin})
                assert "access-control-allow-origin" not in reply.headers
            reply = await bench.client.get("/api/domains", headers={"origin": ORIGIN})
        assert reply.headers["access-control-allow-origin"] == ORIGIN
        assert reply.headers["vary"] == "Origin"

    async def test_wildcard_origin_allows_no_credentials(self, opened):
        async with opened(settings=with_settings(JUDGE_CORS_ORIGINS="*")) as bench:
            reply = await bench.client.get("/api/domains", headers={"origin": "https://x.example"})
        assert reply.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in reply.headers

    async def test_a_preflight_needs_no_key(self, opened):
        settings = with_settings(JUDGE_CORS_ORIGINS=ORIGIN, **BOTH)
        asked = {"origin": ORIGIN, "access-control-request-method": "POST"}
        async with opened(settings=settings) as bench:
            reply = await bench.client.options("/api/judge", headers=asked)
            refused = await bench.client.post(
                "/api/judge", json=DISPUTE, headers={"origin": ORIGIN}
            )
            strange = await bench.client.options(
                "/api/judge", headers={**asked, "origin": "https://evil.example"}
            )
        assert reply.status_code == 204
        assert strange.status_code == 400
        assert "access-control-allow-origin" not in strange.headers
        assert "authorization" in reply.headers["access-control-allow-headers"]
        assert "POST" in reply.headers["access-control-allow-methods"]
        assert refused.status_code == 401
        assert refused.headers["access-control-allow-origin"] == ORIGIN


async def test_websocket_is_closed_at_once(opened):
    sent = []

    async def send(message):
        sent.append(message["type"])

    async with opened() as bench:
        scope = {"type": "websocket", "path": "/api/judge", "headers": []}
        await bench.app(scope, None, send)
    assert sent == ["websocket.close"]
