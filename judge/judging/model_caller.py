"""The model with its deadline and its fallback, as one thing to ask, and what that costs."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Self

from judge.errors import BudgetSpent, ContentBlocked, DeadlineExceeded, ModelUnavailable
from judge.ports import Clock, Journal, LanguageModel, OnText, ignore_text
from judge.types.replies import ModelReply, Prompt, Usage

FALLBACK_RESERVE_S = 1.0
"""Seconds kept back for the fallback when the model uses up its time."""


Listener = Callable[[Prompt, LanguageModel], OnText]
"""Gives what is called while a model writes its reply to a prompt."""


def ignore_replies(_prompt: Prompt, _model: LanguageModel) -> OnText:
    """For callers who wait for the whole reply."""
    return ignore_text


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a request must be answered: `at` on the clock's monotonic scale, `total_s` in all."""

    at: float
    total_s: float

    @classmethod
    def after(cls, total_s: float, clock: Clock) -> Self:
        """The deadline of a request that begins now."""
        return cls(clock.monotonic() + total_s, total_s)

    @property
    def started(self) -> float:
        """When the request began, on the same scale."""
        return self.at - self.total_s


@dataclass(frozen=True, slots=True)
class ModelCaller:
    """Asks `primary`, and `fallback` when that is out of reach or slow."""

    primary: LanguageModel
    fallback: LanguageModel | None
    clock: Clock
    journal: Journal

    async def complete(
        self,
        prompt: Prompt,
        deadline: Deadline,
        *,
        has_more_room: bool,
        listener: Listener = ignore_replies,
    ) -> tuple[ModelReply, LanguageModel]:
        """A reply and the model that gave it; *listener* is for each model that is asked.

        Raises ContentBlocked, ModelUnavailable and DeadlineExceeded. A budget that is spent is
        nobody's failure: it is told, fallback or not.
        """
        ask = partial(self._ask, prompt, listener, has_more_room=has_more_room)
        if self.fallback is None:
            return await ask(self.primary, deadline), self.primary
        reserve_s = min(FALLBACK_RESERVE_S, deadline.total_s / 4)
        sooner = replace(deadline, at=deadline.at - reserve_s)
        try:
            return await ask(self.primary, sooner), self.primary
        except BudgetSpent:
            raise
        except (ModelUnavailable, DeadlineExceeded) as error:
            self.journal.note("model.fallback", reason=type(error).__name__)
        return await ask(self.fallback, deadline), self.fallback

    @property
    def for_verdicts(self) -> "ModelCaller":
        """The same without a fallback that only quotes: no reply is better than that one."""
        is_quoting = self.fallback is not None and not self.fallback.gives_verdicts
        return replace(self, fallback=None) if is_quoting else self

    async def _ask(
        self,
        prompt: Prompt,
        listener: Listener,
        model: LanguageModel,
        deadline: Deadline,
        *,
        has_more_room: bool,
    ) -> ModelReply:
        timeout_s = deadline.at - self.clock.monotonic()
        try:
            async with asyncio.timeout(timeout_s):
                return await model.complete(
                    prompt,
                    timeout_s=timeout_s,
                    has_more_room=has_more_room,
                    on_text=listener(prompt, model),
                )
        except TimeoutError:
            hint = f"{model.name} gave no reply in {timeout_s:.3g} seconds"
            self.journal.note("model.unavailable", reason="deadline", status=0, hint=hint)
            raise DeadlineExceeded(deadline.total_s) from None


@dataclass(slots=True)
class MeteredModel:
    """Asks *caller* until *deadline*, beside a judgement; each reply is logged as *event*."""

    caller: ModelCaller
    deadline: Deadline
    event: str
    usage: Usage = field(default_factory=Usage)
    """The tokens of all that it was asked."""

    async def ask(self, prompt: Prompt, *, has_more_room: bool = False) -> ModelReply:
        """The reply of a model that gives verdicts.

        Raises ContentBlocked, ModelUnavailable and DeadlineExceeded.
        """
        if self.caller.clock.monotonic() >= self.deadline.at:
            raise DeadlineExceeded(self.deadline.total_s)
        try:
            reply, _ = await self.caller.for_verdicts.complete(
                prompt, self.deadline, has_more_room=has_more_room
            )
        except ContentBlocked as blocked:
            self.usage += Usage(input_tokens=blocked.tokens)
            raise
        self.usage += reply.usage
        self.caller.journal.note(self.event, **costs_of(reply))
        return reply


def costs_of(reply: ModelReply) -> dict[str, str | int]:
    """What ops are told of *reply*."""
    return {"model": reply.model, "finish": reply.finish, **asdict(reply.usage)}
