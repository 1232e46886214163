"""Data types of prompts, replies, and the results of checking a reply."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Final, Literal

from judge.types.references import Reference
from judge.types.requests import JudgeRequest

VerdictWord = Literal["Yes", "No", "Partially"]
VERDICT_SENTENCES: Final[Mapping[VerdictWord | None, str]] = {
    "No": "No, you are not being unreasonable.",
    "Yes": "Yes, you are being unreasonable.",
    "Partially": "Partly: you have a point, and so do they.",
    None: "",
}
"""What each word means, since a bare No to "May I stop paying?" is misread; also the headline of a
persona to which the model gave none."""
QuoteStatus = Literal["verified", "none"]
Evidence = Literal["grounded", "weak", "unverified", "missing", "not_applicable", "none"]


@dataclass(frozen=True, slots=True)
class Persona:
    """A role in which the model judges: its name, and a brief that says what it looks at."""

    name: str
    brief: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is given: a system message and a user message, and what they came from."""

    instructions: str
    text: str
    request: JudgeRequest
    references: tuple[Reference, ...] = ()
    personas: tuple[Persona, ...] = ()
    rules: str = ""
    """The instructions without what they repeat of an earlier reply; no reply may copy them."""
    care: tuple[str, ...] = ()
    """The names of the safety rules, of which the reply may name those that it sees."""
    schema: Mapping[str, object] | None = None
    """The JSON schema of the reply; None for the schema of a verdict."""
    addresses: tuple[str, ...] = ()
    """Of the help lines: what a reply may name besides what stands in references and dispute."""
    doubtful: frozenset[int] = frozenset()
    """The numbers of pages that fit, but not clearly; only a model that judges may use them."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the model counted them."""

    input_tokens: int = 0
    """Read."""
    output_tokens: int = 0
    """Written."""
    thinking_tokens: int = 0
    """Spent on thinking."""
    cached_tokens: int = 0
    """Of those read, the ones that the service had cached, which cost less."""

    @classmethod
    def reported(cls, *counts: int | None) -> "Usage":
        """The counts that a service reports, clamped; they may be missing or nonsense."""
        return cls(*(min(max(count or 0, 0), 10**9) for count in counts))

    @property
    def total(self) -> int:
        """All tokens, each of which is paid for."""
        return self.input_tokens + self.output_tokens + self.thinking_tokens

    def __add__(self, other: "Usage") -> "Usage":
        counts = zip(astuple(self), astuple(other), strict=True)
        return Usage(*(one + more for one, more in counts))


Thinking = Literal["minimal", "low", "medium", "high", "off", "model"]
"""How long a model is to think before it answers; `model` leaves it to the service."""

FinishReason = Literal["stop", "truncated", "empty", "recitation", "other"]
"""Why the model stopped; the text is complete only with `stop`."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One reply of a model: its text as sent, why it stopped, and its token usage."""

    text: str
    model: str
    finish: FinishReason = "stop"
    usage: Usage = Usage()
    version: str | None = None
    """The model's name and version as the service reports them."""


@dataclass(frozen=True, slots=True)
class Defect:
    """One broken rule in a reply: its stable name, its place, what was found, what was expected.

    Only a hard defect can lead to an error.
    """

    rule: str
    field: str
    value: str
    expected: str
    is_hard: bool

    @property
    def is_asked_again(self) -> bool:
        """Whether the model is asked again because of it; then no reply that has it is grounded."""
        return self.rule not in {"length", "quote"}  # which are mended, or only told

    @property
    def severity(self) -> Literal["hard", "soft", "mended"]:
        """`mended` for a defect that costs no second call."""
        if self.is_hard:
            return "hard"
        return "soft" if self.is_asked_again else "mended"

    def __str__(self) -> str:
        """The defect in words, without the value, which must not be shown."""
        return f"{self.field} ({self.rule}): expected {self.expected}"


@dataclass(frozen=True, slots=True)
class PersonaVerdict:
    """What one persona says; `verdict` is None only where no model judged."""

    name: str
    """The persona's name."""
    verdict: VerdictWord | None
    """Whether the person is being unreasonable, however they asked; null where no model judged."""
    headline: str
    """A line that answers what was asked, in the person's language; empty where no model judged."""
    rationale: str
    """Its reasons, with numbers for what they cite."""
    key_points: tuple[str, ...]
    """Three short pieces of advice."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A number in the reply's text; offsets count code points in `field`."""

    number: int
    """The reference's."""
    field: str
    """`summary` or `personas.1.rationale`."""
    start: int
    """Where its bracket begins, in code points."""
    end: int
    """Where its bracket ends."""
    quote: str | None
    """Of the sentences named, the one that supports the citing one most; null if none was named."""
    quote_status: QuoteStatus
    """`verified`: the reply named its sentence; `none`: it named none."""
    support: float | None
    """How far those sentences support the citing one, 0 to 1; null under three content words."""
    contradicts: bool = False
    """Whether the citing sentence says the opposite of the sentences named."""


@dataclass(frozen=True, slots=True)
class CheckedField:
    """A part of a reply that is checked and shown by itself, and its defects."""

    name: str
    """`paraphrase`, `personas.0` and so on, or `summary`."""
    value: str | PersonaVerdict
    citations: tuple[Citation, ...] = ()
    defects: tuple[Defect, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """A reply without hard defects: the paraphrase, each persona and the summary, checked."""

    fields: tuple[CheckedField, ...]
    has_references: bool
    """Whether the prompt had any references."""
    references_help: bool
    """Whether any of them bears on the dispute, according to the reply."""
    carries_nothing: bool = False
    """Whether no reference cited surely says anything of what it is cited for."""

    @property
    def paraphrase(self) -> str:
        """The first field."""
        return str(self.fields[0].value)

    @property
    def personas(self) -> tuple[PersonaVerdict, ...]:
        """The fields between the first and the last."""
        return tuple(f.value for f in self.fields if isinstance(f.value, PersonaVerdict))

    @property
    def summary(self) -> str:
        """The last field."""
        return str(self.fields[-1].value)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The citations of the summary, which is read first, then those of the personas."""
        return tuple(citation for field in self._as_read for citation in field.citations)

    @property
    def defects(self) -> tuple[Defect, ...]:
        """All defects, without repeats."""
        return tuple(dict.fromkeys(defect for field in self._as_read for defect in field.defects))

    @property
    def evidence(self) -> Evidence:
        """What the verdict rests on."""
        if not self.has_references:
            return "none"
        if not self.references_help and not self.citations:
            return "not_applicable"
        if not self.fields[-1].citations:
            return "missing"
        if self.carries_nothing:
            return "weak"
        is_verified = all(citation.quote_status == "verified" for citation in self.citations)
        is_sound = not any(defect.is_asked_again for defect in self.defects)
        return "grounded" if is_verified and is_sound else "unverified"

    @property
    def _as_read(self) -> tuple[CheckedField, ...]:
        return (self.fields[-1], *self.fields[:-1])
