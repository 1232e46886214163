"""Access: keys, the principal behind a request, the rate limit, and what each route needs.

Every route names its Access in `opt`; one that names none is private.
"""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.types import Scope

from judge.entrypoints.api.client_address import caller_address, is_foreign, parse_networks
from judge.entrypoints.api.http_messages import RequestRefused
from judge.ports import RateLimiter
from judge.settings import Settings, name_and_key
from judge.types.search import OPERATOR, Viewer
from judge.types.setting_values import parse_rate_limit

ACCESS: Final = "access"
"""The key in a route's `opt` for its Access."""

EXTRA_HEADERS: Final = "headers"
"""The key in a request's state for headers to add to its reply, unless that sets them itself."""

IS_CLOSED = (
    "This server can be reached from outside and has no keys, so that documents, search, code and "
    "scopes are closed. Whoever runs it can set JUDGE_API_KEYS."
)
NEEDS_KEY = "A key is needed: send `Authorization: Bearer` with a key of this service."
WRONG_KEY = "This key is not known here. Check it, or ask whoever runs the service for one."
IS_CROSS_ORIGIN = (
    "Without keys, this server answers requests of this machine to localhost. Whoever runs it can "
    "set JUDGE_API_KEYS, name the page's origin in JUDGE_CORS_ORIGINS, or bind it to an address of "
    "the network."
)


class Access(Enum):
    """What a route needs of a principal."""

    OPEN = auto()
    """Nothing: health checks and the OpenAPI document."""
    METRICS = auto()
    """A key, if any are configured."""
    JUDGING = auto()
    """A key, if JUDGE_API_KEYS is set."""
    PRIVATE = auto()
    """A key as for JUDGING, and always on a public server: routes that read documents or code."""
    ADMIN = auto()
    """An admin key, if any keys are configured; never open on a public server."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The sender of a request, and its key in the rate limiter."""

    key: Viewer | None
    """Who its key belongs to, if it sent a valid one: the OPERATOR for an admin key."""
    caller: str
    has_wrong_key: bool
    is_cross_origin: bool
    """The request came from a page of another origin, or names a host other than this machine."""
    policy: "AccessPolicy"

    @property
    def viewer(self) -> Viewer:
        """What it may see: everything without any keys, since only this machine can then ask."""
        return self.key or (Viewer() if self.policy.keys else OPERATOR)

    def require(self, access: Access) -> None:
        """Return if the principal has *access*; raises RequestRefused."""
        policy = self.policy
        if access is Access.OPEN:
            return
        if self.key:
            if access is Access.ADMIN and not self.key.sees_all:
                raise RequestRefused(
                    "forbidden", "This needs a key for administration. See JUDGE_ADMIN_KEYS."
                )
            return
        is_reading = access in {Access.PRIVATE, Access.ADMIN}
        if is_reading and policy.is_public and not policy.keys:
            raise RequestRefused("forbidden", IS_CLOSED)
        if policy.needs_key(access):
            detail = WRONG_KEY if self.has_wrong_key else NEEDS_KEY
            challenge = {"WWW-Authenticate": 'Bearer realm="judge"'}
            raise RequestRefused("unauthorized", detail, headers=challenge)
        # Without keys, a loopback server is for this machine alone, not for pages its user visits.
        is_judging = access is Access.JUDGING and not policy.is_public and "*" not in policy.origins
        if self.is_cross_origin and (is_reading or is_judging):
            raise RequestRefused("forbidden", IS_CROSS_ORIGIN)


class AccessPolicy:
    """Litestar's guard: lets allowed requests through, with their Principal in their state."""

    def __init__(
        self,
        settings: Settings,
        *,
        is_public: bool,
        limiter: Callable[[], RateLimiter | None] = lambda: None,
    ) -> None:
        """*limiter* is a function, since it is opened with the services, after the app is made."""
        named = (name_and_key(entry) for entry in settings.api_keys)
        self.keys = {_digest(key.encode()): Viewer(name) for name, key in named}
        admin = (entry.get_secret_value().encode() for entry in settings.admin_keys)
        self.keys |= {_digest(key): OPERATOR for key in admin}  # also of a key in both lists
        self.has_user_keys = bool(settings.api_keys)
        self.is_public = is_public
        self.origins = settings.cors_origins
        self._proxies = parse_networks(settings.trusted_proxies)
        self._limit = parse_rate_limit(settings.rate_limit)
        self._limiter = limiter

    async def __call__(
        self, connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler
    ) -> None:
        """Return if the request may enter its route; raises RequestRefused."""
        scope = connection.scope
        headers = scope["headers"]
        peer = (scope.get("client") or ("", 0))[0]
        # Several keys are joined, which matches none.
        sent = [value for name, value in headers if name == b"authorization"]
        principal = self.principal(
            b",".join(sent) if sent else None,
            caller_address(peer, headers, self._proxies),
            is_cross_origin=is_foreign(headers, self.origins),
        )
        scope["state"]["principal"] = principal
        # Litestar answers OPTIONS itself, with nothing but the methods that /schema lists too.
        default = Access.OPEN if scope.get("method") == "OPTIONS" else Access.PRIVATE
        access = handler.opt.get(ACCESS, default)
        # Pages, their files and health checks cost no more to send than to refuse.
        if access not in {Access.OPEN, Access.METRICS} or principal.has_wrong_key:
            await self._count(scope, principal)
        principal.require(access)

    def principal(
        self, authorization: bytes | None, address: str, *, is_cross_origin: bool = False
    ) -> Principal:
        """The principal that sent this `Authorization` header from *address*."""
        scheme, _, sent = (authorization or b"").partition(b" ")
        digest = _digest(sent.strip(b" ") if scheme.lower() == b"bearer" else b"")
        key = self.keys.get(digest)  # timing tells of a digest, which leads back to no key
        return Principal(
            key=key,
            caller=f"key:{digest.hex()[:16]}" if key else f"address:{address}",
            has_wrong_key=bool(self.keys) and not key and authorization is not None,
            is_cross_origin=is_cross_origin,
            policy=self,
        )

    def needs_key(self, access: Access) -> bool:
        """Whether *access* requires a key, wherever the request comes from."""
        if access in {Access.METRICS, Access.ADMIN}:
            return bool(self.keys)
        return self.has_user_keys or (access is Access.PRIVATE and self.is_public)

    async def _count(self, scope: Scope, principal: Principal) -> None:
        """Count the request, and add what is left to its reply; raises RequestRefused."""
        limiter, limit = self._limiter(), self._limit
        if limiter is None or limit is None:
            return
        allowance = await limiter.take(principal.caller)
        wait = str(max(1, math.ceil(allowance.reset_s)))
        scope["state"][EXTRA_HEADERS] = (  # draft-ietf-httpapi-ratelimit-headers-10
            (b"ratelimit-policy", f'"default";q={limit.requests};w={limit.window_s}'.encode()),
            (b"ratelimit", f'"default";r={allowance.remaining};t={wait}'.encode()),
        )
        if not allowance.is_allowed:
            detail = f"Too many requests. The next one is welcome in {wait} s."
            raise RequestRefused("rate-limited", detail, headers={"Retry-After": wait})


def principal_of(scope: Scope) -> Principal:
    """The principal that the policy found for this request."""
    principal: Principal = scope["state"]["principal"]
    return principal


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
