"""Parses what a server of chat completions sends: replies, refusals and failures; no I/O."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from pydantic import BaseModel

from judge.adapters.models.failure import ModelFailure, failure_of_status, is_incomplete_json
from judge.adapters.models.openai_surrogates import HalfCharacters
from judge.errors import ContentBlocked
from judge.types.replies import FinishReason, ModelReply, Usage
from judge.types.request_fields import OrNone

FINISHES: Final[Mapping[str, FinishReason]] = {
    "length": "truncated",
    **dict.fromkeys(("stop", "eos_token", "eos", "end", "end_turn"), "stop"),
}
"""Not all servers send `stop`: older ones of Hugging Face send `eos_token`, others `end`."""

CONTENT_FILTER: Final = "content_filter"

DONE: Final = "[DONE]"
"""The last event of a stream."""

CHECK_SETTINGS: Final = "check JUDGE_MODEL and JUDGE_OPENAI_BASE_URL"

_THINK, _THINK_END = "<think>", "</think>"
"""Around the thinking that some servers leave in front of a reply."""


class _ContentPart(BaseModel):
    type: str = ""
    text: str | None = None


class _Message(BaseModel):
    content: str | tuple[_ContentPart, ...] | None = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        """The text without thinking, which comes in content parts of other types."""
        if isinstance(self.content, tuple):
            return "".join(part.text or "" for part in self.content if part.type == "text")
        return self.content or ""


class _Choice(BaseModel):
    delta: _Message | None = None
    message: _Message | None = None
    """Instead of `delta` if the server does not stream."""
    finish_reason: str | None = None


class _OutputDetails(BaseModel):
    reasoning_tokens: OrNone[int] = None


class _ChatUsage(BaseModel):
    prompt_tokens: OrNone[int] = None
    completion_tokens: OrNone[int] = None
    completion_tokens_details: OrNone[_OutputDetails] = None

    @property
    def usage(self) -> Usage:
        """As we count: thinking tokens besides output tokens, not among them."""
        output = self.completion_tokens or 0
        thinking = (self.completion_tokens_details or _OutputDetails()).reasoning_tokens or 0
        return Usage.reported(self.prompt_tokens, output - thinking, thinking)


class _Completion(BaseModel):
    choices: tuple[_Choice, ...] | None = None
    usage: OrNone[_ChatUsage] = None
    error: Any = None


@dataclass(slots=True)
class ChatDraft:
    """A reply as received so far; without streaming it comes as one part."""

    is_ended: bool = False
    error: Any = None
    """The error of a server that failed in the middle of a stream."""
    finish: str = ""
    text: str = ""
    """The reply without the thinking in front of it."""
    _thinking: str | None = None
    """The last characters of unfinished thinking, enough to recognise its end tag."""
    _refusal: str = ""
    _halves: HalfCharacters = field(default_factory=HalfCharacters)
    _usage: Usage = field(default_factory=Usage)

    @property
    def is_cut_short(self) -> bool:
        """Whether the stream ended before the reply was complete."""
        return not self.is_ended and is_incomplete_json(self.text)

    def add(self, data: str | bytes) -> bool:
        """Add an event or a whole body; returns whether the text grew. Raises ValueError."""
        if data == DONE:
            self.is_ended = True
            return False
        completion = self._parse(data)
        self.error = completion.error
        if completion.usage:
            self._usage = completion.usage.usage
        if not completion.choices:
            return False
        choice = completion.choices[0]
        message = choice.delta or choice.message or _Message()
        self._append(message.text)
        self._refusal += message.refusal or ""
        self.finish = choice.finish_reason or self.finish
        self.is_ended = bool(self.finish)
        return bool(message.text)

    def _parse(self, data: str | bytes) -> _Completion:
        try:
            return _Completion.model_validate_json(data)
        except ValueError:
            text = data if isinstance(data, str) else data.decode()
            return _Completion.model_validate_json(self._halves.join(text))

    def _append(self, text: str) -> None:
        """Add *text* without thinking; in linear time, however many events bring it."""
        if self._thinking is not None:
            thinking = self._thinking + text
            _, end, after = thinking.partition(_THINK_END)
            self._thinking = None if end else thinking[-len(_THINK_END) :]
            self.text = after.lstrip()
        elif not _THINK.startswith(self.text):
            self.text += text
        else:
            self.text = (self.text + text).lstrip()
            if self.text.startswith(_THINK):
                rest, self.text, self._thinking = self.text[len(_THINK) :], "", ""
                self._append(rest)

    def reply(self, model: str) -> ModelReply:
        """The finished reply; raises ContentBlocked."""
        if self._refusal or self.finish == CONTENT_FILTER:
            reason = "REFUSAL" if self._refusal else "CONTENT_FILTER"
            raise ContentBlocked(reason, tokens=self._usage.total)
        finish = FINISHES.get(self.finish.lower() or "stop", "other")
        if finish == "stop" and not self.text.strip():
            finish = "empty"
        return ModelReply(self.text, model, finish, self._usage)


def refusal(status: int, error: object, retry_after: str, now_s: float) -> ModelFailure:
    """The failure for an HTTP *status* other than 200; *error* is the server's JSON, if any.

    *now_s* is the current Unix time, for a Retry-After with a date.
    """
    return failure_of_status(status, _hint(status, error), [retry_after], now_s)


def event_failure(error: object, now_s: float) -> ModelFailure:
    """The failure for an *error* in the middle of a stream; without a status it may be retried."""
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, int) and 400 <= code < 600:
        return refusal(code, {"error": error}, "", now_s)
    return ModelFailure("error-event", hint=f"the server failed: see its log, and {CHECK_SETTINGS}")


def is_blocked(error: object) -> bool:
    """Whether *error* means that a content filter refused the prompt, which may come as 400."""
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
        f"the server does not take such a request: {CHECK_SETTINGS}, and that the model's context "
        "has room for 16,000 tokens"
    )
