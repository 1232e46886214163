"""A day's budget of tokens, and a language model under it that is not called once it is spent."""

import asyncio

from judge.adapters.redis.token_budget import seconds_to_midnight
from judge.errors import BudgetSpent, ContentBlocked, ModelUnavailable
from judge.ports import Clock, Journal, LanguageModel, OnText, TokenBudget, ignore_text
from judge.types.replies import ModelReply, Prompt

CHARACTERS_A_TOKEN = 4
"""Of English, as the services that sell tokens put it."""


class DailyBudget:
    """Holds what a TokenBudget counts against *limit*, and notes it for the metrics."""

    def __init__(self, counted: TokenBudget, limit: int, clock: Clock, journal: Journal) -> None:
        self._counted = counted
        self._limit = limit
        self._clock = clock
        self._journal = journal
        self._owed = 0
        """Tokens that are counted at the next call."""

    async def check(self) -> None:
        """Return while there is something left; raises BudgetSpent."""
        owed, self._owed = self._owed, 0
        spent = await self._counted.spend(owed)
        if spent >= self._limit:
            self._journal.note("budget.refused", spent=spent, limit=self._limit)
            raise BudgetSpent(
                f"The {self._limit} tokens for today are spent. Judging goes on at midnight UTC.",
                seconds_to_midnight(self._clock.now()),
            )

    def owe(self, tokens: int) -> None:
        """Have *tokens* counted by whoever asks next; for calls that have no time left."""
        self._owed += tokens

    async def count(self, tokens: int) -> None:
        """Count *tokens*, which may be none: then what was counted so far is noted."""
        spent = await self._counted.spend(tokens)
        self._journal.note("budget.counted", spent=spent, limit=self._limit)


class BudgetedModel:
    """A LanguageModel that asks *model* while the day's tokens last.

    Counted is what the model reports, also for a reply that is blocked or of no use; where it tells
    nothing, or was ended before it could, the length of what was asked and written. Calls that are
    on their way when the limit is reached are let finish, so that it may be passed by those.
    """

    def __init__(self, model: LanguageModel, budget: DailyBudget) -> None:
        self._model = model
        self._budget = budget

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def gives_verdicts(self) -> bool:
        """Whether the model does."""
        return self._model.gives_verdicts

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        has_more_room: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        """One reply to *prompt*; raises BudgetSpent, and what the model raises."""
        await self._budget.check()
        written = 0

        def count_written(text: str) -> None:
            nonlocal written
            written = len(text)
            on_text(text)

        try:
            listener = ignore_text if on_text is ignore_text else count_written
            reply = await self._model.complete(
                prompt, timeout_s=timeout_s, has_more_room=has_more_room, on_text=listener
            )
        except ContentBlocked as blocked:
            await self._budget.count(blocked.tokens)
            raise
        except (asyncio.CancelledError, TimeoutError, ModelUnavailable) as error:
            if written or not isinstance(error, ModelUnavailable):
                self._budget.owe(_estimated_tokens(prompt, written))
            raise
        await self._budget.count(reply.usage.total or _estimated_tokens(prompt, len(reply.text)))
        return reply


def _estimated_tokens(prompt: Prompt, written: int) -> int:
    """About how many tokens *prompt* and a reply of so many characters are."""
    asked = len(prompt.instructions) + len(prompt.text)
    return (asked + written) // CHARACTERS_A_TOKEN
