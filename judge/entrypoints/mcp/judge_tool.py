"""The tool `judge_dispute`: the same pipeline as at every other entrypoint."""

from dataclasses import replace
from uuid import uuid4

from judge.bootstrap.services import Services
from judge.entrypoints.event_log import log_judgement
from judge.entrypoints.mcp.calls import ToolCall
from judge.entrypoints.mcp.pagination import MAX_STRUCTURED, size_of
from judge.text.english import counted
from judge.types.requests import JudgeRequest
from judge.types.results import (
    AttemptStarted,
    DomainDetected,
    JudgeResult,
    ReferencesReady,
    Restarted,
    Step,
    SupportAsked,
)

LEFT_OUT = "The references that are not cited are here without their texts, for want of room."


class DisputeQuery(JudgeRequest):
    """Ask several personas whether somebody is being unreasonable in an everyday dispute.

    The verdicts cite approved pages of advice: each citation has the sentence of the page that it
    rests on (`quote`), and says when the page says the opposite (`contradicts`). References that
    are not `cited` were only looked at; with `evidence` of `not_applicable` none of them bears on
    the dispute. Show `help` to the person when it is not empty, and say so when `degraded` is true
    or `warnings` has entries. `hear_other_side` also judges the same facts as the other side would
    tell them; when both are told that they are right, the first warning says so. Takes up to half
    a minute.
    """


async def judge_dispute(services: Services, dispute: DisputeQuery, call: ToolCall) -> JudgeResult:
    """The verdict; raises the errors of `Pipeline.judge`. Cancelling it ends the model's call."""

    def emit(step: Step) -> None:
        call.report(_in_words(step))

    result = await services.pipeline.judge(dispute, request_id=uuid4().hex, emit=emit)
    log_judgement(services.journal, result)
    return fitting_verdict(result)


def fitting_verdict(result: JudgeResult) -> JudgeResult:
    """*result*, without its least important parts if it does not fit into one reply.

    First the snippets, which repeat the references, then the texts of uncited references.
    """
    if size_of(result) > MAX_STRUCTURED:
        result = replace(result, snippets=())
    if size_of(result) > MAX_STRUCTURED:
        references = tuple(ref if ref.cited else replace(ref, text="") for ref in result.references)
        result = replace(result, references=references, warnings=(*result.warnings, LEFT_OUT))
    return result


def _in_words(step: Step) -> str:
    """*step* for people, without any word of the dispute."""
    match step:
        case DomainDetected():
            return f"The domain is {step.domain}; reading its pages."
        case ReferencesReady():
            return f"{counted(len(step.references), 'reference')} may be cited."
        case AttemptStarted():
            return "Asking the model." if step.number == 1 else "Asking the model once more."
        case Restarted():
            return f"The reply broke {counted(len(step.defects), 'rule')}."
        case SupportAsked():
            return f"Asking about {counted(step.citations, 'citation')}."
        case _:
            return "Reading the reply."
