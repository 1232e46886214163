"""The words of a judgement, fit to be kept: what was asked, what was replied, what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judge.golden.case_runner import Outcome
from judge.golden.replay import ReplayedReply


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one judgement, in plain data."""

    status: int
    body: Mapping[str, Any]
    prompts: tuple[str, ...]
    """What the model was sent, the first time and the second."""

    replies: tuple[ReplayedReply, ...] = ()


def answer_of(outcome: Outcome) -> Answer:
    """The words of *outcome*."""
    prompts = tuple(f"{prompt.instructions}\n\n{prompt.text}" for prompt in outcome.prompts)
    return Answer(outcome.status, outcome.body, prompts, outcome.attempts)


def outcome_of(answer: Answer) -> Outcome:
    """*answer* as an outcome that can be scored; its prompts are not looked at again."""
    return Outcome(answer.status, answer.body, (), attempts=answer.replies)
