"""A daily token budget, and a language model that is not called once the budget is spent."""

import asyncio
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from judge.errors import BudgetSpent, ContentBlocked, ModelUnavailable
from judge.ports import Clock, Journal, LanguageModel, OnText, TokenCounter, ignore_text
from judge.types.replies import ModelReply, Prompt


@dataclass(slots=True)
class DailyBudget:
    """Compares the total of *counter* with *limit*, and notes it for the metrics."""

    counter: TokenCounter
    limit: int
    clock: Clock
    journal: Journal
    uncounted: int = 0
    """Tokens that the next check counts: of calls that were cancelled and could not wait."""
    is_spent: bool = False
    """Whether the last check found today's tokens spent."""

    async def check(self) -> None:
        """Raise BudgetSpent once today's tokens are spent."""
        tokens, self.uncounted = self.uncounted, 0
        spent = await self.counter.add(tokens)
        self.is_spent = spent >= self.limit
        if self.is_spent:
            self.journal.note("budget.refused", spent=spent, limit=self.limit)
            raise BudgetSpent(
                "Today's allowance is spent. Judging goes on at midnight UTC.",
                seconds_to_midnight(self.clock.now()),
            )

    async def count(self, tokens: int) -> None:
        """Count *tokens* and note the total; 0 only notes it."""
        spent = await self.counter.add(tokens)
        self.journal.note("budget.counted", spent=spent, limit=self.limit)


class BudgetedModel:
    """A LanguageModel that asks *model* until the day's tokens are spent.

    It counts what the model reports, also for replies that are blocked or unusable. Where nothing
    is reported, or the call was cancelled, it estimates from the lengths of prompt and reply.
    Calls in flight when the limit is reached are finished, so the total may pass the limit.
    """

    def __init__(self, model: LanguageModel, budget: DailyBudget) -> None:
        self.model, self.budget = model, budget
        self.name, self.gives_verdicts = model.name, model.gives_verdicts

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        doubles_limit: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        """One reply to *prompt*; raises BudgetSpent, and what *model* raises."""
        await self.budget.check()
        written = 0

        def count_written(text: str) -> None:
            nonlocal written
            written = len(text)
            on_text(text)

        try:
            listener = ignore_text if on_text is ignore_text else count_written
            reply = await self.model.complete(
                prompt, timeout_s=timeout_s, doubles_limit=doubles_limit, on_text=listener
            )
        except ContentBlocked as blocked:
            await self.budget.count(blocked.tokens)
            raise
        except (asyncio.CancelledError, TimeoutError, ModelUnavailable) as error:
            if written or not isinstance(error, ModelUnavailable):
                self.budget.uncounted += _estimated_tokens(prompt, written)
            raise
        await self.budget.count(reply.usage.total or _estimated_tokens(prompt, len(reply.text)))
        return reply


def _estimated_tokens(prompt: Prompt, written: int) -> int:
    """About how many tokens *prompt* and a reply of *written* characters have.

    A token has four characters of English text, as the providers of models state it.
    """
    return (len(prompt.instructions) + len(prompt.text) + written) // 4


def seconds_to_midnight(now: datetime) -> float:
    """How long the day of *now* still lasts."""
    tomorrow = datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
    return (tomorrow - now).total_seconds()
