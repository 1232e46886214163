"""Data types of the steps of a judgement, which are reported while it runs."""

from collections.abc import Callable
from dataclasses import dataclass

from judge.types.references import Reference
from judge.types.replies import Citation, Defect, PersonaVerdict
from judge.types.requests import DomainScore


@dataclass(frozen=True, slots=True)
class DomainDetected:
    """The first step: which domain the dispute is about."""

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
    """For each field of a reply that breaks no rule, as soon as it is complete."""

    name: str
    """`paraphrase`, `personas.0` and so on, or `summary`."""
    value: str | PersonaVerdict
    """As it will be in the verdict, unless a restart withdraws it."""
    citations: tuple[Citation, ...]
    """The citations in this field."""


@dataclass(frozen=True, slots=True)
class Restarted:
    """When the model is asked again, or its reply starts over: the defects, and what stays.

    There are no defects when a connection broke or another model took over.
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
