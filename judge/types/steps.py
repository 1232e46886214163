"""The steps of a judgement, reported while it goes on."""

from collections.abc import Callable
from dataclasses import dataclass

from judge.types.references import Reference
from judge.types.replies import Citation, Defect, PersonaVerdict
from judge.types.requests import DomainScore


@dataclass(frozen=True, slots=True)
class DomainDetected:
    """First: which domain the dispute is about."""

    domain: str
    domain_scores: tuple[DomainScore, ...]


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
    """For each field of a reply, as soon as it is complete and if it breaks no rule."""

    name: str
    """`paraphrase`, `personas.0` and so on, or `summary`."""
    value: str | PersonaVerdict
    """As it will stand in the verdict, unless a restart lets it fall."""
    citations: tuple[Citation, ...]
    """Its own."""


@dataclass(frozen=True, slots=True)
class Restarted:
    """When a reply is asked again, or begins anew: what was wrong with it, and what stays.

    There is no defect where a connection broke or another model took over.
    """

    defects: tuple[Defect, ...]
    keeps: tuple[str, ...] = ()
    """The names of the fields reported so far that still hold; all others are withdrawn."""


@dataclass(frozen=True, slots=True)
class SupportAsked:
    """When the model is asked about the citations of its verdict: how many there are."""

    citations: int


Step = DomainDetected | ReferencesReady | AttemptStarted | FieldChecked | Restarted | SupportAsked
"""Any step of a judgement."""


Emit = Callable[[Step], None]
"""Receives each step; it must return at once."""
