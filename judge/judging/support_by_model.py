"""Asks a model whether each citing sentence follows from its source.

With JUDGE_SUPPORT=model the one that judged, in one call for all; with JUDGE_SUPPORT=onnx:FOLDER an
entailment model on this machine; otherwise words are compared. A failure never loses a verdict.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, StrictInt, ValidationError

from judge.citations.claims import find_claims
from judge.citations.marks import find_marks
from judge.errors import ContentBlocked, DeadlineExceeded, ModelUnavailable
from judge.judging.model_caller import Deadline, MeteredModel, ModelCaller
from judge.judging.prompts import INSTRUCTIONS
from judge.judging.verdicts.check import contradiction_defects
from judge.judging.verdicts.reply_schema import INTEGER, array_schema, object_schema, without_fence
from judge.ports import Clock, Entailment, Journal
from judge.text.untrusted import quoted_text
from judge.types.replies import Citation, Prompt
from judge.types.requests import JudgeRequest
from judge.types.results import JudgeResult

Answer = Literal["follows", "partly", "not", "opposite"]

SCORES: Mapping[Answer, float] = {"follows": 1.0, "partly": 0.5, "not": 0.0, "opposite": 0.0}

_ANSWER = {"type": "string", "enum": list(SCORES)}
_SCHEMA = object_schema(answers=array_schema(object_schema(number=INTEGER, answer=_ANSWER)))


class ClaimAnswer(BaseModel):
    """The model's answer about one claim."""

    number: StrictInt
    answer: Answer


class ClaimAnswers(BaseModel):
    """The model's whole reply."""

    answers: tuple[ClaimAnswer, ...]


SupportRater = Callable[[JudgeResult, JudgeRequest, Deadline], Awaitable[JudgeResult]]
"""Rates the citations of a verdict, which has some; on failure they stay as they are."""


async def rate_by_model(
    caller: ModelCaller, result: JudgeResult, request: JudgeRequest, deadline: Deadline
) -> JudgeResult:
    """*result* with `support` and `contradicts` of each citation from the model's answers."""
    model = MeteredModel(caller, deadline, event="support.replied")
    cited = sorted({citation.number for citation in result.citations})
    lines = [f"source {n}: {quoted_text(result.references[n - 1].text)}" for n in cited]
    lines += [
        f"claim {nth}, of source {citation.number}: {quoted_text(claim)}"
        for nth, (citation, claim) in enumerate(_claims(result), start=1)
    ]
    prompt = Prompt(INSTRUCTIONS["support"], "\n".join(lines) + "\n", request, schema=_SCHEMA)
    answers: dict[int, Answer] = {}
    try:
        reply = await model.ask(prompt)
        parsed = ClaimAnswers.model_validate_json(without_fence(reply.text))
        answers = {item.number: item.answer for item in parsed.answers}
    except (ModelUnavailable, DeadlineExceeded, ContentBlocked, ValidationError) as error:
        caller.journal.note("support.unavailable", reason=type(error).__name__)
    citations = [
        replace(one, support=SCORES[answer], contradicts=answer == "opposite")
        if (answer := answers.get(nth))
        else one
        for nth, one in enumerate(result.citations, start=1)
    ]
    return replace(_rated(result, citations), usage=result.usage + model.usage)


def _rated(result: JudgeResult, citations: Sequence[Citation]) -> JudgeResult:
    """*result* with *citations*, and the warnings about contradictions that belong to them."""
    before = {str(defect) for defect in contradiction_defects(result.citations)}
    now = dict.fromkeys(str(defect) for defect in contradiction_defects(citations))
    warnings = (*now, *(warning for warning in result.warnings if warning not in before))
    return replace(result, citations=tuple(citations), warnings=warnings)


def _claims(result: JudgeResult) -> list[tuple[Citation, str]]:
    """Each citation with the claim that it supports."""
    texts = {"summary": result.summary}
    for at, persona in enumerate(result.personas):
        texts[f"personas.{at}.headline"] = persona.headline
        texts[f"personas.{at}.rationale"] = persona.rationale
    claims = {
        (field, claim.mark.start): claim.text
        for field, text in texts.items()
        for claim in find_claims(text, find_marks(text))
    }
    return [(c, claims[c.field, c.start]) for c in result.citations]


MAX_ENTAILED = 0.1
MIN_SHARED = 0.5
"""A sentence that shares so much with its source and is so little entailed says the opposite. What
is merely not said is little entailed too, but shares few words."""


async def rate_by_entailment(
    model: Entailment,
    clock: Clock,
    journal: Journal,
    result: JudgeResult,
    _: JudgeRequest,
    deadline: Deadline,
) -> JudgeResult:
    """*result*, `support` lowered to the *model*'s, and `contradicts` set where words agree."""
    pairs = [(result.references[c.number - 1].text, claim) for c, claim in _claims(result)]
    try:
        async with asyncio.timeout(max(deadline.at - clock.monotonic(), 0.0)):
            entailed = await model.entailed(pairs)
    except (ModelUnavailable, TimeoutError) as error:
        journal.note("support.unavailable", reason=type(error).__name__)
        return result
    return _rated(result, [*map(_lowered, result.citations, entailed)])


def _lowered(citation: Citation, entailed: float) -> Citation:
    if citation.support is None:
        return citation
    is_opposite = entailed <= MAX_ENTAILED and citation.support >= MIN_SHARED
    return replace(
        citation,
        support=round(min(citation.support, entailed), 3),
        contradicts=citation.contradicts or is_opposite,
    )
