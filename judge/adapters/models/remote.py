"""A language model behind a service: one deadline, one way to retry and one set of errors."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Protocol

from judge.adapters.models.failure import ModelFailure
from judge.errors import ModelUnavailable
from judge.ports import Journal, OnText, ignore_text
from judge.types.replies import ModelReply, Prompt

BACKOFF_S: Final = 0.25
"""Before the retry, plus as much again at random, so that clients don't retry together."""

BUSY_BACKOFFS_S: Final = (1.0, 2.0, 4.0)
"""Before each retry of a service that is overloaded, which comes in bursts of seconds; up to half
as much again at random."""

END_S: Final = 0.2
"""How long the end of a stream is awaited after a complete reply, so that the connection can be
reused; some servers and proxies never end it."""


class ModelService(Protocol):
    """One service, called once without retries."""

    @property
    def name(self) -> str:
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


class Draft(Protocol):
    """A reply as received so far; without streaming it comes as one part."""

    text: str

    @property
    def is_complete(self) -> bool:
        """Whether the reply has all that it needs, whatever still comes."""

    def add(self, part: Any, /) -> bool:
        """Add *part*; returns whether the text grew. Raises ValueError for what is no part."""


async def follow(parts: AsyncGenerator[Any, None], draft: Draft, on_text: OnText) -> None:
    """Add all of *parts* to *draft*; once that is complete, only for END_S more."""
    try:
        async with asyncio.timeout(None) as end, aclosing(parts):
            async for part in parts:
                if draft.add(part):
                    on_text(draft.text)
                if end.when() is None and draft.is_complete:
                    end.reschedule(asyncio.get_running_loop().time() + END_S)
    except Exception:
        if not draft.is_complete:  # else only the end of the stream was lost
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
