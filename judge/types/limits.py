"""Data types of rate limiting: the limit, and what is left of it."""

import re
from dataclasses import dataclass

UNIT_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
"""The units in which a rate can be given."""

MAX_REQUESTS = 1_000_000_000

_RATE = re.compile(r"([0-9]{1,10}) ?/ ?([a-z]{1,9})")


@dataclass(frozen=True, slots=True)
class RateLimit:
    """So many requests per window of seconds; a caller's window begins with its first request."""

    requests: int
    window_s: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """Whether a request is allowed, how many more are, and when the window ends."""

    is_allowed: bool
    remaining: int
    reset_s: float


def parse_rate_limit(text: str) -> RateLimit | None:
    """The limit in *text*, None for `off`; raises ValueError that says how to write one.

    >>> parse_rate_limit("60/minute")
    RateLimit(requests=60, window_s=60)
    """
    folded = text.strip().lower()
    if folded == "off":
        return None
    match = _RATE.fullmatch(folded)
    if match and match[2] in UNIT_SECONDS and 0 < int(match[1]) <= MAX_REQUESTS:
        return RateLimit(int(match[1]), UNIT_SECONDS[match[2]])
    units = ", ".join(UNIT_SECONDS)
    raise ValueError(f"must be a number and one of {units}, as in 60/minute, or off for no limit")
