"""One reply of a model, checked, and how it is reported to ops."""

from dataclasses import dataclass

from judge.judging.verdicts.check import Checked
from judge.ports import Journal
from judge.types.replies import ModelReply


@dataclass(frozen=True, slots=True)
class Attempt:
    """A reply with what checking it gave; degraded when the usual model did not judge."""

    reply: ModelReply
    checked: Checked
    is_degraded: bool


def log_attempt(journal: Journal, attempt: Attempt, *, number: int) -> None:
    """Report the cost and each rule that fired, so that ops see which one costs retries."""
    journal.note(
        "model.replied",
        model=attempt.reply.model,
        finish=attempt.reply.finish,
        input_tokens=attempt.reply.usage.input_tokens,
        output_tokens=attempt.reply.usage.output_tokens,
        thinking_tokens=attempt.reply.usage.thinking_tokens,
    )
    for defect in attempt.checked.defects:
        journal.note("reply.defect", rule=defect.rule, attempt=number, is_hard=defect.is_hard)
