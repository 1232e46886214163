"""Authentication and rate limit: finds the principal, counts its requests, guards /api and /mcp.

It wraps the router, so that requests for unknown paths are counted and need a key too.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from litestar.types import ASGIApp, Receive, Scope, Send

from judge.entrypoints.api.access_policy import Access, AccessPolicy, Principal
from judge.entrypoints.api.middleware.client_address import (
    Network,
    caller_address,
    has_foreign_host,
    has_foreign_origin,
)
from judge.entrypoints.api.middleware.requests import EXTRA_HEADERS
from judge.entrypoints.api.problem_responses import RequestRefused, send_problem
from judge.ports import RateLimiter
from judge.types.limits import RateLimit

UNLIMITED = ("/health/live", "/health/ready")
"""Health probes are frequent; a refused one would make the platform think the service dead."""

UNLIMITED_UNLESS_GUESSING = ("/metrics", "/playground/", "/widget.js")
"""Prefixes of paths that are unlimited too, except with a wrong key. The page is made of a dozen
files, which cost no more to send than to refuse."""

KEYED_PATHS = ("/api/", "/mcp/")
"""Prefixes of the paths that need a key when keys are set."""


@dataclass(frozen=True, slots=True)
class AccessMiddleware:
    """Passes allowed requests to *app*, with their Principal in the request's state."""

    app: ASGIApp
    policy: AccessPolicy
    limit: RateLimit | None
    limiter: Callable[[], RateLimiter | None]
    """A function, since the limiter is opened with the services, after the app is made."""
    proxies: tuple[Network, ...] = ()
    origins: tuple[str, ...] = ()
    """Web origins whose pages may call; a page of this machine may in any case."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, or answer it with a problem."""
        headers = scope["headers"]
        peer = (scope.get("client") or ("", 0))[0]
        # Several keys are joined, which matches none.
        sent = [value for name, value in headers if name == b"authorization"]
        principal = self.policy.principal(
            b",".join(sent) if sent else None,
            caller_address(peer, headers, self.proxies),
            is_cross_origin=has_foreign_host(headers) or has_foreign_origin(headers, self.origins),
        )
        scope.setdefault("state", {})["principal"] = principal
        try:
            await self._count(scope, principal)
            if f"{scope['path']}/".startswith(KEYED_PATHS):
                principal.require(Access.JUDGING)
        except RequestRefused as refusal:
            await send_problem(refusal, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _count(self, scope: Scope, principal: Principal) -> None:
        """Count the request, and add what is left to its reply; raises RequestRefused.

        The fields are those of draft-ietf-httpapi-ratelimit-headers-10.
        """
        path, limiter = scope["path"], self.limiter()
        is_guessing = principal.has_wrong_key
        if path in UNLIMITED or (path.startswith(UNLIMITED_UNLESS_GUESSING) and not is_guessing):
            return
        if limiter is None or self.limit is None:
            return
        allowance = await limiter.take(principal.caller)
        wait = str(max(1, math.ceil(allowance.reset_s)))
        policy = f'"default";q={self.limit.requests};w={self.limit.window_s}'
        scope["state"].setdefault(EXTRA_HEADERS, []).extend(
            [
                (b"ratelimit-policy", policy.encode()),
                (b"ratelimit", f'"default";r={allowance.remaining};t={wait}'.encode()),
            ]
        )
        if not allowance.is_allowed:
            detail = f"Too many requests. The next one is welcome in {wait} s."
            raise RequestRefused("rate-limited", detail, headers={"Retry-After": wait})
