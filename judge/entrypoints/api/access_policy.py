"""Access: keys, the principal behind a request, the rate limit, and what each route needs.

Every route names its Access in `opt`; one that names none is private. An `AccessGuard` finds the
principal of each request before its route is entered, counts it, and checks its Access.
"""

import hashlib
import hmac
import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.types import Scope

from judge.entrypoints.api.client_address import Network, caller_address, is_foreign
from judge.entrypoints.api.middleware import EXTRA_HEADERS
from judge.entrypoints.api.problem_responses import RequestRefused
from judge.ports import RateLimiter
from judge.settings import Settings, name_and_key
from judge.types.limits import RateLimit
from judge.types.search import OPERATOR, Viewer

ACCESS: Final = "access"
"""The key in a route's `opt` for its Access."""

ANY_ORIGIN: Final = "*"
"""What stands for every origin in JUDGE_CORS_ORIGINS."""

NEEDS_ADMIN = "This needs a key for administration. See JUDGE_ADMIN_KEYS."
IS_CLOSED = (
    "This server can be reached from outside and has no keys, so that documents, search, code and "
    "scopes are closed. Whoever runs it can set JUDGE_API_KEYS."
)
NEEDS_KEY = "A key is needed: send `Authorization: Bearer` with a key of this service."
WRONG_KEY = "This key is not known here. Check it, or ask whoever runs the service for one."
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="judge"'}
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


class Role(Enum):
    """What the principal's key allows."""

    ANONYMOUS = auto()
    USER = auto()
    ADMIN = auto()


@dataclass(frozen=True, slots=True)
class Key:
    """A key's digest, what it allows, and its owner's name in JUDGE_API_KEYS, if it gives one."""

    digest: bytes
    role: Role
    name: str = ""


@dataclass(frozen=True, slots=True)
class Principal:
    """The sender of a request: its role, what it may see, and its key in the rate limiter."""

    role: Role
    caller: str
    viewer: Viewer
    has_wrong_key: bool
    is_cross_origin: bool
    """The request came from a page of another origin, or names a host other than this machine."""
    policy: "AccessPolicy"

    def require(self, access: Access) -> None:
        """Return if the principal has *access*; raises RequestRefused."""
        policy = self.policy
        if access is Access.OPEN or self.role is Role.ADMIN:
            return
        if self.role is Role.USER:
            if access is Access.ADMIN:
                raise RequestRefused("forbidden", NEEDS_ADMIN)
            return
        is_reading = access in {Access.PRIVATE, Access.ADMIN}
        if is_reading and policy.is_public and not policy.keys:
            raise RequestRefused("forbidden", IS_CLOSED)
        if policy.needs_key(access):
            detail = WRONG_KEY if self.has_wrong_key else NEEDS_KEY
            raise RequestRefused("unauthorized", detail, headers=CHALLENGE)
        # Without keys, a loopback server is for this machine alone, not for pages its user visits.
        is_for_this_machine = not (policy.is_public or policy.allows_any_origin)
        is_judging = access is Access.JUDGING and is_for_this_machine
        if self.is_cross_origin and (is_reading or is_judging):
            raise RequestRefused("forbidden", IS_CROSS_ORIGIN)


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """The digests of all keys, and whether other machines can reach the server."""

    keys: tuple[Key, ...]
    is_public: bool
    allows_any_origin: bool = False
    """Whether pages of any site may request judgements."""

    def principal(
        self, authorization: bytes | None, address: str, *, is_cross_origin: bool = False
    ) -> Principal:
        """The principal that sent this `Authorization` header from *address*."""
        scheme, _, sent = (authorization or b"").partition(b" ")
        digest = _digest(sent.strip(b" ") if scheme.lower() == b"bearer" else b"")
        # All are compared, so that timing reveals none; of two with one digest, admin is last.
        known = [key for key in self.keys if hmac.compare_digest(key.digest, digest)]
        key = known[-1] if known else Key(digest, Role.ANONYMOUS)
        return Principal(
            role=key.role,
            caller=f"key:{digest.hex()[:16]}" if known else f"address:{address}",
            # Without any keys, only the machine's own user can reach the documents.
            viewer=Viewer(key.name) if self.keys and key.role is not Role.ADMIN else OPERATOR,
            has_wrong_key=bool(self.keys) and not known and authorization is not None,
            is_cross_origin=is_cross_origin,
            policy=self,
        )

    def needs_key(self, access: Access) -> bool:
        """Whether *access* requires a key, wherever the request comes from."""
        has_user_keys = any(key.role is Role.USER for key in self.keys)
        if access is Access.JUDGING:
            return has_user_keys
        if access is Access.PRIVATE:
            return has_user_keys or self.is_public
        return bool(self.keys)


def access_policy_of(settings: Settings, *, is_public: bool) -> AccessPolicy:
    """The policy of *settings*; a key in both lists is an admin key."""
    named = (name_and_key(entry) for entry in settings.api_keys)
    keys = (
        *(Key(_digest(key.encode()), Role.USER, name) for name, key in named),
        *(Key(_digest(k.get_secret_value().encode()), Role.ADMIN) for k in settings.admin_keys),
    )
    return AccessPolicy(keys, is_public, allows_any_origin=ANY_ORIGIN in settings.cors_origins)


@dataclass(frozen=True, slots=True)
class AccessGuard:
    """Lets allowed requests through, with their Principal in the request's state."""

    policy: AccessPolicy
    limit: RateLimit | None
    limiter: Callable[[], RateLimiter | None]
    """A function, since the limiter is opened with the services, after the app is made."""
    proxies: tuple[Network, ...] = ()
    origins: tuple[str, ...] = ()
    """Web origins whose pages may call; a page of this machine may in any case."""

    async def __call__(
        self, connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler
    ) -> None:
        """Return if the request may enter its route; raises RequestRefused."""
        scope = connection.scope
        headers = scope["headers"]
        peer = (scope.get("client") or ("", 0))[0]
        # Several keys are joined, which matches none.
        sent = [value for name, value in headers if name == b"authorization"]
        principal = self.policy.principal(
            b",".join(sent) if sent else None,
            caller_address(peer, headers, self.proxies),
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

    async def _count(self, scope: Scope, principal: Principal) -> None:
        """Count the request, and add what is left to its reply; raises RequestRefused.

        The fields are those of draft-ietf-httpapi-ratelimit-headers-10.
        """
        limiter = self.limiter()
        if limiter is None or self.limit is None:
            return
        allowance = await limiter.take(principal.caller)
        wait = str(max(1, math.ceil(allowance.reset_s)))
        policy = f'"default";q={self.limit.requests};w={self.limit.window_s}'
        scope["state"][EXTRA_HEADERS] = (
            (b"ratelimit-policy", policy.encode()),
            (b"ratelimit", f'"default";r={allowance.remaining};t={wait}'.encode()),
        )
        if not allowance.is_allowed:
            detail = f"Too many requests. The next one is welcome in {wait} s."
            raise RequestRefused("rate-limited", detail, headers={"Retry-After": wait})


def principal_of(scope: Scope) -> Principal:
    """The principal that the guard found for this request."""
    principal: Principal = scope["state"]["principal"]
    return principal


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
