"""Cross-origin resource sharing: which web origins may read the replies.

Litestar's own middleware is inside the router, so that a page could not read what is refused before
(a wrong key, too many requests).
"""

from collections.abc import Sequence
from typing import Final

from litestar.types import ASGIApp, Receive, Scope, Send

from judge.entrypoints.api.access_policy import ANY_ORIGIN
from judge.entrypoints.api.middleware.requests import EXTRA_HEADERS
from judge.entrypoints.api.problem_responses import send_problem
from judge.types.request_fields import BadFields, FieldError

PREFLIGHT_MAX_AGE_S: Final = 600

RawHeaders = Sequence[tuple[bytes, bytes]]

ALLOW_ORIGIN: Final = b"access-control-allow-origin"

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


class CorsMiddleware:
    """Only pages of *origins* may read the replies of *app*, and none with cookies."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self._app = app
        self._origins = frozenset(origin.encode() for origin in origins)
        self._allows_any = ANY_ORIGIN in origins
        # For caches: replies differ by origin, unless any may read them.
        self._vary = () if self._allows_any else ((b"vary", b"Origin"),)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight request, or add the headers to the reply of *app*."""
        headers = dict(scope["headers"])
        allowed = self._allowed(headers.get(b"origin"))
        exposed = (_EXPOSED,) if allowed else ()
        scope.setdefault("state", {})[EXTRA_HEADERS] = [*allowed, *exposed, *self._vary]
        if scope.get("method") != "OPTIONS" or b"access-control-request-method" not in headers:
            await self._app(scope, receive, send)
        elif allowed:
            await send({"type": "http.response.start", "status": 204, "headers": _PREFLIGHT})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            refusal = BadFields([FieldError("Origin", "is not one that may call this service")])
            await send_problem(refusal, scope, receive, send)

    def _allowed(self, origin: bytes | None) -> RawHeaders:
        """The header that lets *origin* read the reply, if it may."""
        if self._allows_any:
            return ((ALLOW_ORIGIN, b"*"),)
        return ((ALLOW_ORIGIN, origin),) if origin in self._origins and origin else ()
