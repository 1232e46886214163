"""The fields of a reply that is still being written: those that are complete and break no rule.

Each is held against the rules of the whole reply, so that nothing is shown which the last check
would reject.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    StrictBool,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import from_json

from judge.judging.verdicts.check import CheckContext, Settled, check_field, settled_help
from judge.judging.verdicts.reply_schema import (
    Paraphrase,
    PersonaBody,
    Pointers,
    Prose,
    is_said_by,
    parse_object,
    without_opening_fence,
)
from judge.judging.verdicts.rules import ReplyField, paraphrase_field, persona_field, summary_field
from judge.types.replies import CheckedField, Persona, Prompt

T = TypeVar("T")


def _none_if_wrong(value: object, handler: ValidatorFunctionWrapHandler) -> Any:
    try:
        return handler(value)
    except ValidationError:
        return None


OrNone = Annotated[T | None, WrapValidator(_none_if_wrong)]


class PartialBody(BaseModel):
    """The complete members of a reply; None for one that is not there or has the wrong shape."""

    paraphrase: OrNone[Paraphrase] = None
    references_help: OrNone[StrictBool] = None
    quotes: OrNone[Pointers] = None
    personas: OrNone[tuple[OrNone[PersonaBody], ...]] = None
    summary: OrNone[Prose] = None


@dataclass(frozen=True, slots=True)
class ReplyReader:
    """Reads replies to a prompt while they are written; what is settled counts as said."""

    prompt: Prompt
    personas: Sequence[Persona]
    settled: Settled
    needs_verdicts: bool

    def fields(self, text: str, *, done: Container[str], is_whole: bool) -> Iterator[CheckedField]:
        """The fields of *text* that can be checked, in their order, but for those *done*.

        Until it *is_whole*, none is given before those that stand before it are complete, and
        none but the paraphrase before it is known what is cited.
        """
        members = _all_members(text) if is_whole else complete_members(text)
        body = PartialBody.model_validate(members)
        context = self._context(body)
        complete = _names(members)
        for name, field in self._said(body):
            if not is_whole and name not in complete:
                return
            if field is None or name in done or (context is None and field.citing):
                continue
            yield check_field(field, context or CheckContext(self.prompt, helps=False, pointers=()))

    def _context(self, body: PartialBody) -> CheckContext | None:
        """What a field is held against, None while that is not known."""
        references = self.prompt.references
        helps = settled_help(self.settled, references)
        helps = body.references_help if helps is None else helps
        if references and (helps is None or body.quotes is None):
            return None
        return CheckContext(self.prompt, bool(helps), body.quotes or ())

    def _said(self, body: PartialBody) -> Iterator[tuple[str, ReplyField | None]]:
        """The name of each field, and what it says; None when that has the wrong shape."""
        yield "paraphrase", paraphrase_field(body.paraphrase) if body.paraphrase else None
        voices = body.personas or ()
        for index, persona in enumerate(self.personas):
            said = voices[index] if index < len(voices) else None
            if said and not is_said_by(persona, said, needs_verdict=self.needs_verdicts):
                said = None
            yield f"personas.{index}", persona_field(index, persona, said) if said else None
        yield "summary", summary_field(body.summary) if body.summary else None


def complete_members(text: str) -> dict[str, Any]:
    """The members of the object that *text* begins with, without what may still grow.

    Of the last one nothing is given, but for the entries of "personas" that are complete.

    >>> complete_members('{"paraphrase": "It is cold.", "personas": [{"name": "A"}, {"name": "B')
    {'paraphrase': 'It is cold.', 'personas': [{'name': 'A'}]}
    """
    opened = without_opening_fence(text)
    begun = _parsed(opened, "trailing-strings")
    if not begun:
        return {}
    last = next(reversed(begun))
    # Without strings that are still open: the last name may have stood there before.
    closed = _parsed(opened, "on")
    members = {name: value for name, value in closed.items() if name != last}
    if last == "personas" and isinstance(closed.get(last), list):
        members[last] = closed[last][:-1]
    return members


def _all_members(text: str) -> dict[str, Any]:
    """The members of the whole reply *text*, none when it is not one."""
    document, _ = parse_object(text)
    return {"references_help": True, "quotes": []} | document if document else {}


def _parsed(text: str, partial: Literal["on", "trailing-strings"]) -> dict[str, Any]:
    try:
        document = from_json(text, allow_partial=partial, allow_inf_nan=False)
    except (ValueError, TypeError):
        return {}
    return document if isinstance(document, dict) else {}


def _names(members: Mapping[str, Any]) -> set[str]:
    """The names of the fields that *members* hold."""
    personas = members.get("personas")
    count = len(personas) if isinstance(personas, list) else 0
    return members.keys() | {f"personas.{index}" for index in range(count)}
