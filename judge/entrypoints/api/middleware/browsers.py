"""The rules that browsers keep for us: headers on every reply, and which origins may read them."""

from collections.abc import Sequence
from typing import Final

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from judge.entrypoints.api.problem_responses import BadFields, FieldError, send_problem

RawHeaders = Sequence[tuple[bytes, bytes]]

NOT_FRAMED: Final = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""What every policy says, also that of a page."""

CONTENT_POLICY: Final = (b"content-security-policy", f"default-src 'none'; {NOT_FRAMED}".encode())
"""For all replies without a policy of their own: nothing in them may be run or loaded."""

SECURITY_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)

ANY_ORIGIN: Final = "*"
PREFLIGHT_MAX_AGE_S: Final = 600

_VARY = (b"vary", b"Origin")
_PREFLIGHT = (
    (b"access-control-allow-methods", b"GET, POST, DELETE"),
    (
        b"access-control-allow-headers",
        b"authorization, content-type, x-request-id, mcp-protocol-version, mcp-method, mcp-name",
    ),
    (b"access-control-max-age", str(PREFLIGHT_MAX_AGE_S).encode()),
)
_EXPOSED = (
    b"access-control-expose-headers",
    b"RateLimit, RateLimit-Policy, Retry-After, X-Request-ID",
)


def with_security_headers(headers: RawHeaders) -> list[tuple[bytes, bytes]]:
    """*headers* with those that every reply has."""
    has_policy = any(name.lower() == CONTENT_POLICY[0] for name, _ in headers)
    return [*headers, *SECURITY_HEADERS, *(() if has_policy else (CONTENT_POLICY,))]


class CorsMiddleware:
    """Wraps *app*; only pages of *origins* may read its replies, and none with cookies."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self._app = app
        self._origins = frozenset(origin.encode() for origin in origins)
        self._allows_any = ANY_ORIGIN in origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight, or let *app* answer and say who may read it."""
        if scope["type"] != ScopeType.HTTP or not self._origins:
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        allowed = self._allowed(headers.get(b"origin"))
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            await self._answer_preflight(allowed, scope, send)
            return

        async def telling(message: Message) -> None:
            if message["type"] == "http.response.start":
                told = (*allowed, _EXPOSED) if allowed else ()
                message["headers"] = [*message.get("headers", ()), *told, *self._vary()]
            await send(message)

        await self._app(scope, receive, telling)

    def _allowed(self, origin: bytes | None) -> RawHeaders:
        """The header that lets *origin* read, if it may."""
        name = b"access-control-allow-origin"
        if self._allows_any:
            return ((name, b"*"),)
        return ((name, origin),) if origin in self._origins and origin else ()

    def _vary(self) -> RawHeaders:
        """What caches must know: replies differ by origin, unless anybody may read them."""
        return () if self._allows_any else (_VARY,)

    async def _answer_preflight(self, allowed: RawHeaders, scope: Scope, send: Send) -> None:
        if not allowed:
            refusal = BadFields([FieldError("Origin", "is not one that may call this service")])
            await send_problem(refusal, scope, send)
            return
        headers = [*allowed, *_PREFLIGHT, *self._vary()]
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
