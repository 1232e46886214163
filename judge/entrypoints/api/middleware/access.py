"""Authentication and rate limit: finds the principal, counts its requests, guards /api and /mcp.

It wraps the router, so that requests for unknown paths are counted and need a key too.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from litestar.types import ASGIApp, Receive, Scope, Send

from judge.entrypoints.api.access_policy import Access, AccessPolicy, Principal
from judge.entrypoints.api.middleware.client_address import (
    Headers,
    Network,
    caller_address,
    has_foreign_origin,
    host_of,
    is_loopback,
)
from judge.entrypoints.api.middleware.requests import EXTRA_HEADERS
from judge.entrypoints.api.problem_responses import RequestRefused, rate_limited, send_problem
from judge.ports import RateLimiter
from judge.types.limits import Allowance, RateLimit

UNLIMITED = frozenset({"/health/live", "/health/ready"})
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
    proxies: Sequence[Network] = ()
    origins: Sequence[str] = ()
    """Web origins whose pages may call; a page of this machine may in any case."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, or answer it with a problem."""
        peer = (scope.get("client") or ("", 0))[0]
        address = caller_address(peer, scope["headers"], self.proxies)
        principal = self.policy.principal(
            _authorization(scope),
            address,
            is_cross_origin=is_cross_origin(scope["headers"], self.origins),
        )
        scope.setdefault("state", {})["principal"] = principal
        allowance = await self._take(scope["path"], principal)
        if allowance and self.limit:
            headers = scope["state"].setdefault(EXTRA_HEADERS, [])
            headers += _rate_limit_headers(allowance, self.limit)
        try:
            if allowance and not allowance.is_allowed:
                raise rate_limited(allowance.reset_s)
            if f"{scope['path']}/".startswith(KEYED_PATHS):
                principal.require(Access.JUDGING)
        except RequestRefused as refusal:
            await send_problem(refusal, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _take(self, path: str, principal: Principal) -> Allowance | None:
        limiter = self.limiter()
        is_unlimited = path in UNLIMITED or (
            path.startswith(UNLIMITED_UNLESS_GUESSING) and not principal.has_wrong_key
        )
        if limiter is None or is_unlimited:
            return None
        return await limiter.take(principal.caller)


def _authorization(scope: Scope) -> bytes | None:
    """The header, if there is one; several are joined, which matches no key."""
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    return b",".join(values) if values else None


def is_cross_origin(headers: Headers, origins: Sequence[str]) -> bool:
    """Whether a page of another origin sent this, or it went to a host that is not this machine.

    A page can make its reader's browser post a form to localhost, or point its own name there after
    it is loaded (DNS rebinding).
    """
    hosts = (value.decode("latin-1") for name, value in headers if name == b"host")
    is_other_host = any(not is_loopback(host_of(f"//{host}")) for host in hosts)
    return is_other_host or has_foreign_origin(headers, origins)


def _rate_limit_headers(allowance: Allowance, limit: RateLimit) -> list[tuple[bytes, bytes]]:
    """The fields of draft-ietf-httpapi-ratelimit-headers-10."""
    reset_s = max(1, math.ceil(allowance.reset_s))
    return [
        (b"ratelimit-policy", f'"default";q={limit.requests};w={limit.window_s}'.encode()),
        (b"ratelimit", f'"default";r={allowance.remaining};t={reset_s}'.encode()),
    ]
