"""The security headers of every reply, for browsers."""

from collections.abc import Sequence
from typing import Final

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


def with_security_headers(headers: RawHeaders) -> list[tuple[bytes, bytes]]:
    """*headers* with those that every reply has."""
    has_policy = any(name.lower() == CONTENT_POLICY[0] for name, _ in headers)
    return [*headers, *SECURITY_HEADERS, *(() if has_policy else (CONTENT_POLICY,))]
