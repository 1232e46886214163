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


def log_reply(journal: Journal, event: str, reply: ModelReply) -> None:
    """Report what *reply* cost, as *event*."""
    journal.note(event, model=reply.model, finish=reply.finish, **asdict(reply.usage))


def log_attempt(journal: Journal, attempt: Attempt, *, number: int) -> None:
    """Report the cost and each rule that fired, so that ops see which one costs retries."""
    log_reply(journal, "model.replied", attempt.reply)
    for defect in attempt.checked.defects:
        journal.note("reply.defect", rule=defect.rule, attempt=number, is_hard=defect.is_hard)
