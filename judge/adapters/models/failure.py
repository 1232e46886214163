"""Why a call to a model service failed, and whether to retry: one set of rules for all services."""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

MAX_RETRY_AFTER_S: Final = 3600.0
"""The longest wait that callers are told, whatever a server asks for."""

_SPENT: Final = (
    r"(?i:insufficient.(?:quota|balance|credit)|balance is|FreeTierOnly|(?:key|spending) limit"
    r"|budget.(?:has been )?exceeded|call volume quota|\b(?:any|all)(?: available)? credits)"
)
_LASTING: Final = re.compile(
    r"(?!.*(?:per|/)[ -]?min).*(?:limit: 0\b|spend|billing|credit|(?:per[ -]?|by)day|daily|month"
    rf"|{_SPENT})",
    re.IGNORECASE,
)
"""The error of a quota that no waiting of a request's length restores."""

BILLING: Final = (
    "the quota of the account is used up: look at its plan, billing and spending cap (Gemini: "
    "https://aistudio.google.com/usage; a day's quota begins anew at midnight, Pacific time)"
)

CURRENT_MODEL: Final = "gemini-3.8-flash"
"""The default of JUDGE_MODEL, which is named where another is not found."""

_KEY: Final = "the key was refused: check GEMINI_API_KEY"
GOOGLE_HINTS: Final[Mapping[str, str]] = {
    '"API_KEY_INVALID"|(?i:API key (?:not (?:valid|found)|expired)|unregistered caller)': _KEY,
    "leaked": "Google has blocked the key because it was leaked: make a new one",
    "CONSUMER_SUSPENDED|denied access": "Google has suspended the key's project: see its notices",
    "BILLING_DISABLED": "billing is not enabled for the key's project: enable it there",
    "SERVICE_DISABLED|has not been used in project": "the Gemini API is not enabled in the key's "
    "project: enable it there",
    "API_KEY_HTTP_REFERRER_BLOCKED": "the key is restricted to web sites (its referrer "
    "restriction): allow this server, or make another key",
    "API_KEY_IP_ADDRESS_BLOCKED": "the key is restricted to other IP addresses: allow this one",
    r"API_KEY_\w+_BLOCKED": "the key is restricted to other programs or APIs: change that",
    "ACCESS_TOKEN_TYPE_UNSUPPORTED": "GEMINI_API_KEY holds the wrong kind of key: make an API key "
    "in AI Studio, not an OAuth token or service account",
    "^(?=.*FAILED_PRECONDITION).*(?:location|country|region)": "Google does not serve this "
    "location without billing: switch on billing for the key's project, or run where the free "
    "tier is offered",
    "^40[13]": _KEY,
    "^404": "JUDGE_MODEL names no model of this service, or one that was retired: name another, "
    f"such as {CURRENT_MODEL}",
    "^3": "JUDGE_GEMINI_BASE_URL leads to a redirect, which is not followed with a key",
    "": "the service does not take such a request: check JUDGE_MODEL and JUDGE_GEMINI_BASE_URL",
}
"""What the operator can do about an error of such words behind its status, the first that fits."""


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
    concerns_thinking: bool = False
    """Whether the service refused how long the model is to think."""


def failure_of(
    status: int,
    error: object,
    retry_after: str | None,
    hints: Mapping[str, str] | None = None,
) -> ModelFailure:
    """The failure for an HTTP *status* other than 200; *error* is the JSON of its body.

    *hints* has the hint for one that no retry can mend. The wait before a retry is in
    *retry_after*, the header, else in google.rpc.RetryInfo. A status outside 300 to 599 comes of
    an error in the middle of a stream and may be retried.
    """
    if not 300 <= status < 600:
        status = HTTPStatus.INTERNAL_SERVER_ERROR
    text = json.dumps(error)
    if _is_quota(status, text):
        return ModelFailure("quota", status, may_retry=False, hint=BILLING)
    if status == HTTPStatus.BAD_REQUEST and "thinking" in text.lower():
        hint = "the model does not take this JUDGE_THINKING"
        return ModelFailure("refused", status, False, hint=hint, concerns_thinking=True)
    # 499 is Google's for a call that it cancelled itself.
    is_transient = status in {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS, 499}
    if not is_transient and status < 500:
        told = (
            hint for words, hint in (hints or {}).items() if re.search(words, f"{status} {text}")
        )
        return ModelFailure("refused", status, may_retry=False, hint=next(told, ""))
    waits = map(_seconds, [retry_after or "", *re.findall(r'"retryDelay": "([^"]*)"', text)])
    wait_s = next((seconds for seconds in waits if seconds is not None), None)
    return ModelFailure("status", status, retry_after_s=wait_s)


def _is_quota(status: int, error: str) -> bool:
    """Whether it is a quota or credit that lasts until somebody acts.

    Google names its quotas; its message speaks of billing for those of a minute too.
    """
    if status in {HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN, HTTPStatus.PRECONDITION_FAILED}:
        return re.search(_SPENT, error) is not None
    if status != HTTPStatus.TOO_MANY_REQUESTS:
        return status == HTTPStatus.PAYMENT_REQUIRED
    if names := re.findall(r'"quotaId": "([^"]*)"', error):
        return any("PerDay" in name for name in names) or "limit: 0" in error
    return _LASTING.match(error) is not None


def _seconds(wait: str) -> float | None:
    if seconds := re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)s?\s*", wait, re.ASCII):
        return min(float(seconds[1]), MAX_RETRY_AFTER_S)
    try:
        wait_s = parsedate_to_datetime(wait).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return min(max(wait_s, 0.0), MAX_RETRY_AFTER_S)
