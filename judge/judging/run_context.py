"""What one run of the pipeline has gathered by the time the model is asked."""

from dataclasses import dataclass

from judge.judging.knowledge import Knowledge
from judge.judging.model_caller import Deadline
from judge.judging.references import CollectedReferences
from judge.judging.safety import SafetyFindings
from judge.types.requests import JudgeRequest


@dataclass(frozen=True, slots=True)
class RunContext:
    """The request and what was found for it; `collected_at` is on the clock's monotonic scale."""

    request: JudgeRequest
    known: Knowledge
    collected: CollectedReferences
    safety: SafetyFindings
    deadline: Deadline
    collected_at: float
