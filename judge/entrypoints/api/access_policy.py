"""Authorisation: keys, the principal behind a request, and the access that each route needs.

Every route names its Access in `opt`; one that names none is private. The access middleware finds
the principal before the route is known, `access_guard` checks it against the route's Access.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from litestar.types import ASGIApp, Receive, Scope, Send

from judge.entrypoints.api.problem_responses import Refused, unauthorized
from judge.settings import Settings, name_and_key
from judge.types.search import OPERATOR, Viewer

ACCESS: Final = "access"
"""The key in a route's `opt`."""

ANY_ORIGIN: Final = "*"
"""In JUDGE_CORS_ORIGINS."""

_BEARER = re.compile(rb"bearer +(\S.*?) *", re.IGNORECASE)


class Access(Enum):
    """What a route needs of a principal."""

    OPEN = auto()
    """Nothing: health, the interface's description."""
    METRICS = auto()
    """A key, if there are any."""
    JUDGING = auto()
    """A key, if JUDGE_API_KEYS is set."""
    PRIVATE = auto()
    """As JUDGING, and on a public server a key in any case: what reads documents or code."""
    ADMIN = auto()
    """An admin key, if there are any keys; never open on a public server."""


class Role(Enum):
    """What the key of a principal allows."""

    ANONYMOUS = auto()
    USER = auto()
    ADMIN = auto()


@dataclass(frozen=True, slots=True)
class _Key:
    digest: bytes
    role: Role
    name: str = ""
    """Whose it is, where JUDGE_API_KEYS says so."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: its role, what it sees, and the name that its requests are counted under."""

    role: Role
    caller: str
    viewer: Viewer
    has_wrong_key: bool
    is_cross_origin: bool
    """Sent by a page of another origin, or to a host that is not this machine."""
    policy: "AccessPolicy"

    def require(self, access: Access) -> None:
        """Return if it has *access*; raises Refused."""
        policy = self.policy
        is_known = self.role is not Role.ANONYMOUS
        if access is Access.OPEN or self.role is Role.ADMIN:
            return
        if access is Access.ADMIN and is_known:
            raise Refused("forbidden", "This needs a key for administration. See JUDGE_ADMIN_KEYS.")
        if is_known:
            return
        is_reading = access in {Access.PRIVATE, Access.ADMIN}
        if is_reading and policy.is_public and not policy.keys:
            raise Refused(
                "forbidden",
                "This server can be reached from outside and has no keys, so that documents, "
                "search, code and scopes are closed. Whoever runs it can set JUDGE_API_KEYS.",
            )
        if policy.needs_key(access):
            raise unauthorized(has_wrong_key=self.has_wrong_key)
        is_judging = access is Access.JUDGING
        # What is open so is open for this machine alone, and not for the pages its user visits.
        is_for_this_machine = not (policy.is_public or policy.allows_any_origin)
        if self.is_cross_origin and (is_reading or (is_judging and is_for_this_machine)):
            raise Refused(
                "forbidden",
                "Without keys, this server answers requests of this machine to localhost. Whoever "
                "runs it can set JUDGE_API_KEYS, name the page's origin in JUDGE_CORS_ORIGINS, or "
                "bind it to an address of the network.",
            )


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """The keys, as digests, and whether others than this machine can reach the server."""

    keys: tuple[_Key, ...]
    is_public: bool
    allows_any_origin: bool = False
    """The pages of every site may ask for judgements."""

    def principal(
        self, authorization: bytes | None, address: str, *, is_cross_origin: bool = False
    ) -> Principal:
        """Who sent this `Authorization` header from *address*."""
        key = self._key(authorization)
        is_admin = key is not None and key.role is Role.ADMIN
        return Principal(
            role=key.role if key else Role.ANONYMOUS,
            caller=f"key:{key.digest.hex()[:16]}" if key else f"address:{address}",
            # Without any keys, only the machine's own user gets to the documents.
            viewer=Viewer(key.name if key else "") if self.keys and not is_admin else OPERATOR,
            has_wrong_key=bool(self.keys) and key is None and authorization is not None,
            is_cross_origin=is_cross_origin,
            policy=self,
        )

    def needs_key(self, access: Access) -> bool:
        """Whether a request without a key has not *access*, wherever it comes from."""
        has_user_keys = any(key.role is Role.USER for key in self.keys)
        match access:
            case Access.JUDGING:
                return has_user_keys
            case Access.PRIVATE:
                return has_user_keys or self.is_public
            case _:
                return bool(self.keys)

    def _key(self, authorization: bytes | None) -> _Key | None:
        """The key in the header; all are compared, so that the time taken tells nothing."""
        if not self.keys:
            return None
        match = _BEARER.fullmatch(authorization or b"")
        digest = _digest(match[1] if match else b"")
        found = None
        for key in self.keys:
            if hmac.compare_digest(key.digest, digest):
                found = key
        return found if match else None


def access_policy_of(settings: Settings, *, is_public: bool) -> AccessPolicy:
    """The policy of *settings*; a key that stands in both lists is an admin's."""
    named = (name_and_key(entry) for entry in settings.api_keys)
    keys = (
        *(_Key(_digest(key.encode()), Role.USER, name) for name, key in named),
        *(_Key(_digest(k.get_secret_value().encode()), Role.ADMIN) for k in settings.admin_keys),
    )
    return AccessPolicy(keys, is_public, allows_any_origin=ANY_ORIGIN in settings.cors_origins)


def access_guard(app: ASGIApp) -> ASGIApp:
    """Middleware around each route: checks its Access against the principal; raises Refused.

    In the place of Litestar's guards, which cost a copy of the route at each request.
    """

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        # To OPTIONS Litestar itself answers: which methods there are, as /schema does.
        unnamed = Access.OPEN if scope.get("method") == "OPTIONS" else Access.PRIVATE
        principal_of(scope).require(scope["route_handler"].opt.get(ACCESS, unnamed))
        await app(scope, receive, send)

    return guarded


def principal_of(scope: Scope) -> Principal:
    """Who asks, as the access middleware found."""
    principal: Principal = scope["state"]["principal"]
    return principal


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
