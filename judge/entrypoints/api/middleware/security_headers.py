"""The security headers of every reply, for browsers."""

from collections.abc import Sequence
from typing import Final

RawHeaders = Sequence[tuple[bytes, bytes]]

NOT_FRAMED: Final = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""What every policy says, also that of a page."""

SECURITY_HEADERS: Final = (
    # Nothing in a reply may be run or loaded, unless it says what.
    (b"content-security-policy", f"default-src 'none'; {NOT_FRAMED}".encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


def with_security_headers(headers: RawHeaders) -> list[tuple[bytes, bytes]]:
    """*headers* with those that every reply has, unless it has its own."""
    own = {name.lower() for name, _ in headers}
    return [*headers, *(pair for pair in SECURITY_HEADERS if pair[0] not in own)]
