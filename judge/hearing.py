"""What one request gathers on its way through the pipeline."""

from dataclasses import dataclass

from judge.domains import Detector
from judge.safety import Care, SafetyWatch
from judge.sources import SourceCatalog
from judge.types.judging import JudgeRequest, ModelReply, Persona, Reference, Versions
from judge.verdicts.check import Checked


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Everything derived from one sources file; replaced as a whole when it changes."""

    catalog: SourceCatalog
    detector: Detector
    safety: SafetyWatch
    personas: tuple[Persona, ...]
    versions: Versions


@dataclass(frozen=True, slots=True)
class Hearing:
    """What one request has gathered by the time the model is asked."""

    request: JudgeRequest
    known: Knowledge
    references: tuple[Reference, ...]
    left_out: int
    """How many of the pages that fit could not be read."""
    passage_warnings: tuple[str, ...]
    care: Care
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
