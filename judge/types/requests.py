"""Data types of a request, and of the domain detected for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any
from unicodedata import category

from pydantic import BeforeValidator, Field, StrictBool, StringConstraints, model_validator

from judge.types.request_fields import BadFields, FieldError, StrictModel

DEFAULT_DOMAIN = "default"
"""The name for "no domain was detected": a page is then offered only if it clearly fits."""

MAX_SCOPE = 2000
"""Characters of a scope; more names than that are a mistake."""

FOLLOW_UP = "followUpResponses"
"""What some frontends send beside `context`: what the person typed in answer to questions."""

_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""They show nothing, although their category does not say so."""


def _without_invisible(text: object) -> object:
    """*text* without characters that show nothing, which would count; NUL is refused later."""
    if not isinstance(text, str) or text.isascii():
        return text
    hidden = {
        ord(c): None
        for c in set(text)
        if c in _FILLERS or (category(c)[0] == "C" and c != "\0" and not c.isspace())
    }
    return text.translate(hidden)


Visible = BeforeValidator(_without_invisible)
Context = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=10, max_length=8000), Visible
]
Query = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=5, max_length=1000), Visible
]
ScopeText = Annotated[str, StringConstraints(max_length=MAX_SCOPE)]


def _or_none(scope: object) -> object:
    """None for a blank *scope*: a form or a shell left it empty, so it asks for no documents."""
    return None if isinstance(scope, str) and not scope.strip() else scope


class JudgeRequest(StrictModel):
    """A dispute and the question about it; lengths are in code points after trimming."""

    # Not as docstrings, for which pydantic would search all modules at each start.
    context: Context = Field(
        description="What happened, in the person's words: 10 to 8000 characters after trimming."
    )
    query: Query = Field(description="What they ask about it: 5 to 1000 characters after trimming.")
    domain: str | None = Field(
        None, description="A name from `/api/domains`, or `default` for none; else it is detected."
    )
    scope: Annotated[ScopeText | None, BeforeValidator(_or_none)] = Field(
        None, description="Where to find indexed documents to cite too, such as `@collection:a`."
    )
    hear_other_side: StrictBool = Field(
        default=False,
        description="Whether the other side's account is judged too; two more model calls.",
    )

    @model_validator(mode="before")
    @classmethod
    def _with_follow_up(cls, fields: object) -> object:
        """What was typed in answer to questions is part of what happened."""
        if not isinstance(fields, dict) or FOLLOW_UP not in fields:
            return fields
        rest = {name: value for name, value in fields.items() if name != FOLLOW_UP}
        context, texts = rest.get("context"), [*_texts(fields[FOLLOW_UP])]
        if isinstance(context, str):
            rest["context"] = "\n".join([context, *texts])
        return rest


def _texts(sent: Any) -> Iterator[str]:
    """The texts of FOLLOW_UP; raises BadFields for a shape in which something would be lost."""
    entries = sent if isinstance(sent, list) else [] if sent is None else [sent]
    for entry in entries:
        is_object = isinstance(entry, dict) and isinstance(sent, list)
        texts: list[Any] = [*entry.values()] if is_object else [entry]
        typed = [text for text in texts if isinstance(text, str)]
        # Ids, numbers and answers that were not given stand beside texts in an object.
        if not typed or any(isinstance(text, list | dict) for text in texts):
            expected = "must be a text, a list of texts, or a list of objects with texts"
            raise BadFields([FieldError(FOLLOW_UP, expected)])
        yield from typed


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
    """The domain chosen (or `default`), the ranking behind it, and the score that was needed."""

    domain: str
    scores: tuple[DomainScore, ...]
    needed: float = 0.0
