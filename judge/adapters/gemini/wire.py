"""What Gemini's REST service says, in our words: replies, blocks and failures.

Pure functions; `model.py` does the talking. They read the raw body, because the SDK's own
response type warns on each new finish reason and cannot tell an empty body from an empty reply.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from judge.errors import ContentBlocked
from judge.types.judgements import FinishReason, ModelReply, Usage

BLOCKING: Final = frozenset({"SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"})
"""Finish reasons that mean a safety filter; the dispute is not asked again."""

FINISHES: Final[Mapping[str, FinishReason]] = {
    "": "stop",  # some proxies leave it out; the checks see whether the text is whole
    "FINISH_REASON_UNSPECIFIED": "stop",
    "STOP": "stop",
    "MAX_TOKENS": "truncated",
    "CONTINUATION": "truncated",
    "RECITATION": "recitation",
}

NO_BLOCK: Final = frozenset({"", "BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"})

LONGEST_WAIT_S: Final = 3600.0
"""What we tell callers at most, whatever a server asks for."""


class _Wire(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, frozen=True)


class _Part(_Wire):
    text: str | None = None
    thought: bool | None = None


class _Content(_Wire):
    parts: tuple[_Part, ...] | None = None


class _Candidate(_Wire):
    content: _Content | None = None
    finish_reason: str | None = None

    @property
    def text(self) -> str:
        parts = self.content.parts if self.content else None
        return "".join(part.text or "" for part in parts or () if not part.thought)


class _Feedback(_Wire):
    block_reason: str | None = None


class _UsageMetadata(_Wire):
    prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None

    @property
    def usage(self) -> Usage:
        return Usage(
            self.prompt_token_count or 0,
            self.candidates_token_count or 0,
            self.thoughts_token_count or 0,
        )


class _Response(_Wire):
    candidates: tuple[_Candidate, ...] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: _UsageMetadata | None = None


@dataclass(frozen=True, slots=True)
class GeminiFailure:
    """One call that brought no reply.

    `reason` is a stable word for logs and metrics, `status` that of HTTP or 0, `hint` what the
    operator should look at. Nothing in it can hold a key or a word of the dispute.
    """

    reason: str
    status: int = 0
    may_retry: bool = True
    retry_after_s: float | None = None
    hint: str = ""


def parse_response(body: str, model: str) -> ModelReply:
    """The reply in the *body* of a generateContent response with status 200.

    Raises ContentBlocked, and ValueError for a body that is not such a response.
    """
    response = _Response.model_validate_json(body)
    usage = (response.usage_metadata or _UsageMetadata()).usage
    block = (response.prompt_feedback or _Feedback()).block_reason or ""
    if block.upper() not in NO_BLOCK:
        raise ContentBlocked(block, tokens=usage.total)
    if not response.candidates:
        return ModelReply("", model, "empty", usage)
    reason = (response.candidates[0].finish_reason or "").upper()
    if reason in BLOCKING:
        raise ContentBlocked(reason, tokens=usage.total)
    text = response.candidates[0].text
    finish = FINISHES.get(reason, "other")
    return ModelReply(text, model, "empty" if finish == "stop" and not text else finish, usage)


def refusal(status: int, error: object, headers: Mapping[str, str], now_s: float) -> GeminiFailure:
    """What an HTTP *status* other than 200 means; *error* is Google's error JSON.

    *now_s* is the present as a Unix time, for a Retry-After that names a date.
    """
    details = _details(error)
    if status in {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS} or status >= 500:
        wait_s = _wait_s(details, headers, now_s)
        return GeminiFailure("status", status, retry_after_s=wait_s)
    return GeminiFailure("refused", status, may_retry=False, hint=_hint(status, details))


def _details(error: object) -> Sequence[Mapping[str, Any]]:
    """The `details` of a google.rpc.Status, whatever came instead."""
    inner = error.get("error", error) if isinstance(error, Mapping) else None
    details = inner.get("details") if isinstance(inner, Mapping) else None
    return (
        [item for item in details if isinstance(item, Mapping)] if isinstance(details, list) else []
    )


def _hint(status: int, details: Sequence[Mapping[str, Any]]) -> str:
    reasons = {str(detail.get("reason")) for detail in details}
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN} or "API_KEY_INVALID" in reasons:
        return "the key was refused: check GEMINI_API_KEY"
    if status == HTTPStatus.NOT_FOUND:
        return "JUDGE_MODEL names no model of this service"
    if 300 <= status < 400:
        return "JUDGE_GEMINI_BASE_URL leads to a redirect, which is not followed with a key"
    return "the service does not take such a request: check JUDGE_MODEL and JUDGE_GEMINI_BASE_URL"


def _wait_s(
    details: Sequence[Mapping[str, Any]], headers: Mapping[str, str], now_s: float
) -> float | None:
    """Seconds the server asks us to wait: Retry-After, else google.rpc.RetryInfo; None unsaid."""
    header = headers.get("Retry-After", "").strip()
    delays = [str(detail["retryDelay"]) for detail in details if "retryDelay" in detail]
    for value in (header, *delays):
        if seconds := re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)s?", value, re.ASCII):
            return min(float(seconds[1]), LONGEST_WAIT_S)
    return _until(header, now_s)


def _until(date: str, now_s: float) -> float | None:
    try:
        return min(max(parsedate_to_datetime(date).timestamp() - now_s, 0.0), LONGEST_WAIT_S)
    except (ValueError, OverflowError):
        return None
