"""Calls the model within a deadline, with a fallback, and counts the tokens."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Self

from judge.errors import BudgetSpent, ContentBlocked, DeadlineExceeded, ModelUnavailable
from judge.ports import Clock, Journal, LanguageModel, OnText, ignore_text
from judge.types.replies import ModelReply, Prompt, Usage

QUOTING_RESERVE_S = 1.0
"""Seconds kept for a fallback that only quotes, when the primary model is slow."""

JUDGING_RESERVE = 1 / 3
"""The share of the deadline kept for a fallback that judges: of 30 seconds 10, since small models
take about 8 for a verdict."""

Listener = Callable[[Prompt, LanguageModel], OnText]
"""Returns the callback for the text of a model's reply to a prompt while it is written."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a request must be answered: `at` in monotonic seconds, `total_s` after it began."""

    at: float
    total_s: float

    @classmethod
    def after(cls, total_s: float, clock: Clock) -> Self:
        """The deadline of a request that begins now and may take *total_s* seconds."""
        return cls(clock.monotonic() + total_s, total_s)

    @property
    def started(self) -> float:
        """When the request began, in monotonic seconds."""
        return self.at - self.total_s


@dataclass(frozen=True, slots=True)
class ModelCaller:
    """Asks `primary`, and `fallback` when `primary` is unavailable or slow."""

    primary: LanguageModel
    fallback: LanguageModel | None
    clock: Clock
    journal: Journal

    async def complete(
        self,
        prompt: Prompt,
        deadline: Deadline,
        *,
        doubles_limit: bool,
        listener: Listener = lambda *_: ignore_text,
    ) -> tuple[ModelReply, LanguageModel]:
        """The reply and the model that gave it; *listener* is called for each model asked.

        Raises ContentBlocked, ModelUnavailable and DeadlineExceeded. BudgetSpent is raised
        without trying the fallback: the model did not fail.
        """
        ask = partial(self._ask, prompt, listener, doubles_limit=doubles_limit)
        if self.fallback is None:
            return await ask(self.primary, deadline)
        reserve_s = deadline.total_s * JUDGING_RESERVE
        if not self.fallback.gives_verdicts:
            reserve_s = min(QUOTING_RESERVE_S, deadline.total_s / 4)
        try:
            return await ask(self.primary, replace(deadline, at=deadline.at - reserve_s))
        except BudgetSpent:
            raise
        except (ModelUnavailable, DeadlineExceeded) as error:
            self.journal.note("model.fallback", reason=type(error).__name__)
        return await ask(self.fallback, deadline)

    @property
    def fallback_only(self) -> "ModelCaller | None":
        """A caller of the fallback, if there is one."""
        return replace(self, primary=self.fallback, fallback=None) if self.fallback else None

    @property
    def without_quoting_fallback(self) -> "ModelCaller":
        """The same caller without a fallback that gives no verdicts and only quotes."""
        is_quoting = self.fallback is not None and not self.fallback.gives_verdicts
        return replace(self, fallback=None) if is_quoting else self

    async def _ask(
        self,
        prompt: Prompt,
        listener: Listener,
        model: LanguageModel,
        deadline: Deadline,
        *,
        doubles_limit: bool,
    ) -> tuple[ModelReply, LanguageModel]:
        timeout_s = deadline.at - self.clock.monotonic()
        on_text = listener(prompt, model)
        try:
            async with asyncio.timeout(timeout_s):
                reply = await model.complete(
                    prompt, timeout_s=timeout_s, doubles_limit=doubles_limit, on_text=on_text
                )
                return reply, model
        except TimeoutError:
            hint = f"{model.name} gave no reply in {timeout_s:.3g} seconds"
            self.journal.note("model.unavailable", reason="deadline", status=0, hint=hint)
            raise DeadlineExceeded(deadline.total_s) from None


@dataclass(slots=True)
class MeteredModel:
    """Asks *caller* until *deadline*, besides for the verdict; logs each reply as *event*."""

    caller: ModelCaller
    deadline: Deadline
    event: str
    usage: Usage = field(default_factory=Usage)
    """The tokens of all calls so far."""

    async def ask(self, prompt: Prompt, *, doubles_limit: bool = False) -> ModelReply:
        """The reply of a model that gives verdicts.

        Raises ContentBlocked, ModelUnavailable and DeadlineExceeded.
        """
        if self.caller.clock.monotonic() >= self.deadline.at:
            raise DeadlineExceeded(self.deadline.total_s)
        try:
            reply, _ = await self.caller.without_quoting_fallback.complete(
                prompt, self.deadline, doubles_limit=doubles_limit
            )
        except ContentBlocked as blocked:
            self.usage += Usage(input_tokens=blocked.tokens)
            raise
        self.usage += reply.usage
        self.caller.journal.note(self.event, **costs_of(reply))
        return reply


def costs_of(reply: ModelReply) -> dict[str, str | int]:
    """The fields of *reply* that are logged."""
    version = {"model_version": reply.version} if reply.version else {}
    return {"model": reply.model, "finish": reply.finish, **version, **asdict(reply.usage)}
