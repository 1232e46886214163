"""A language model under a day's budget of tokens: past it the model is not called at all."""

from typing import NoReturn

from judge.adapters.token_budget import seconds_to_midnight
from judge.errors import BudgetSpent, ContentBlocked
from judge.ports import Clock, Journal, LanguageModel, TokenBudget
from judge.types.judging import ModelReply, Prompt


class BudgetedModel:
    """A LanguageModel that asks *model* while the day's tokens are under *limit*.

    Counted is what the model reports, also of a reply that is blocked or of no use. Calls that
    are on their way when the limit is reached are let finish, so that it may be passed by those.
    """

    def __init__(
        self,
        model: LanguageModel,
        budget: TokenBudget,
        *,
        limit: int,
        clock: Clock,
        journal: Journal,
    ) -> None:
        self._model = model
        self._budget = budget
        self._limit = limit
        self._clock = clock
        self._journal = journal

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def gives_verdicts(self) -> bool:
        """Whether the model does."""
        return self._model.gives_verdicts

    async def complete(
        self, prompt: Prompt, *, timeout_s: float, has_more_room: bool
    ) -> ModelReply:
        """One reply to *prompt*; raises BudgetSpent, and what the model raises."""
        spent = await self._budget.spent()
        if spent >= self._limit:
            self._refuse(spent)
        try:
            reply = await self._model.complete(
                prompt, timeout_s=timeout_s, has_more_room=has_more_room
            )
        except ContentBlocked as blocked:
            await self._count(blocked.tokens)
            raise
        await self._count(reply.usage.total)
        return reply

    def _refuse(self, spent: int) -> NoReturn:
        self._journal.note("budget.refused", spent=spent, limit=self._limit)
        raise BudgetSpent(
            f"The {self._limit} tokens for today are spent. Judging goes on at midnight UTC.",
            seconds_to_midnight(self._clock.now()),
        )

    async def _count(self, tokens: int) -> None:
        spent = await self._budget.spend(tokens)
        self._journal.note("budget.counted", spent=spent, limit=self._limit)
