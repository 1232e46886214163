"""Data types of a request, and of the domain detected for it."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import ConfigDict, StrictBool, StringConstraints, model_validator

from judge.types.request_fields import StrictModel

DEFAULT_DOMAIN = "default"
"""The name for "no domain was detected": a page is then offered only if it clearly fits."""

MAX_SCOPE = 2000
"""Characters of a scope; more names than that are a mistake."""

IGNORED = "followUpResponses"
"""A field that the first frontends send; it may contain anything and is ignored."""

Context = Annotated[str, StringConstraints(strip_whitespace=True, min_length=10, max_length=8000)]
Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=5, max_length=1000)]
ScopeText = Annotated[str, StringConstraints(max_length=MAX_SCOPE)]


class JudgeRequest(StrictModel):
    """A dispute and the question about it; lengths are in code points after trimming."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    context: Context
    """What happened, in the person's own words: 10 to 8000 characters after trimming."""
    query: Query
    """What they ask about it: 5 to 1000 characters after trimming."""
    domain: str | None = None
    """A name from `/api/domains` or `judge://domains`, or `default` for none; else detected."""
    scope: ScopeText | None = None
    """Cites indexed documents too, and says where to look for them, such as `@collection:a`."""
    hear_other_side: StrictBool = False
    """Whether the same facts, told by the other side, are judged too; two more model calls."""

    @model_validator(mode="before")
    @classmethod
    def _without_ignored(cls, fields: object) -> object:
        if isinstance(fields, dict):
            return {name: value for name, value in fields.items() if name != IGNORED}
        return fields


@dataclass(frozen=True, slots=True)
class DomainScore:
    """How well one domain fits, and the terms of the text that say so."""

    domain: str
    """Its name."""
    score: float
    """How well it fits; 3 decides alone."""
    matched: tuple[str, ...]
    """The terms found in the text."""


@dataclass(frozen=True, slots=True)
class Detection:
    """The domain chosen (or `default`), the ranking behind it, best first, and the score needed.

    Nothing is needed where the request names its domain.
    """

    domain: str
    scores: tuple[DomainScore, ...]
    needed: float = 0.0
