"""Cross-origin resource sharing: which web origins may read the replies.

Litestar's own middleware is inside the router, so that a page could not read what is refused before
(a wrong key, too many requests).
"""

from collections.abc import Sequence

from litestar.types import ASGIApp, Receive, Scope, Send

from judge.entrypoints.api.access_policy import ANY_ORIGIN
from judge.entrypoints.api.middleware.requests import EXTRA_HEADERS
from judge.entrypoints.api.problem_responses import send_problem
from judge.types.request_fields import BadFields, FieldError

PREFLIGHT = (
    (b"access-control-allow-methods", b"GET, POST, DELETE"),
    (
        b"access-control-allow-headers",
        b"authorization, content-type, x-request-id, mcp-protocol-version, mcp-method, mcp-name",
    ),
    (b"access-control-max-age", b"600"),
)
EXPOSED = (
    b"access-control-expose-headers",
    b"RateLimit, RateLimit-Policy, Retry-After, X-Request-ID",
)


class CorsMiddleware:
    """Only pages of *origins* may read the replies of *app*, and none with cookies."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self._app = app
        self._origins = frozenset(origin.encode() for origin in origins)
        self._allows_any = ANY_ORIGIN in origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight request, or add the headers to the reply of *app*."""
        headers = dict(scope["headers"])
        origin = b"*" if self._allows_any else headers.get(b"origin", b"")
        is_allowed = self._allows_any or origin in self._origins
        # For caches: replies differ by origin, unless any may read them.
        added = [] if self._allows_any else [(b"vary", b"Origin")]
        if is_allowed:
            added += [(b"access-control-allow-origin", origin), EXPOSED]
        scope.setdefault("state", {})[EXTRA_HEADERS] = added
        if scope.get("method") != "OPTIONS" or b"access-control-request-method" not in headers:
            await self._app(scope, receive, send)
        elif is_allowed:
            await send({"type": "http.response.start", "status": 204, "headers": PREFLIGHT})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            refusal = BadFields([FieldError("Origin", "is not one that may call this service")])
            await send_problem(refusal, scope, receive, send)
