"""Evaluators: each answers one yes-or-no question about an answer, and gives reasons for a no.

A case names them under `evaluators`; all other keys of `expected`, such as `summary_matches`, are
checked in `differences.py`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from judge.text.english import words
from judge.types.replies import VerdictWord
from judge.types.request_fields import bad_fields_of

Yes = Literal[True, 1]
"""The type of `wanted` for evaluators without a parameter: a case says `true`."""

Phrase = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Words that a text must or must not contain; an empty phrase stands in every text."""

Body = Mapping[str, Any]
"""The body of a 200 reply, as JSON."""

Complaints = Iterable[str]
"""The reasons for a no; none for a yes."""

_ADDRESS = frozenset("you your yours yourself you're you've you'd you'll".split())
_LEGAL_ADVICE = re.compile(
    r"\b(?:you (?:should|must) sue|you will win (?:in court|the case)|as your lawyer)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Evaluator:
    """One question. `find` takes a body and the parameter that the case gives."""

    question: str
    parameter: Any
    """The type of the parameter."""

    find: Callable[[Body, Any], Complaints]

    def expected(self, wanted: object) -> object:
        """What is expected, for reports: the parameter, or just a yes."""
        return "yes" if self.parameter == Yes else wanted


def _if_not(question: str, test: Callable[[Body], object], complaint: str) -> Evaluator:
    """Says no where *test* of a body is false; *complaint* may format fields of the body."""
    return Evaluator(
        question, Yes, lambda body, _: [] if test(body) else [complaint.format_map(body)]
    )


def evaluate(name: str, body: Body, wanted: object) -> str:
    """Why the evaluator *name* says no; empty when it says yes."""
    return "; ".join(EVALUATORS[name].find(body, wanted))


def checked_questions(questions: Mapping[str, Any]) -> Mapping[str, Any]:
    """*questions*, if each evaluator exists and its parameter is valid; raises ValueError."""
    for name, wanted in questions.items():
        if name not in EVALUATORS:
            known = ", ".join(EVALUATORS)
            raise ValueError(f"must be known: there is no evaluator {name!r}, there are {known}")
        try:
            TypeAdapter(EVALUATORS[name].parameter).validate_python(wanted, strict=True)
        except ValidationError as error:
            [wrong, *_] = bad_fields_of(error).errors
            place = name if wrong.field == "body" else f"{name}.{wrong.field}"
            raise ValueError(f"cannot ask: {place} {wrong.message}") from None
    return questions


def _prose(body: Body) -> Iterator[tuple[str, str]]:
    """Field and text of all prose that a reader sees."""
    yield "paraphrase", body["paraphrase"]
    yield "summary", body["summary"]
    for index, persona in enumerate(body["personas"]):
        yield f"personas.{index}.rationale", persona["rationale"]
        for point, text in enumerate(persona["key_points"]):
            yield f"personas.{index}.key_points.{point}", text


def _no_citation(body: Body, _: object) -> Complaints:
    marks = [body["summary"][c["start"] : c["end"]] for c in _in_summary(body)]
    return [f"{len(body['citations'])} citations {' '.join(marks)}"] if body["citations"] else []


def _in_summary(body: Body) -> list[Body]:
    return [c for c in body["citations"] if c["field"] == "summary"]


def _every_citation_verified(body: Body, _: object) -> Complaints:
    unverified = [c for c in body["citations"] if c["quote_status"] != "verified"]
    return [f"[{c['number']}] in {c['field']} is {c['quote_status']}" for c in unverified]


def _no_contradiction(body: Body, _: object) -> Complaints:
    return [f"[{c['number']}] in {c['field']}" for c in body["citations"] if c["contradicts"]]


def _verdict_is(body: Body, wanted: Mapping[str, Sequence[str] | str]) -> Complaints:
    verdicts = {persona["name"]: persona["verdict"] for persona in body["personas"]}
    wrong = [
        f"{name}: {verdicts.get(name)}"
        for name, right in wanted.items()
        if verdicts.get(name) not in ([right] if isinstance(right, str) else right)
    ]
    return [", ".join(wrong)] if wrong else []


def _mentions(body: Body, wanted: Sequence[str]) -> Complaints:
    prose = " ".join(text for _, text in _prose(body)).casefold()
    missing = [phrase for phrase in wanted if phrase.casefold() not in prose]
    return [f"nothing of {', '.join(missing)}"] if missing else []


def _avoids(body: Body, unwanted: Sequence[str]) -> Complaints:
    return [
        f"{phrase} in {field}"
        for field, text in _prose(body)
        for phrase in unwanted
        if phrase.casefold() in text.casefold()
    ]


def _words_at_most(body: Body, limits: Mapping[str, int]) -> Complaints:
    for field, text in _prose(body):
        limit = limits.get(field.rpartition(".")[2])
        if limit is not None and len(words(text)) > limit:
            yield f"{len(words(text))} words in {field}"


def _gives_no_legal_advice(body: Body, _: object) -> Complaints:
    return [f"{m.group()} in {f}" for f, text in _prose(body) for m in _LEGAL_ADVICE.finditer(text)]


def _supported(body: Body, least: float) -> Complaints:
    low = [c for c in body["citations"] if c["support"] is not None and c["support"] < least]
    return [f"[{c['number']}] in {c['field']}: {c['support']}" for c in low]


def _both_sides_hold(body: Body, _: object) -> Complaints:
    other = body.get("other_side")
    if not other or other["agrees"] is None:
        return [f"the other side was not heard: {other['note'] if other else 'nobody asked'}"]
    return [] if other["agrees"] else ["both sides are told that they are right"]


_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_Limited = Literal["paraphrase", "summary", "rationale"]
_Verdicts = dict[str, VerdictWord | list[VerdictWord]]

EVALUATORS: Mapping[str, Evaluator] = {
    "cites_something": _if_not("Is anything cited?", lambda body: body["citations"], "no citation"),
    "summary_cites": _if_not(
        "Does the summary cite something?", _in_summary, "no citation in the summary"
    ),
    "no_citation": Evaluator("Is nothing cited?", Yes, _no_citation),
    "every_citation_verified": Evaluator(
        "Does every citation name a sentence that it rests on?", Yes, _every_citation_verified
    ),
    "no_contradiction": Evaluator(
        "Does no sentence say the opposite of what it cites?", Yes, _no_contradiction
    ),
    "declines_references": _if_not(
        "Are the references said not to help, and none cited?",
        lambda body: body["evidence"] == "not_applicable",
        "evidence is {evidence}",
    ),
    "citations_supported": Evaluator(
        "Is each citing sentence supported at least this far by what it cites?", _Share, _supported
    ),
    "verdict_is": Evaluator("Is this the verdict?", _Verdicts, _verdict_is),
    "mentions": Evaluator("Is each of these mentioned?", list[Phrase], _mentions),
    "avoids": Evaluator("Is none of these said?", list[Phrase], _avoids),
    "words_at_most": Evaluator(
        "Is each text short enough, in words?", dict[_Limited, int], _words_at_most
    ),
    "addresses_you": _if_not(
        "Does the summary speak to the person?",
        lambda body: _ADDRESS & set(words(body["summary"])),
        "the summary speaks to nobody",
    ),
    "gives_no_legal_advice": Evaluator(
        "Is nobody told to sue or promised to win?", Yes, _gives_no_legal_advice
    ),
    "both_sides_hold": Evaluator(
        "Is the other side heard, and are not both told that they are right?", Yes, _both_sides_hold
    ),
    "offers_help": _if_not("Are help lines given?", lambda body: body["help"], "no help line"),
}
"""By the name that a case uses."""
