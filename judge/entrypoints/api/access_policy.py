"""Who may do what: keys, and what each route asks of whoever comes.

Every route says in `opt` which Access it needs; one that says nothing is private. The doorkeeper
finds out who asks before the router does, a guard holds the route's Access against it.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from litestar.connection import ASGIConnection
from litestar.handlers.base import BaseRouteHandler
from litestar.types import Scope

from judge.entrypoints.api.problem_responses import forbidden, unauthorized
from judge.settings import Settings

ACCESS: Final = "access"
"""The key in a route's `opt`."""

_BEARER = re.compile(rb"bearer +(\S+) *", re.IGNORECASE)


class Access(Enum):
    """What a route asks of a caller."""

    OPEN = auto()
    """Nothing: health, the interface's description."""
    WATCHING = auto()
    """A key, if there are any: metrics."""
    JUDGING = auto()
    """A key, if JUDGE_API_KEYS is set."""
    PRIVATE = auto()
    """As JUDGING, and where everybody can come a key in any case: what reads documents or code."""
    ADMIN = auto()
    """An admin key, if there are any keys; never open where everybody can come."""


class Role(Enum):
    """What a caller has shown."""

    NOBODY = auto()
    USER = auto()
    ADMIN = auto()


@dataclass(frozen=True, slots=True)
class _Key:
    digest: bytes
    role: Role


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: the role shown, and the name under which requests are counted."""

    role: Role
    caller: str
    has_wrong_key: bool
    is_foreign: bool
    """Sent by a page of another site, or to a name that is not this machine's own."""
    rules: "AccessPolicy"

    def require(self, access: Access) -> None:
        """Return if the visitor has *access*; raises Refused."""
        self.rules.check(self, access)


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """The keys, as digests, and whether everybody can reach this server."""

    keys: tuple[_Key, ...]
    is_public: bool

    def visitor(
        self, authorization: bytes | None, address: str, *, is_foreign: bool = False
    ) -> Principal:
        """Whoever sent this `Authorization` header from *address*."""
        key = self._key(authorization)
        return Principal(
            role=key.role if key else Role.NOBODY,
            caller=f"key:{key.digest.hex()[:16]}" if key else f"address:{address}",
            has_wrong_key=bool(self.keys) and key is None and authorization is not None,
            is_foreign=is_foreign,
            rules=self,
        )

    def check(self, visitor: Principal, access: Access) -> None:
        """Return if *visitor* has *access*; raises Refused."""
        is_known = visitor.role is not Role.NOBODY
        has_keys = bool(self.keys)
        if access is Access.OPEN or visitor.role is Role.ADMIN:
            return
        if access is Access.ADMIN and is_known:
            raise forbidden("This needs a key for administration. See JUDGE_ADMIN_KEYS.")
        if is_known:
            return
        if access in {Access.PRIVATE, Access.ADMIN} and self.is_public and not has_keys:
            raise forbidden(
                "This server can be reached from outside and has no keys, so that documents, "
                "search, code and scopes are closed. Whoever runs it can set JUDGE_API_KEYS."
            )
        if self._needs_key(access):
            raise unauthorized(has_wrong_key=visitor.has_wrong_key)
        if access in {Access.PRIVATE, Access.ADMIN} and visitor.is_foreign:
            # It is open for this machine alone, and not for the pages that its user visits.
            raise forbidden(
                "Without keys, documents, search, code and scopes are for requests of this machine "
                "to localhost. Whoever runs the server can set JUDGE_API_KEYS, or name the page's "
                "origin in JUDGE_CORS_ORIGINS."
            )

    def _needs_key(self, access: Access) -> bool:
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
        match = _BEARER.fullmatch(authorization or b"")
        digest = _digest(match[1] if match else b"")
        found = None
        for key in self.keys:
            if hmac.compare_digest(key.digest, digest):
                found = key
        return found if match else None


def access_policy_of(settings: Settings, *, is_public: bool) -> AccessPolicy:
    """The rules that *settings* ask for; a key that stands in both lists is an admin's."""
    api = (key.get_secret_value() for key in settings.api_keys)
    admin = (key.get_secret_value() for key in settings.admin_keys)
    return AccessPolicy((*_keys(api, Role.USER), *_keys(admin, Role.ADMIN)), is_public)


async def guard(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Hold what the route of *handler* needs against whoever asks, for Litestar's `guards`.

    Async without need: one that is not is run on a thread, which costs more than all it does.
    """
    principal_of(connection.scope).require(handler.opt.get(ACCESS, Access.PRIVATE))


def principal_of(scope: Scope) -> Principal:
    """Whoever asks, as the doorkeeper found out."""
    visitor: Principal = scope["state"]["visitor"]
    return visitor


def _keys(texts: Iterable[str], role: Role) -> Sequence[_Key]:
    return [_Key(_digest(text.encode()), role) for text in texts]


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
