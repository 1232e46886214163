"""The reply of a server of chat completions, as received so far; no I/O.

Servers leave all kinds of things around the JSON that was asked for: what the model thought aloud,
in tags of many names or in a field of its own, stop tokens, halves of characters.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from judge.adapters.models.remote import MAX_REPLY_CHARS, Draft, is_incomplete_json
from judge.types.replies import ModelReply, Usage

_NAMES: Final = "think|thinking|thought|thoughts|reasoning|reflection"
_THINKING: Final = re.compile(rf"<(?:{_NAMES})\b[^>]*>|\[THINK\]|<\|channel\|>", re.IGNORECASE)
_ANSWER: Final = re.compile(
    rf"</(?:{_NAMES})\s*>|\[/THINK\]|<\|channel\|>\s*final[^{{]*?<\|message\|>", re.IGNORECASE
)
"""After which the reply comes; templates that open the thinking in the prompt leave only this."""

_LONGEST_TAG: Final = 60
"""Characters of the longest of these, which may come in several events."""

_STOP_TOKENS: Final = re.compile(r"(?:\s|<\|\w+\|>|</s>|<end_of_turn>)+\Z")

_DECODER: Final = json.JSONDecoder()
_OBJECT: Final = re.compile(r"\{\s*\"")
_BEHIND: Final = re.compile(r"\s*(?:\Z|[<\[`])")
"""The end, a tag or a fence; words behind a reply are left to the checks."""

_BEGINS: Final = re.compile(r"\s*(?:\{|```)")
"""How the JSON begins, which may stand in a fence of code."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class ChatDraft(Draft):
    """See `Draft`; the text is the reply without what stands around it, and only grows."""

    error: Any = None
    """The error of a server that failed in the middle of a stream."""
    repairs: set[str] = field(default_factory=set)
    """What was taken off or found elsewhere: `thinking`, `reasoning`, `stop-token`, `words`."""
    _raw: str = ""
    _begin: int = 0
    """Where the reply begins in `_raw`, as far as is known."""
    _is_begun: bool = False
    _searched: int = 0
    """How far tags were looked for."""
    _reasoning: str = ""

    def read(self, part: str) -> None:
        """Take what an event or a whole body says; raises ValueError."""
        if part == "[DONE]":  # the last event of a stream
            self.finish = self.finish or "STOP"
            return
        completion = json.loads(part)
        if not isinstance(completion, dict):
            raise ValueError("no completion")  # noqa: TRY004 - of a body, not of a program
        if error := completion if completion.get("object") == "error" else completion.get("error"):
            self.error, self.finish = error, "ERROR"
            return
        self.version = _string(completion.get("model")) or self.version
        if isinstance(completion.get("usage"), dict):
            self.usage = _usage(completion["usage"])
        choices = completion.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        delta, message = choice.get("delta"), choice.get("message")
        if isinstance(delta, dict):
            self._append(delta)
        if isinstance(message, dict) and not self._raw:  # else the last event repeats the whole
            self._append(message)
        self.finish = _string(choice.get("finish_reason")).upper() or self.finish
        self.text = self._without_thinking()

    def reply(self, model: str) -> ModelReply:
        """The finished reply; raises ContentBlocked."""
        self.text = self._final_text()
        return Draft.reply(self, model)

    def _append(self, message: Mapping[str, Any]) -> None:
        calls = message.get("tool_calls")  # by which some proxies get what fits a schema
        for call in calls if isinstance(calls, list) else ():
            self._raw += _string(_at(call, "function", "arguments"))
        self._raw += _text(message.get("content"))
        self._reasoning += _string(message.get("reasoning_content") or message.get("reasoning"))
        if _string(message.get("refusal")):
            self.blocked = "REFUSAL"

    def _without_thinking(self) -> str:
        """The reply in what came so far; empty until it has begun."""
        while not self._is_begun:
            self._is_begun = _BEGINS.match(self._raw, self._begin) is not None
            start = max(self._begin, self._searched - _LONGEST_TAG)
            tag = None if self._is_begun else _ANSWER.search(self._raw, start)
            if tag is None:
                break
            self._begin = tag.end()
            self.repairs.add("thinking")
        self._searched = len(self._raw)
        if not self._is_begun:
            return ""
        text = self._raw[self._begin :].lstrip()
        text = text[:-_LONGEST_TAG] + _STOP_TOKENS.sub("", text[-_LONGEST_TAG:])
        return _joined(text) if _SURROGATE.search(text) else text

    def _final_text(self) -> str:
        """The text, or where that is not JSON, what a later tag or the reasoning field has."""
        if self.text != self._raw[self._begin :].strip() and self._is_begun:
            self.repairs.add("stop-token")
        if self.text and not is_incomplete_json(self.text):
            return self.text
        *_, last = [0, *(tag.end() for tag in _ANSWER.finditer(self._raw))]
        for source, repair in ((self._raw[last:], "words"), (self._reasoning, "reasoning")):
            if found := _last_object(source[-2 * MAX_REPLY_CHARS :]):
                self.repairs.add(repair)
                return _joined(found)
        is_thinking = _THINKING.match(self._raw[self._begin :].lstrip()) is not None
        return self.text or ("" if is_thinking else _joined(self._raw[self._begin :].strip()))


def _last_object(text: str) -> str:
    """The last whole JSON object in *text*, without what stands around it; else ""."""
    found, at = "", 0
    while begin := _OBJECT.search(text, at):
        at = begin.end()
        try:
            _, end = _DECODER.raw_decode(text, begin.start())
        except (ValueError, RecursionError):
            continue
        at = end
        if _BEHIND.match(text, end):
            found = text[begin.start() : end]
    return found


def _joined(text: str) -> str:
    """*text* with the halves of characters put together; a half that is alone becomes U+FFFD.

    Servers that count in UTF-16 cut between them; the first half at the end may still be joined.
    """
    if text and "\ud800" <= text[-1] <= "\udbff":
        text = text[:-1]
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _text(content: object) -> str:
    """The text of a message: its parts, of which some are thinking, or the JSON itself."""
    if isinstance(content, list):
        said = (p for p in content if _at(p, "type") in ("text", "output_text", None))
        return "".join(_string(_at(part, "text")) for part in said)
    return json.dumps(content) if isinstance(content, dict) else _string(content)


def _usage(told: Mapping[str, Any]) -> Usage:
    """As we count: thinking tokens besides output tokens, not among them."""
    thinking = _count(told, "completion_tokens_details", "reasoning_tokens")
    cached = _count(told, "prompt_tokens_details", "cached_tokens")
    output = _count(told, "completion_tokens")
    return Usage.reported(_count(told, "prompt_tokens"), output - thinking, thinking, cached)


def _count(told: Any, *path: str) -> int:
    """The number at *path*; 0 where there is none."""
    number = _at(told, *path)
    return number if isinstance(number, int) else 0


def _at(told: Any, *path: str) -> Any:
    """What is at *path*; None where there is nothing."""
    for name in path:
        told = told.get(name) if isinstance(told, dict) else None
    return told
