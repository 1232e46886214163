"""Reads the complete fields of a reply that is still being written, and checks each.

The rules are those of the finished reply, so that nothing is shown that the final check would
reject.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, StrictBool
from pydantic_core import from_json

from judge.judging.verdicts.check import (
    CheckContext,
    SettledFields,
    check_field,
    settled_references_help,
)
from judge.judging.verdicts.reply_schema import (
    Paraphrase,
    PersonaBody,
    Prose,
    QuoteBodies,
    empty_if_none,
    matches_persona,
    parse_object,
    without_opening_fence,
)
from judge.judging.verdicts.rules import ReplyField, paraphrase_field, persona_field, summary_field
from judge.types.replies import CheckedField, Prompt
from judge.types.request_fields import OrNone


class PartialBody(BaseModel):
    """The complete members of a reply; None for one that is missing or has the wrong shape."""

    paraphrase: OrNone[Paraphrase] = None
    references_help: OrNone[StrictBool] = None
    quotes: Annotated[OrNone[QuoteBodies], BeforeValidator(empty_if_none)] = None
    personas: OrNone[tuple[OrNone[PersonaBody], ...]] = None
    summary: OrNone[Prose] = None


@dataclass(frozen=True, slots=True)
class ReplyReader:
    """Reads replies to a prompt while they are written; fields shown before stay `settled`."""

    prompt: Prompt
    settled: SettledFields
    needs_verdicts: bool

    def fields(self, text: str, *, done: Container[str], is_whole: bool) -> Iterator[CheckedField]:
        """The fields of *text* that can be checked by now, in order, without those *done*.

        Until *text* *is_whole*, a field waits until all before it are complete, and a field that
        may cite also until `references_help` and `quotes` are known.
        """
        members = _all_members(text) if is_whole else complete_members(text)
        body = PartialBody.model_validate(members)
        context = self._context(body)
        complete = _names(members)
        for name, field in self._fields(body):
            if not is_whole and name not in complete:
                return
            if field is None or name in done or (context is None and field.citing):
                continue
            yield check_field(field, context or CheckContext(self.prompt))

    def _context(self, body: PartialBody) -> CheckContext | None:
        """What a field is checked against; None while that is not known."""
        references = self.prompt.references
        helps = settled_references_help(self.settled, references)
        helps = body.references_help if helps is None else helps
        if references and (helps is None or body.quotes is None):
            return None
        return CheckContext(self.prompt, bool(helps), body.quotes or ())

    def _fields(self, body: PartialBody) -> Iterator[tuple[str, ReplyField | None]]:
        """Each field by name; None for one that is missing or has the wrong shape."""
        yield "paraphrase", paraphrase_field(body.paraphrase) if body.paraphrase else None
        bodies = body.personas or ()
        for index, persona in enumerate(self.prompt.personas):
            member = bodies[index] if index < len(bodies) else None
            if member and not matches_persona(persona, member, needs_verdict=self.needs_verdicts):
                member = None
            yield f"personas.{index}", persona_field(index, persona, member) if member else None
        yield "summary", summary_field(body.summary) if body.summary else None


def complete_members(text: str) -> dict[str, Any]:
    """The members of the JSON object that *text* begins with, without those that may still grow.

    The last member is left out, except for the complete entries of "personas".

    >>> complete_members('{"paraphrase": "It is cold.", "personas": [{"name": "A"}, {"name": "B')
    {'paraphrase': 'It is cold.', 'personas': [{'name': 'A'}]}
    """
    opened = without_opening_fence(text)
    begun = _parsed(opened, "trailing-strings")
    if not begun:
        return {}
    last = next(reversed(begun))
    # Parsed without unfinished strings: a repeated name may have had a complete value before.
    closed = _parsed(opened, "on")
    members = {name: value for name, value in closed.items() if name != last}
    if last == "personas" and isinstance(closed.get(last), list):
        members[last] = closed[last][:-1]
    return members


def _all_members(text: str) -> dict[str, Any]:
    """The members of the finished reply *text*; empty if it is not a JSON object."""
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
