"""After the verdict: the other side's telling, judged too. Nothing here can cost the verdict.

`No` tells whoever tells the story that they are right; hearing it from both sides is a warning.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from judge.errors import (
    BudgetSpent,
    ContentBlocked,
    DeadlineExceeded,
    InvalidReply,
    JudgeError,
    ModelUnavailable,
)
from judge.judging.model_caller import Deadline, MeteredModel, ModelCaller
from judge.judging.other_side.retelling import CannotRetell, retell
from judge.judging.prompts.render import render_prompt
from judge.judging.run_context import RunContext
from judge.judging.verdicts.check import check_reply
from judge.text.english import fold_space, sentences
from judge.types.replies import Defect, PersonaVerdict, VerdictWord
from judge.types.results import JudgeResult, OtherSide, OtherVerdict

RIGHT: VerdictWord = "No"
"""To "is the person being unreasonable?", which every verdict answers however they ask."""

RESERVE_S = 0.5
"""Seconds kept back at the end of the request's time, so that the first verdict leaves in it."""

LINE_LIMIT = 240
"""Characters of one line of reasons, as of a paraphrase."""

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


async def hear_other_side(result: JudgeResult, run: RunContext, caller: ModelCaller) -> JudgeResult:
    """*result* with what the other side is told; `note` says why, where they were not heard."""
    if result.personas[0].verdict is None:
        return replace(result, other_side=OtherSide.unheard(NO_MODEL))
    if run.safety.needs_care:
        return replace(result, other_side=OtherSide.unheard(NEEDS_CARE))
    model = MeteredModel(caller, _sooner(run.deadline), event="other_side.replied")
    other_side = await _other_side(result, run, model)
    return replace(
        result,
        other_side=other_side,
        warnings=_warnings(result, other_side),
        usage=result.usage + model.usage,
    )


def _sooner(deadline: Deadline) -> Deadline:
    return replace(deadline, at=deadline.at - min(RESERVE_S, deadline.total_s / 10))


async def _other_side(result: JudgeResult, run: RunContext, model: MeteredModel) -> OtherSide:
    """What came of it, with a note where something failed."""
    retelling = ""
    try:
        retold = await retell(run.request, model)
        retelling = retold.context
        verdicts = await _verdicts(replace(run, request=retold), model)
    except Exception as error:  # noqa: BLE001 - nothing here may cost the verdict
        model.caller.journal.note("other_side.unheard", reason=type(error).__name__)
        return OtherSide.unheard(_note(error), retelling)
    agrees = not right_with_both(result.personas, verdicts)
    model.caller.journal.note("other_side.heard", agrees=agrees)
    return OtherSide(retelling, verdicts, agrees, note="")


def _note(error: Exception) -> str:
    if isinstance(error, CannotRetell):
        return str(error)
    return next((note for kind, note in _FAILURES.items() if isinstance(error, kind)), OUR_FAULT)


async def _verdicts(run: RunContext, model: MeteredModel) -> tuple[OtherVerdict, ...]:
    """The verdicts on the story of *run*; a reply with a hard defect is asked again once.

    Raises InvalidReply and what the model raises.
    """
    personas, has_more_room = run.knowledge.personas, False
    defects: tuple[Defect, ...] = ()
    for _ in range(2):
        prompt = render_prompt(
            run.request, run.collected.references, personas, is_brief=True, defects=defects
        )
        reply = await model.ask(prompt, has_more_room=has_more_room)
        checked = check_reply(reply, prompt, personas=personas)
        if checked.reply is not None:
            return tuple(
                OtherVerdict(one.name, one.verdict, one_line(one.rationale))
                for one in checked.reply.personas
                if one.verdict is not None
            )
        defects, has_more_room = checked.defects, reply.finish == "truncated"
    raise InvalidReply(defects, attempts=2)


def right_with_both(
    asker: Sequence[PersonaVerdict], other: Sequence[OtherVerdict]
) -> tuple[str, ...]:
    """The names of the personas that tell both tellers that they are right.

    No pair of other verdicts is a contradiction: both may be wrong, and each in part.
    """
    return tuple(one.name for one, two in zip(asker, other) if one.verdict == two.verdict == RIGHT)


def one_line(text: str) -> str:
    """The first sentences of *text* that fit on a line together; the first one always."""
    text = fold_space(text)
    first, *others = sentences(text)
    ends = [first.end, *(span.end for span in others if span.end <= LINE_LIMIT)]
    return text[: ends[-1]]


def _warnings(result: JudgeResult, other_side: OtherSide) -> tuple[str, ...]:
    """Those of *result*; that both are told they are right comes first, a failure last."""
    if other_side.agrees is None:
        return (*result.warnings, other_side.note)
    names = right_with_both(result.personas, other_side.personas)
    return (_contradiction(names), *result.warnings) if names else result.warnings


def _contradiction(names: Sequence[str]) -> str:
    *others, last = names
    who = f"{', '.join(others)} and {last}" if others else last
    return (
        f"Both sides are told that they are right, by {who}: the verdict follows whoever tells the "
        "story, so do not rely on it."
    )
