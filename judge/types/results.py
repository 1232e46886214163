"""Data types of the answer to a request, and of the steps that are reported on the way."""

from collections.abc import Callable
from dataclasses import dataclass

from judge.types.references import Excerpt, Reference
from judge.types.replies import Citation, Defect, Evidence, PersonaVerdict, Usage, VerdictWord
from judge.types.requests import DomainScore


@dataclass(frozen=True, slots=True)
class HelpLine:
    """A service or person to turn to for help."""

    title: str
    """Who they are."""
    url: str
    """Their page."""
    phone: str = ""
    """Their number, or empty."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """What the person can do next: a page to read, which the answer cites."""

    title: str
    """The page's own title."""
    url: str
    """Its address."""


@dataclass(frozen=True, slots=True)
class OtherVerdict:
    """The verdict of one persona for the other side."""

    name: str
    """The persona's name."""
    verdict: VerdictWord
    """Whether the other side is being unreasonable."""
    rationale: str
    """Its reasons in a line, with the numbers of the references cited."""


@dataclass(frozen=True, slots=True)
class OtherSide:
    """The same facts as the other side would tell them, and the verdicts on that."""

    retelling: str
    """Their story; empty when no retelling kept the facts."""
    personas: tuple[OtherVerdict, ...]
    """The verdict of each persona, in the same order; empty when the other side was not heard."""
    agrees: bool | None
    """False when a persona tells both sides that they are right, with "No" to each; null when the
    other side was not heard."""
    note: str
    """Why the other side was not heard, or empty."""

    @classmethod
    def unheard(cls, note: str, retelling: str = "") -> "OtherSide":
        """The other side was not heard, for the reason in *note*; *retelling* if there was one."""
        return cls(retelling, (), None, note)


@dataclass(frozen=True, slots=True)
class Versions:
    """What shaped the verdict."""

    prompt: str
    """A digest of the instructions."""
    sources: str
    """A digest of the sources file."""
    model: str | None = None
    """The model's name and version as its service reports them."""


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds of wall time."""

    references: float
    """Until the references are ready: waiting for admission, the domain, its pages."""
    model: float
    """To ask the model and check its replies."""
    total: float
    """Both."""


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """The body of a 200 reply; field names are the interface."""

    id: str
    """The request's id."""
    paraphrase: str
    """The dispute, retold in about 30 words."""
    summary: str
    """The answer in about 120 words, with numbers in brackets for what it cites."""
    personas: tuple[PersonaVerdict, ...]
    """One to six, in the order of the sources file."""
    domain: str
    """What it is about; `default` when no domain was detected."""
    domain_scores: tuple[DomainScore, ...]
    """The ranking behind it, best first."""
    references: tuple[Reference, ...]
    """What could be cited, in the order of their numbers."""
    snippets: tuple[Excerpt, ...]
    """The URLs and texts of the references, for older frontends."""
    citations: tuple[Citation, ...]
    """Each number in the texts, with its place and its quotation."""
    evidence: Evidence
    """`grounded`: every cited reference has a sentence named, and no rule is broken; `unverified`:
    not so; `weak`: what is cited says nothing of what it is cited for; `missing`: nothing is cited;
    `not_applicable`: no reference bears on it; `none`: there was none."""
    help: tuple[HelpLine, ...]
    """Help lines: those for danger in the dispute, then those of its domain."""
    warnings: tuple[str, ...]
    """What to know before trusting the answer, a sentence each; a contradiction comes first."""
    other_side: OtherSide | None
    """The verdicts for the other side; null unless `hear_other_side` asked for them."""
    model: str
    """The name of the model that answered."""
    degraded: bool
    """Whether a fallback answered instead of the usual model."""
    attempts: int
    """How often the model was asked: 1 or 2."""
    versions: Versions
    """What shaped the answer besides the model."""
    usage: Usage
    """Tokens of all attempts, and of the calls about citations and for the other side."""
    timings_ms: Timings
    """Where the time went."""
    next_steps: tuple[NextStep, ...]
    """What to read next: up to three of the pages cited, in the order in which they are cited."""


@dataclass(frozen=True, slots=True)
class DomainDetected:
    """The first step: which domain the dispute is about."""

    domain: str
    domain_scores: tuple[DomainScore, ...]


@dataclass(frozen=True, slots=True)
class HelpFound:
    """When help lines are known, and again when the model names more; none is ever withdrawn."""

    help: tuple[HelpLine, ...]
    """All of them."""


@dataclass(frozen=True, slots=True)
class ReferencesReady:
    """Before the model is asked: what it may cite."""

    references: tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """Each time the model is asked; the first has number 1."""

    number: int


@dataclass(frozen=True, slots=True)
class FieldChecked:
    """For each field of a reply that breaks no rule, as soon as it is complete."""

    name: str
    """`paraphrase`, `personas.0` and so on, or `summary`."""
    value: str | PersonaVerdict
    """As it will be in the verdict, unless a restart withdraws it."""
    citations: tuple[Citation, ...]
    """The citations in this field."""


@dataclass(frozen=True, slots=True)
class Restarted:
    """When the model is asked again, or its reply starts over: all fields so far are withdrawn.

    There are no defects when a connection broke or another model took over.
    """

    defects: tuple[Defect, ...]


@dataclass(frozen=True, slots=True)
class SupportAsked:
    """When the model is asked about the citations of its verdict: how many there are."""

    citations: int


Step = (
    DomainDetected
    | HelpFound
    | ReferencesReady
    | AttemptStarted
    | FieldChecked
    | Restarted
    | SupportAsked
)
"""Any step of a judgement."""


Emit = Callable[[Step], None]
"""Receives each step; it must return at once."""
