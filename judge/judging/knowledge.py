"""The compiled contents of one sources file; replaced as a whole when the file changes."""

from dataclasses import dataclass

from judge.judging.care import SafetyRules
from judge.judging.domains import Detector
from judge.library.sources.catalog import SourceCatalog
from judge.types.replies import Persona
from judge.types.results import Versions


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Everything derived from one sources file."""

    catalog: SourceCatalog
    detector: Detector
    safety: SafetyRules
    personas: tuple[Persona, ...]
    versions: Versions
