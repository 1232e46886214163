"""What one run of the pipeline has gathered, and the model's replies with their log events."""

from dataclasses import dataclass

from judge.judging.care import SafetyFindings
from judge.judging.knowledge import Knowledge
from judge.judging.model_caller import Deadline, costs_of
from judge.judging.references import CollectedReferences
from judge.judging.verdicts.check import ReplyCheck
from judge.ports import Journal
from judge.types.replies import ModelReply
from judge.types.requests import Detection, JudgeRequest


@dataclass(frozen=True, slots=True)
class RunContext:
    """The request and what was found for it; `collected_at` is in monotonic seconds."""

    request: JudgeRequest
    knowledge: Knowledge
    detection: Detection
    collected: CollectedReferences
    safety: SafetyFindings
    deadline: Deadline
    collected_at: float


@dataclass(frozen=True, slots=True)
class Attempt:
    """A reply and the result of checking it; degraded when the configured model did not judge."""

    reply: ModelReply
    checked: ReplyCheck
    is_degraded: bool


def log_attempt(journal: Journal, attempt: Attempt, *, number: int) -> None:
    """Log the cost and each broken rule, so that ops see which rule causes retries."""
    journal.note("model.replied", **costs_of(attempt.reply))
    for defect in attempt.checked.defects:
        journal.note("reply.defect", rule=defect.rule, attempt=number, is_hard=defect.is_hard)
