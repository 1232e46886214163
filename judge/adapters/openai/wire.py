"""What a server of chat completions says, in our words: replies, refusals and failures.

Nothing here talks; `model.py` does.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from pydantic import BaseModel

from judge.adapters.model_failure import ModelFailure, breaks_off, failure_of_status
from judge.errors import ContentBlocked
from judge.types.replies import FinishReason, ModelReply, Usage

FINISHES: Final[Mapping[str, FinishReason]] = {
    "length": "truncated",
    **dict.fromkeys(("stop", "eos_token", "eos", "end", "end_turn"), "stop"),
}
"""Not all servers say `stop`: older ones of Hugging Face say `eos_token`, others `end`."""

CONTENT_FILTER: Final = "content_filter"

DONE: Final = "[DONE]"
"""Ends a stream."""

CHECK: Final = "check JUDGE_MODEL and JUDGE_OPENAI_BASE_URL"

_THOUGHT, _END_OF_THOUGHT = "<think>", "</think>"
"""Around what some servers leave in front of a reply that was thought over."""


class _ContentPart(BaseModel):
    type: str = ""
    text: str | None = None


class _Message(BaseModel):
    content: str | tuple[_ContentPart, ...] | None = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        """What was written; where it comes in parts, thoughts are parts of another type."""
        if isinstance(self.content, tuple):
            return "".join(part.text or "" for part in self.content if part.type == "text")
        return self.content or ""


class _Choice(BaseModel):
    delta: _Message | None = None
    message: _Message | None = None
    """In the place of `delta` where a server does not stream."""
    finish_reason: str | None = None


class _OutputDetails(BaseModel):
    reasoning_tokens: int | None = None


class _ChatUsage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    completion_tokens_details: _OutputDetails | None = None

    @property
    def usage(self) -> Usage:
        """As we count: thinking beside what was written, and not in it."""
        written = self.completion_tokens or 0
        thought = (self.completion_tokens_details or _OutputDetails()).reasoning_tokens or 0
        return Usage.reported(self.prompt_tokens, written - thought, thought)


class _Completion(BaseModel):
    choices: tuple[_Choice, ...] | None = None
    usage: _ChatUsage | None = None
    error: Any = None


@dataclass(slots=True)
class ChatDraft:
    """A reply as far as it has come; a whole one comes as one part."""

    is_ended: bool = False
    error: Any = None
    """What a server said that failed in the midst of a stream."""
    finish: str = ""
    text: str = ""
    """What was written, without the thoughts before it."""
    _thought: str | None = None
    """The last of a thought that is not over: enough to see its end."""
    _refusal: str = ""
    _usage: Usage = field(default_factory=Usage)

    @property
    def is_cut_short(self) -> bool:
        """Whether a stream ended too early."""
        return not self.is_ended and breaks_off(self.text)

    def add(self, data: str | bytes) -> bool:
        """Read an event or a whole body; whether there is more text now. ValueError for neither."""
        if data == DONE:
            self.is_ended = True
            return False
        completion = _Completion.model_validate_json(data)
        self.error = completion.error
        if completion.usage:
            self._usage = completion.usage.usage
        if not completion.choices:
            return False
        choice = completion.choices[0]
        message = choice.delta or choice.message or _Message()
        self._write(message.text)
        self._refusal += message.refusal or ""
        self.finish = choice.finish_reason or self.finish
        self.is_ended = bool(self.finish)
        return bool(message.text)

    def _write(self, words: str) -> None:
        """Add *words*; each character is looked at once, however many events bring them."""
        if self._thought is not None:
            seen = self._thought + words
            _, end, after = seen.partition(_END_OF_THOUGHT)
            self._thought = None if end else seen[-len(_END_OF_THOUGHT) :]
            self.text = after.lstrip()
        elif not _THOUGHT.startswith(self.text):
            self.text += words
        else:
            self.text = (self.text + words).lstrip()
            if self.text.startswith(_THOUGHT):
                words, self.text, self._thought = self.text[len(_THOUGHT) :], "", ""
                self._write(words)

    def reply(self, model: str) -> ModelReply:
        """What it came to; raises ContentBlocked."""
        if self._refusal or self.finish == CONTENT_FILTER:
            reason = "REFUSAL" if self._refusal else "CONTENT_FILTER"
            raise ContentBlocked(reason, tokens=self._usage.total)
        finish = FINISHES.get(self.finish.lower() or "stop", "other")
        if finish == "stop" and not self.text.strip():
            finish = "empty"
        return ModelReply(self.text, model, finish, self._usage)


def refusal(status: int, error: object, retry_after: str, now_s: float) -> ModelFailure:
    """What an HTTP *status* other than 200 means; *error* is the server's JSON, if it sent any.

    *now_s* is the present as a Unix time, for a Retry-After that names a date.
    """
    return failure_of_status(status, _hint(status, error), [retry_after], now_s)


def event_failure(error: object, now_s: float) -> ModelFailure:
    """What an *error* in the midst of a stream means; without a status it may pass."""
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, int) and 400 <= code < 600:
        return refusal(code, {"error": error}, "", now_s)
    return ModelFailure("error-event", hint=f"the server failed: see its log, and {CHECK}")


def is_blocked(error: object) -> bool:
    """Whether *error* says that a filter refused the prompt, as some servers do with a 400."""
    inner = error.get("error") if isinstance(error, Mapping) else None
    return isinstance(inner, Mapping) and inner.get("code") == CONTENT_FILTER


def _hint(status: int, error: object) -> str:
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return "the key was refused: check JUDGE_OPENAI_API_KEY"
    if status == HTTPStatus.NOT_FOUND and "model" in json.dumps(error):
        return (
            "JUDGE_MODEL names no model of this server (Ollama: `ollama list` shows those it has, "
            "`ollama pull NAME` gets one)"
        )
    if status in {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED}:
        return (
            "there are no chat completions at JUDGE_OPENAI_BASE_URL, which mostly ends in /v1, as "
            "in http://127.0.0.1:11434/v1"
        )
    if 300 <= status < 400:
        return "JUDGE_OPENAI_BASE_URL leads to a redirect, which is not followed with a key"
    return (
        f"the server does not take such a request: {CHECK}, and that the model's context has room "
        "for 16,000 tokens"
    )
