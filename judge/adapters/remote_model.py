"""A language model behind a service: one deadline, one retry and one set of words for all."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

from judge.adapters.model_failure import ModelFailure
from judge.errors import ModelUnavailable
from judge.ports import Journal, OnText, ignore_text
from judge.types.replies import ModelReply, Prompt

BACK_OFF_S: Final = 0.25
"""Before the second try, and up to twice that, so that clients don't come back together."""


class ModelService(Protocol):
    """One way to ask a service, once."""

    @property
    def name(self) -> str:
        """The model's name as configured."""

    async def ask(
        self, prompt: Prompt, *, has_more_room: bool, on_text: OnText
    ) -> ModelReply | ModelFailure:
        """One call, which the caller cancels when its time is over; raises ContentBlocked.

        A failure is returned, not raised, so that our errors have none of a library's behind them,
        which hold the request's headers and with them the key.
        """

    async def warm(self) -> ModelFailure | None:
        """Do ahead what the first call would wait for."""


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A LanguageModel over *service*, which is asked again once where that may help."""

    service: ModelService
    journal: Journal
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random
    gives_verdicts: bool = True

    @property
    def name(self) -> str:
        """The model's name as configured."""
        return self.service.name

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        has_more_room: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        """One reply to *prompt*; errors as the port promises."""
        async with asyncio.timeout(timeout_s) as limit:
            outcome = await self.service.ask(prompt, has_more_room=has_more_room, on_text=on_text)
            if isinstance(outcome, ModelFailure) and await self._wait_to_retry(outcome, limit):
                outcome = await self.service.ask(
                    prompt, has_more_room=has_more_room, on_text=on_text
                )
        if isinstance(outcome, ModelFailure):
            self.journal.note("model.unavailable", **_fields(outcome))
            raise _unavailable(outcome)
        return outcome

    async def warm(self) -> None:
        """Do ahead what the first request would wait for; what fails is only noted."""
        if failure := await self.service.warm():
            self.journal.note("model.unavailable", **_fields(failure))

    async def _wait_to_retry(self, failure: ModelFailure, limit: asyncio.Timeout) -> bool:
        """Wait as long as it takes; False at once if *failure* is final or the wait won't fit."""
        wait_s = failure.retry_after_s
        if wait_s is None:
            wait_s = BACK_OFF_S * (1 + self.jitter())
        left_s = (limit.when() or 0.0) - asyncio.get_running_loop().time()
        if not failure.may_retry or wait_s >= left_s:
            return False
        self.journal.note("model.retried", wait_s=round(wait_s, 3), **_fields(failure))
        await self.sleep(wait_s)
        return True


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
