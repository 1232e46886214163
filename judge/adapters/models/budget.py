"""A daily token budget, and a language model that is not called once the budget is spent."""

import asyncio
from datetime import datetime, time, timedelta

from judge.errors import BudgetSpent, ContentBlocked, ModelUnavailable
from judge.ports import Clock, Journal, LanguageModel, OnText, TokenCounter, ignore_text
from judge.types.replies import ModelReply, Prompt

CHARACTERS_PER_TOKEN = 4
"""Of English text, as the providers of models state it."""


class DailyBudget:
    """Compares the total of *counter* with *limit*, and notes it for the metrics."""

    def __init__(self, counter: TokenCounter, limit: int, clock: Clock, journal: Journal) -> None:
        self._counter = counter
        self._limit = limit
        self._clock = clock
        self._journal = journal
        self._uncounted = 0
        """Tokens that the next check counts."""
        self.is_spent = False
        """Whether the last check found today's tokens spent."""

    async def check(self) -> None:
        """Raise BudgetSpent once today's tokens are spent."""
        tokens, self._uncounted = self._uncounted, 0
        spent = await self._counter.add(tokens)
        self.is_spent = spent >= self._limit
        if self.is_spent:
            self._journal.note("budget.refused", spent=spent, limit=self._limit)
            raise BudgetSpent(
                "Today's allowance is spent. Judging goes on at midnight UTC.",
                seconds_to_midnight(self._clock.now()),
            )

    def count_later(self, tokens: int) -> None:
        """Leave *tokens* to the next check, for a call that was cancelled and cannot wait."""
        self._uncounted += tokens

    async def count(self, tokens: int) -> None:
        """Count *tokens* and note the total; 0 only notes it."""
        spent = await self._counter.add(tokens)
        self._journal.note("budget.counted", spent=spent, limit=self._limit)


class BudgetedModel:
    """A LanguageModel that asks *model* until the day's tokens are spent.

    It counts what the model reports, also for replies that are blocked or unusable. Where nothing
    is reported, or the call was cancelled, it estimates from the lengths of prompt and reply.
    Calls in flight when the limit is reached are finished, so the total may pass the limit.
    """

    def __init__(self, model: LanguageModel, budget: DailyBudget) -> None:
        self._model = model
        self._budget = budget

    @property
    def name(self) -> str:
        """The name of *model*."""
        return self._model.name

    @property
    def gives_verdicts(self) -> bool:
        """Whether *model* does."""
        return self._model.gives_verdicts

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        doubles_limit: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        """One reply to *prompt*; raises BudgetSpent, and what *model* raises."""
        await self._budget.check()
        written = 0

        def count_written(text: str) -> None:
            nonlocal written
            written = len(text)
            on_text(text)

        try:
            listener = ignore_text if on_text is ignore_text else count_written
            reply = await self._model.complete(
                prompt, timeout_s=timeout_s, doubles_limit=doubles_limit, on_text=listener
            )
        except ContentBlocked as blocked:
            await self._budget.count(blocked.tokens)
            raise
        except (asyncio.CancelledError, TimeoutError, ModelUnavailable) as error:
            if written or not isinstance(error, ModelUnavailable):
                self._budget.count_later(_estimated_tokens(prompt, written))
            raise
        await self._budget.count(reply.usage.total or _estimated_tokens(prompt, len(reply.text)))
        return reply


def _estimated_tokens(prompt: Prompt, written: int) -> int:
    """About how many tokens *prompt* and a reply of *written* characters have."""
    prompt_chars = len(prompt.instructions) + len(prompt.text)
    return (prompt_chars + written) // CHARACTERS_PER_TOKEN


def seconds_to_midnight(now: datetime) -> float:
    """How long the day of *now* still lasts."""
    tomorrow = datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
    return (tomorrow - now).total_seconds()
