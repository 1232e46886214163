"""Hears the other side after the verdict: retells the dispute as they would, and judges that.

No fact may be added or left out by the retelling, and nothing here loses the verdict. `No` means
that whoever tells the story is right; a `No` to both sides adds a warning.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ValidationError

from judge.errors import (
    BudgetSpent,
    ContentBlocked,
    DeadlineExceeded,
    InvalidReply,
    JudgeError,
    ModelUnavailable,
)
from judge.judging.model_caller import MeteredModel, ModelCaller
from judge.judging.prompts import INSTRUCTIONS, dispute_block
from judge.judging.results import PreparedRequest
from judge.judging.story_facts import changed_facts
from judge.judging.verdicts.check import check_reply, cut
from judge.judging.verdicts.reply_schema import (
    PARAPHRASE_LIMIT,
    TEXT,
    object_schema,
    without_fence,
)
from judge.library.dispute import fold
from judge.text.english import fold_space, strip_text
from judge.types.replies import Defect, ModelReply, Prompt, VerdictWord
from judge.types.requests import Context, JudgeRequest, Query
from judge.types.results import JudgeResult, OtherSide, OtherVerdict

_SHAPE = 'it was not one JSON object with "retelling" and "query" of the lengths asked for'

_SCHEMA = object_schema(retelling=TEXT, query=TEXT)
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours)\b")
_MAX_NAMED = 20
"""The most changed facts that a retry names; with more it is a different story."""

RIGHT: VerdictWord = "No"
"""The answer to "is the person being unreasonable?", however the person asks."""

RESERVE_S = 0.5
"""Seconds before the deadline at which this stops, so that the first verdict is sent in time."""

NO_MODEL = "No language model has judged this, so the other side is not heard."
NEEDS_CARE = "Where somebody may be in danger the other side is not heard."
OUR_FAULT = "Something went wrong here while the other side was heard."
_FAILURES: Mapping[type[JudgeError], str] = {
    DeadlineExceeded: "There was no time left to hear the other side.",
    BudgetSpent: "Today's tokens are spent, so the other side was not heard.",
    ModelUnavailable: "The model did not answer, so the other side was not heard.",
    ContentBlocked: "The model's safety filter did not let the other side be heard.",
    InvalidReply: "The verdict for the other side broke our rules twice and is not shown.",
}


async def hear_other_side(
    result: JudgeResult, prepared: PreparedRequest, caller: ModelCaller
) -> JudgeResult:
    """*result* with `other_side` set; its `note` says why if the other side was not heard."""
    if result.personas[0].verdict is None:
        return replace(result, other_side=OtherSide.unheard(NO_MODEL))
    if prepared.needs_care:
        return replace(result, other_side=OtherSide.unheard(NEEDS_CARE))
    reserve_s = min(RESERVE_S, prepared.deadline.total_s / 10)
    deadline = replace(prepared.deadline, at=prepared.deadline.at - reserve_s)
    model = MeteredModel(caller, deadline, event="other_side.replied")
    warnings, retelling = result.warnings, ""
    try:
        retold = await retell(prepared.request, model)
        retelling = retold.context
        verdicts = await _verdicts(replace(prepared, request=retold), model)
    except Exception as error:  # noqa: BLE001 - nothing here may cost the verdict
        caller.journal.note("other_side.unheard", reason=type(error).__name__)
        notes = (note for kind, note in _FAILURES.items() if isinstance(error, kind))
        told = str(error) if isinstance(error, CannotRetell) else next(notes, OUR_FAULT)
        other_side = OtherSide.unheard(told, retelling)
        warnings = (*warnings, told)
    else:
        # No other pair contradicts itself: both sides may be wrong, or each in part.
        both = zip(result.personas, verdicts)
        right = [one.name for one, other in both if one.verdict == other.verdict == RIGHT]
        caller.journal.note("other_side.heard", agrees=not right)
        other_side = OtherSide(retelling, verdicts, not right, note="")
        if right:
            who = " and ".join(filter(None, (", ".join(right[:-1]), right[-1])))
            contradiction = (
                f"Both sides are told that they are right, by {who}: the verdict follows whoever "
                "tells the story, so do not rely on it."
            )
            warnings = (contradiction, *warnings)
    usage = result.usage + model.usage
    return replace(result, other_side=other_side, warnings=warnings, usage=usage)


async def _verdicts(prepared: PreparedRequest, model: MeteredModel) -> tuple[OtherVerdict, ...]:
    """The verdicts on the retold story; after a reply with a hard defect the model is asked again.

    Raises InvalidReply after two such replies, and what `MeteredModel.ask` raises.
    """
    defects: tuple[Defect, ...] = ()
    doubles_limit = False
    for _ in range(2):
        prompt = prepared.prompt(defects, is_brief=True)
        reply = await model.ask(prompt, doubles_limit=doubles_limit)
        checked = check_reply(reply, prompt)
        if checked.reply is not None:
            return tuple(
                OtherVerdict(p.name, p.verdict, cut(fold_space(p.rationale), PARAPHRASE_LIMIT))
                for p in checked.reply.personas
                if p.verdict is not None
            )
        defects, doubles_limit = checked.defects, reply.finish == "truncated"
    raise InvalidReply((), defects)


class CannotRetell(JudgeError):
    """The model's retelling cannot be used; the text says why, without quoting it."""


class RetoldDispute(BaseModel):
    """The dispute in the words of the other side."""

    retelling: Annotated[Context, BeforeValidator(strip_text)]
    query: Annotated[Query, BeforeValidator(strip_text)]


async def retell(request: JudgeRequest, model: MeteredModel) -> JudgeRequest:
    """*request* as the other side would make it; the model is asked twice at most.

    Words of the dispute are in the message only, never in the instructions. Raises CannotRetell,
    ContentBlocked, ModelUnavailable and DeadlineExceeded.
    """
    instructions, lines = INSTRUCTIONS["retell"], dispute_block(request)
    was_truncated, why = False, ""
    for _ in range(2):
        prompt = Prompt(instructions, "\n".join(lines) + "\n", request, schema=_SCHEMA)
        reply = await model.ask(prompt, doubles_limit=was_truncated)
        was_truncated = reply.finish == "truncated"
        try:
            return _parse(reply, request)
        except CannotRetell as wrong:
            why, *named = wrong.args
        instructions = f"{INSTRUCTIONS['retell']}\n\n{INSTRUCTIONS['retell_again']}"
        problems = [f"- {problem}" for problem in named[:_MAX_NAMED] or [why]]
        lines = [*dispute_block(request), "Wrong with your last answer:", *problems]
    raise CannotRetell(f"The model's retelling for the other side cannot be used: {why}.")


def _parse(reply: ModelReply, request: JudgeRequest) -> JudgeRequest:
    """The retold request in *reply*; raises CannotRetell with what is wrong, and each fact."""
    try:
        retold = RetoldDispute.model_validate_json(without_fence(reply.text))
    except ValidationError:
        retold = None
    if retold is None or reply.finish != "stop":
        raise CannotRetell(_SHAPE)
    if fold(retold.retelling) == fold(request.context):
        raise CannotRetell("it was the story as it stands, not told by the other side")
    if not _FIRST_PERSON.search(fold(retold.retelling)):
        raise CannotRetell("it was not told in the first person")
    before = f"{request.context}\n{request.query}"
    if changed := changed_facts(before, f"{retold.retelling}\n{retold.query}"):
        raise CannotRetell("it changed facts", *map(str, changed))
    fields = {"context": retold.retelling, "query": retold.query, "hear_other_side": False}
    return request.model_copy(update=fields)
