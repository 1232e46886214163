"""One reply of a model, checked, and how it is reported to ops."""

from dataclasses import asdict, dataclass

from judge.judging.verdicts.check import Checked
from judge.ports import Journal
from judge.types.replies import ModelReply


@dataclass(frozen=True, slots=True)
class Attempt:
    """A reply with what checking it gave; degraded when the usual model did not judge."""

    reply: ModelReply
    checked: Checked
    is_degraded: bool


def costs_of(reply: ModelReply) -> dict[str, str | int]:
    """What ops are told of *reply*."""
    return {"model": reply.model, "finish": reply.finish, **asdict(reply.usage)}


def log_attempt(journal: Journal, attempt: Attempt, *, number: int) -> None:
    """Report the cost and each rule that fired, so that ops see which one costs retries."""
    journal.note("model.replied", **costs_of(attempt.reply))
    for defect in attempt.checked.defects:
        journal.note("reply.defect", rule=defect.rule, attempt=number, is_hard=defect.is_hard)
