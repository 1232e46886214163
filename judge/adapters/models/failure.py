"""Why a call to a model service failed, and whether to retry: one set of rules for all services."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from pydantic_core import from_json

MAX_RETRY_AFTER_S: Final = 3600.0
"""The longest wait that callers are told, whatever a server asks for."""

RETRYABLE: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
"""Besides every 5xx."""


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """A call that failed.

    `reason` is a stable word for logs and metrics, `status` the HTTP status or 0, `hint` what the
    operator should look at. No field can hold a key or a word of the dispute.
    """

    reason: str
    status: int = 0
    may_retry: bool = True
    retry_after_s: float | None = None
    hint: str = ""


def is_incomplete_json(text: str) -> bool:
    """Whether *text* is not valid JSON: a stream that ended without a finish reason was cut.

    Some servers and proxies leave out the finish reason.
    """
    try:
        from_json(text)
    except ValueError:
        return True
    return False


def failure_of_status(
    status: int, hint: str, retry_after: Sequence[str] = (), now_s: float = 0.0
) -> ModelFailure:
    """The failure for an HTTP *status* other than 200; *hint* is for one that no retry can mend.

    *retry_after* holds the waits that the server asks for, as seconds or as dates, of which the
    first that can be parsed counts. *now_s* is the current Unix time, for dates.
    """
    if status in RETRYABLE or not 300 <= status < 500:
        parsed = (_seconds(wait.strip(), now_s) for wait in retry_after)
        wait_s = next((seconds for seconds in parsed if seconds is not None), None)
        return ModelFailure("status", status, retry_after_s=wait_s)
    return ModelFailure("refused", status, may_retry=False, hint=hint)


def _seconds(wait: str, now_s: float) -> float | None:
    if seconds := re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)s?", wait, re.ASCII):
        return min(float(seconds[1]), MAX_RETRY_AFTER_S)
    try:
        return min(max(parsedate_to_datetime(wait).timestamp() - now_s, 0.0), MAX_RETRY_AFTER_S)
    except (ValueError, OverflowError):
        return None
