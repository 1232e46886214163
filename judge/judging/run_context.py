"""What one request gathers on its way through the pipeline."""

from dataclasses import dataclass

from judge.judging.domains import Detector
from judge.judging.safety import SafetyFindings, SafetyRules
from judge.judging.sources import SourceCatalog
from judge.judging.verdicts.check import Checked
from judge.types.judgements import JudgeRequest, ModelReply, Persona, Reference, Versions


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Everything derived from one sources file; replaced as a whole when it changes."""

    catalog: SourceCatalog
    detector: Detector
    safety: SafetyRules
    personas: tuple[Persona, ...]
    versions: Versions


@dataclass(frozen=True, slots=True)
class RunContext:
    """What one request has gathered by the time the model is asked."""

    request: JudgeRequest
    known: Knowledge
    references: tuple[Reference, ...]
    left_out: int
    """How many of the pages that fit could not be read."""
    passage_warnings: tuple[str, ...]
    care: SafetyFindings
    assumed_nation: str | None
    """Whose law the pages tell, where the dispute does not say."""
    deadline: float
    """On the clock's monotonic scale, in seconds."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One reply of a model, checked."""

    reply: ModelReply
    checked: Checked
    is_degraded: bool
