"""Why a service brought no reply, and whether to ask it again: the same rules for all of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from pydantic_core import from_json

LONGEST_WAIT_S: Final = 3600.0
"""What we tell callers at most, whatever a server asks for."""

PASSING: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
"""Beside every 5xx."""


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """One call that brought no reply.

    `reason` is a stable word for logs and metrics, `status` that of HTTP or 0, `hint` what the
    operator should look at. Nothing in it can hold a key or a word of the dispute.
    """

    reason: str
    status: int = 0
    may_retry: bool = True
    retry_after_s: float | None = None
    hint: str = ""


def breaks_off(text: str) -> bool:
    """Whether a stream that ended without saying so was cut: its JSON is not whole.

    Some servers and proxies leave out the reason why a stream ends.
    """
    try:
        from_json(text)
    except ValueError:
        return True
    return False


def failure_of_status(
    status: int, hint: str, waits: Sequence[str] = (), now_s: float = 0.0
) -> ModelFailure:
    """What an HTTP *status* other than 200 means; *hint* is for one that no second try mends.

    *waits* are what the server asks us to wait, the first that can be read counting: seconds, or a
    date, for which *now_s* is the present as a Unix time.
    """
    if status in PASSING or not 300 <= status < 500:
        found = (_seconds(wait.strip(), now_s) for wait in waits)
        wait_s = next((one for one in found if one is not None), None)
        return ModelFailure("status", status, retry_after_s=wait_s)
    return ModelFailure("refused", status, may_retry=False, hint=hint)


def _seconds(wait: str, now_s: float) -> float | None:
    if seconds := re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)s?", wait, re.ASCII):
        return min(float(seconds[1]), LONGEST_WAIT_S)
    try:
        return min(max(parsedate_to_datetime(wait).timestamp() - now_s, 0.0), LONGEST_WAIT_S)
    except (ValueError, OverflowError):
        return None
