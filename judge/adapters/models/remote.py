"""A language model behind a service: one deadline, one way to retry and one set of errors."""

import asyncio
import random
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, Protocol

from pydantic_core import from_json

from judge.adapters.models.failure import ModelFailure
from judge.errors import ContentBlocked, ModelUnavailable
from judge.ports import Journal, OnText, ignore_text
from judge.types.replies import FinishReason, ModelReply, Prompt, Usage

BACKOFF_S: Final = 0.25
"""Before the retry, plus as much again at random, so that clients don't retry together."""

BUSY_BACKOFFS_S: Final = (1.0, 2.0, 4.0)
"""Before each retry of a service that is overloaded, which comes in bursts of seconds; up to half
as much again at random."""

END_S: Final = 0.2
"""How long the end of a stream is awaited after a complete reply, so that the connection can be
reused; some servers and proxies never end it."""

FINISHED_S: Final = 3.0
"""How long the next part is awaited after a finish reason without JSON; some send STOP early."""

MAX_REPLY_CHARS: Final = 12_000
"""Far above a reply at its limits; what is longer repeats itself without end."""

_RUNAWAY: Final = re.compile(r"(?:\s{400}|\d{100})\Z")
"""Seen of models whose grammar lets them: white space or digits until the output limit."""

FINISHES: Final[Mapping[str, FinishReason]] = {
    **dict.fromkeys("STOP FINISH_REASON_UNSPECIFIED EOS_TOKEN EOS END END_TURN".split(), "stop"),
    **dict.fromkeys(("LENGTH", "MODEL_LENGTH", "CONTINUATION"), "truncated"),
    **dict.fromkeys(("MAX_TOKENS", "MAX_OUTPUT_TOKENS"), "truncated"),
    "RECITATION": "recitation",
}

BROKEN_OFF: Final = frozenset({"", "ERROR", "ABORT", "INSUFFICIENT_SYSTEM_RESOURCE"})
"""Finish reasons of a server that stopped before the model did; some send none."""

BLOCKING: Final = frozenset(
    "SAFETY PROHIBITED_CONTENT BLOCKLIST SPII ESCALATION MODEL_ARMOR CONTENT_FILTER SENSITIVE "
    "REFUSAL".split()
)
"""Finish reasons of a safety filter, after which the model is not asked again."""


class ModelService(Protocol):
    """One service, called once without retries."""

    name: str
    """The model's name as configured."""

    async def ask(
        self, prompt: Prompt, *, doubles_limit: bool, on_text: OnText
    ) -> ModelReply | ModelFailure:
        """The outcome of one call, which the caller cancels at its deadline; raises ContentBlocked.

        A failure is returned, not raised, so that our errors do not chain a library's errors, which
        hold the request's headers and with them the key.
        """

    async def warm(self) -> ModelFailure | None:
        """Do in advance what the first call would wait for."""


@dataclass(slots=True)
class Draft:
    """A reply as received so far; without streaming it comes as one part."""

    text: str = ""
    finish: str = ""
    """Why the model stopped, in capitals; some send STOP with each part."""
    blocked: str = ""
    """What blocked the reply."""
    version: str | None = None
    usage: Usage = field(default_factory=Usage)

    def add(self, part: Any) -> bool:
        """Add *part*; returns whether the text grew. Raises ValueError for what is no part."""
        before = self.text
        self.read(part)
        if len(self.text) > MAX_REPLY_CHARS or _RUNAWAY.search(self.text[-400:]):
            self.finish = "MAX_TOKENS"
        return self.text != before

    def read(self, part: Any) -> None:
        """Take what *part* says."""
        raise NotImplementedError

    @property
    def is_complete(self) -> bool:
        """Whether the reply has all that it needs, whatever still comes."""
        is_whole = FINISHES.get(self.finish) != "stop" or not is_incomplete_json(self.text)
        return bool(self.blocked or (self.finish and is_whole))

    @property
    def is_cut_short(self) -> bool:
        """Whether the server stopped before the reply was complete."""
        return self.finish in BROKEN_OFF and not self.blocked and is_incomplete_json(self.text)

    def reply(self, model: str) -> ModelReply:
        """The finished reply; raises ContentBlocked."""
        blocked = self.blocked or (self.finish if self.finish in BLOCKING else "")
        if blocked:
            raise ContentBlocked(blocked, tokens=self.usage.total)
        finish = FINISHES.get(self.finish or "STOP", "other")
        if finish == "stop" and not self.text.strip():
            finish = "empty"
        elif finish == "other" and not is_incomplete_json(self.text):
            finish = "stop"  # by whatever name
        return ModelReply(self.text, model, finish, self.usage, self.version)


def in_each_object(schema: Any, members: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Any:
    """The JSON *schema* with further *members* in each object."""
    if isinstance(schema, Mapping):
        inner = {key: in_each_object(value, members) for key, value in schema.items()}
        return inner | (members(schema) if schema.get("type") == "object" else {})
    return [in_each_object(one, members) for one in schema] if isinstance(schema, list) else schema


def is_incomplete_json(text: str) -> bool:
    """Whether *text* is not valid JSON."""
    try:
        from_json(text)
    except ValueError:
        return True
    return False


async def follow(parts: AsyncGenerator[Any, None], draft: Draft, on_text: OnText) -> None:
    """Add all of *parts* to *draft*; once that is complete, only for END_S more."""
    end, was_complete, now = asyncio.timeout(None), False, asyncio.get_running_loop().time
    try:
        async with end, aclosing(parts):
            async for part in parts:
                if draft.add(part):
                    on_text(draft.text)
                if not was_complete and (draft.finish or draft.is_complete):
                    was_complete = draft.is_complete
                    end.reschedule(now() + (END_S if was_complete else FINISHED_S))
    except Exception:
        if not (draft.is_complete or end.expired()):  # else only the end of the stream was lost
            raise


@dataclass(slots=True)
class RemoteModel:
    """A LanguageModel over *service*, which is called again where that may help."""

    service: ModelService
    journal: Journal
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random
    gives_verdicts: bool = True
    is_refused: bool = False
    """Whether the last call failed for something that somebody has to mend: a key, a name."""

    @property
    def name(self) -> str:
        """The model's name as configured."""
        return self.service.name

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        doubles_limit: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        """One reply to *prompt*; errors as the port promises."""
        retries = 0
        async with asyncio.timeout(timeout_s) as deadline:
            while True:
                outcome = await self.service.ask(
                    prompt, doubles_limit=doubles_limit, on_text=on_text
                )
                if not isinstance(outcome, ModelFailure):
                    self.is_refused = False
                    return outcome
                wait_s = self._wait_s(outcome, retries)
                left_s = (deadline.when() or 0.0) - asyncio.get_running_loop().time()
                if wait_s is None or wait_s >= left_s:
                    break
                self.journal.note("model.retried", wait_s=round(wait_s, 3), **_fields(outcome))
                await self.sleep(wait_s)
                retries += 1
        self.is_refused = not outcome.may_retry
        self.journal.note("model.unavailable", **_fields(outcome))
        raise _unavailable(outcome)

    async def warm(self) -> None:
        """Do in advance what the first request would wait for; a failure is only noted."""
        if failure := await self.service.warm():
            self.journal.note("model.unavailable", **_fields(failure))

    def _wait_s(self, failure: ModelFailure, retries: int) -> float | None:
        """How long to wait before the next retry; None if none may help."""
        is_busy = failure.status == HTTPStatus.SERVICE_UNAVAILABLE
        if not failure.may_retry or retries >= (len(BUSY_BACKOFFS_S) if is_busy else 1):
            return None
        if failure.retry_after_s is not None:
            return failure.retry_after_s
        if is_busy:
            return BUSY_BACKOFFS_S[retries] * (1 + self.jitter() / 2)
        return BACKOFF_S * (1 + self.jitter())


def _fields(failure: ModelFailure) -> dict[str, str | float | bool]:
    return {"reason": failure.reason, "status": failure.status, "hint": failure.hint}


def _unavailable(failure: ModelFailure) -> ModelUnavailable:
    if not failure.may_retry:
        return ModelUnavailable(
            "The language model refuses the requests of this service. Whoever runs it will find "
            "the reason in its log.",
            hint=failure.hint,
        )
    return ModelUnavailable(
        "The language model does not answer at the moment. Please try again a little later.",
        5.0 if failure.retry_after_s is None else failure.retry_after_s,
        hint=failure.hint,
    )
