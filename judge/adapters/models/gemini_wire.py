"""Builds requests to Gemini's REST service, and parses its replies, blocks and failures; no I/O.

It parses the raw JSON, because the SDK's response type warns on each new finish reason and cannot
tell an empty body from an empty reply.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from judge.adapters.models.failure import ModelFailure, failure_of_status, is_incomplete_json
from judge.errors import ContentBlocked
from judge.types.replies import FinishReason, ModelReply, Prompt, Usage
from judge.types.request_fields import OrNone

BLOCKING: Final = frozenset({"SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"})
"""Finish reasons of a safety filter, after which the model is not asked again."""

FINISHES: Final[Mapping[str, FinishReason]] = {
    "": "stop",  # some proxies leave it out; the checks notice a truncated text
    "FINISH_REASON_UNSPECIFIED": "stop",
    "STOP": "stop",
    "MAX_TOKENS": "truncated",
    "CONTINUATION": "truncated",
    "RECITATION": "recitation",
}

NO_BLOCK: Final = frozenset({"", "BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"})


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
    prompt_token_count: OrNone[int] = None
    candidates_token_count: OrNone[int] = None
    thoughts_token_count: OrNone[int] = None

    @property
    def usage(self) -> Usage:
        return Usage.reported(
            self.prompt_token_count, self.candidates_token_count, self.thoughts_token_count
        )


class _Response(_Wire):
    candidates: tuple[_Candidate, ...] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: OrNone[_UsageMetadata] = None
    error: Any = None


@dataclass(slots=True)
class GeminiDraft:
    """A reply as received so far; without streaming it comes as one part."""

    text: str = ""
    error: Any = None
    """The error of a service that failed after status 200, as in the middle of a stream."""
    _block: str = ""
    _finish: str = ""
    _usage: Usage = field(default_factory=Usage)
    _parts: int = 0

    def add(self, body: str) -> bool:
        """Add a whole *body* or a part of a stream; returns whether the text grew.

        Raises ValueError for anything else.
        """
        response = _Response.model_validate_json(body)
        before = len(self.text)
        self._parts += 1
        self.error = response.error or self.error
        self._block = (response.prompt_feedback or _Feedback()).block_reason or self._block
        if response.usage_metadata:  # each is a running total
            self._usage = response.usage_metadata.usage
        if response.candidates:
            self.text += response.candidates[0].text
            self._finish = (response.candidates[0].finish_reason or self._finish).upper()
        return len(self.text) > before

    @property
    def is_cut_short(self) -> bool:
        """Whether the stream ended before the reply was complete."""
        if self._block or self._finish or (self._parts and not self.text):
            return False
        return is_incomplete_json(self.text)

    @property
    def is_complete(self) -> bool:
        """Whether nothing more will come; some send the finish reason STOP with each part."""
        if self.error or self._block.upper() not in NO_BLOCK:
            return True
        is_stop = FINISHES.get(self._finish) == "stop"
        return bool(self._finish) and not (is_stop and is_incomplete_json(self.text))

    def reply(self, model: str) -> ModelReply:
        """The finished reply; raises ContentBlocked."""
        if self._block.upper() not in NO_BLOCK:
            raise ContentBlocked(self._block, tokens=self._usage.total)
        if self._finish in BLOCKING:
            raise ContentBlocked(self._finish, tokens=self._usage.total)
        finish = FINISHES.get(self._finish, "other")
        if finish == "stop" and not self.text:
            finish = "empty"
        return ModelReply(self.text, model, finish, self._usage)


def request_body(
    prompt: Prompt, schema: Mapping[str, object], max_tokens: int
) -> dict[str, object]:
    """The JSON body of a request for a reply to *prompt* that matches *schema*."""
    return {
        "contents": [{"role": "user", "parts": [{"text": prompt.text}]}],
        "systemInstruction": {"role": "user", "parts": [{"text": prompt.instructions}]},
        # No temperature: Google advises to keep the default with Gemini 3.
        "generationConfig": {
            "maxOutputTokens": max_tokens,
            "responseMimeType": "application/json",
            "responseJsonSchema": schema,
        },
    }


def refusal(status: int, error: object, headers: Mapping[str, str], now_s: float) -> ModelFailure:
    """The failure for an HTTP *status* other than 200; *error* is Google's error JSON.

    The wait before a retry is in Retry-After, else in google.rpc.RetryInfo. *now_s* is the current
    Unix time, for a header with a date.
    """
    details = _details(error)
    delays = [str(detail["retryDelay"]) for detail in details if "retryDelay" in detail]
    retry_after = [headers.get("Retry-After", ""), *delays]
    return failure_of_status(status, _hint(status, details), retry_after, now_s)


def event_data(line: str) -> str:
    """The data in a *line* of a stream, with or without its `data: `; "" where there is none.

    Proxies add comments, event names and, as OpenAI does, a last event `[DONE]`.
    """
    data = line.removeprefix("data:").lstrip()
    return "" if data.startswith((":", "event:", "id:", "retry:", "[DONE]")) else data


def event_failure(error: object, now_s: float) -> ModelFailure:
    """The failure for an *error* after status 200; without a code of its own it may be retried."""
    code = error.get("code") if isinstance(error, Mapping) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    return refusal(status, error, {}, now_s)


def _details(error: object) -> Sequence[Mapping[str, Any]]:
    """The `details` of a google.rpc.Status; none if *error* is anything else."""
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
