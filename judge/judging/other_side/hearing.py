"""After the verdict, judges the dispute as the other side would tell it; never loses the verdict.

`No` means that whoever tells the story is right; a `No` to both sides adds a warning.
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
from judge.judging.model_caller import MeteredModel, ModelCaller
from judge.judging.other_side.retelling import CannotRetell, retell
from judge.judging.prompts import render_prompt
from judge.judging.results import PreparedRequest
from judge.judging.verdicts.check import check_reply
from judge.text.english import fold_space, sentences
from judge.types.replies import Defect, PersonaVerdict, VerdictWord
from judge.types.results import JudgeResult, OtherSide, OtherVerdict

RIGHT: VerdictWord = "No"
"""The answer to "is the person being unreasonable?", however the person asks."""

RESERVE_S = 0.5
"""Seconds before the deadline at which this stops, so that the first verdict is sent in time."""

LINE_LIMIT = 240
"""The most characters of a shortened rationale, as of a paraphrase."""

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
    if prepared.safety.needs_care:
        return replace(result, other_side=OtherSide.unheard(NEEDS_CARE))
    reserve_s = min(RESERVE_S, prepared.deadline.total_s / 10)
    deadline = replace(prepared.deadline, at=prepared.deadline.at - reserve_s)
    model = MeteredModel(caller, deadline, event="other_side.replied")
    other_side = await _other_side(result, prepared, model)
    return replace(
        result,
        other_side=other_side,
        warnings=_warnings(result, other_side),
        usage=result.usage + model.usage,
    )


async def _other_side(
    result: JudgeResult, prepared: PreparedRequest, model: MeteredModel
) -> OtherSide:
    """The retelling and its verdicts, or a note that says what failed."""
    retelling = ""
    try:
        retold = await retell(prepared.request, model)
        retelling = retold.context
        verdicts = await _verdicts(replace(prepared, request=retold), model)
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


async def _verdicts(prepared: PreparedRequest, model: MeteredModel) -> tuple[OtherVerdict, ...]:
    """The verdicts on the retold story; after a reply with a hard defect the model is asked again.

    Raises InvalidReply after two such replies, and what `MeteredModel.ask` raises.
    """
    references, personas = prepared.collected.references, prepared.knowledge.personas
    defects: tuple[Defect, ...] = ()
    doubles_limit = False
    for _ in range(2):
        prompt = render_prompt(
            prepared.request, references, personas, is_brief=True, defects=defects
        )
        reply = await model.ask(prompt, doubles_limit=doubles_limit)
        checked = check_reply(reply, prompt)
        if checked.reply is not None:
            return tuple(
                OtherVerdict(persona.name, persona.verdict, one_line(persona.rationale))
                for persona in checked.reply.personas
                if persona.verdict is not None
            )
        defects, doubles_limit = checked.defects, reply.finish == "truncated"
    raise InvalidReply(defects, attempts=2)


def right_with_both(
    asker: Sequence[PersonaVerdict], other: Sequence[OtherVerdict]
) -> tuple[str, ...]:
    """The names of the personas that find both sides right.

    No other pair of verdicts is a contradiction: both sides may be wrong, or each in part.
    """
    return tuple(a.name for a, b in zip(asker, other) if a.verdict == b.verdict == RIGHT)


def one_line(text: str) -> str:
    """The first sentences of *text* within LINE_LIMIT; the first one whatever its length."""
    text = fold_space(text)
    first, *others = sentences(text)
    ends = [first.end, *(span.end for span in others if span.end <= LINE_LIMIT)]
    return text[: ends[-1]]


def _warnings(result: JudgeResult, other_side: OtherSide) -> tuple[str, ...]:
    """The warnings of *result*, with a contradiction before them or a failure after them."""
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
