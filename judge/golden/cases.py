"""A golden case: a dispute, the pages and replies it met, and what must come of it."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from judge.errors import ConfigurationError
from judge.types.judging import Evidence, FinishReason, JudgeRequest, VerdictWord

_DIRECTIVES = frozenset({"text", "finish", "blocked", "unavailable"})


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GoldenReply(_Strict):
    """What the model does once: answer with *text*, stop early, refuse, or be out of reach."""

    text: str = ""
    finish: FinishReason = "stop"
    blocked: str | None = None
    unavailable: str | None = None


def _reply(value: object) -> object:
    """A reply is written as its text, as the JSON that the text holds, or as a directive."""
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, Mapping) and not _DIRECTIVES.issuperset(value):
        return {"text": json.dumps(value, ensure_ascii=False)}
    return value


class Expected(_Strict):
    """What must come of a case; a key that is left out is not looked at."""

    status: int = 200
    type: str | None = None
    domain: str | None = None
    attempts: int | None = None
    evidence: Evidence | None = None
    degraded: bool | None = None
    references: int | None = None
    summary_matches: str | None = None
    therapist_verdict: Annotated[VerdictWord | None, Field(alias="therapistVerdict")] = None
    analyst_verdict: Annotated[VerdictWord | None, Field(alias="analystVerdict")] = None
    coach_verdict: Annotated[VerdictWord | None, Field(alias="coachVerdict")] = None
    expect_citation: Annotated[bool | None, Field(alias="expectCitation")] = None
    defects: tuple[str, ...] | None = None
    second_prompt_names: tuple[str, ...] = ()
    prompt_digest: str | None = None
    body: Mapping[str, Any] | None = None


class GoldenCase(_Strict):
    """One file of `tests/golden/`; `recorded` is false where the replies were written by hand."""

    about: str = ""
    recorded: bool = False
    input: JudgeRequest
    pages: Mapping[str, str | None] = {}
    replies: tuple[Annotated[GoldenReply, BeforeValidator(_reply)], ...] = ()
    model: Literal["scripted", "extractive"] = "scripted"
    expected: Expected = Expected()


def parse_case(text: str) -> GoldenCase:
    """The case in *text*; raises ConfigurationError that names the wrong key."""
    try:
        return GoldenCase.model_validate_json(text)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
            for problem in error.errors(include_input=False, include_url=False)
        )
        raise ConfigurationError(f"This is no golden case: {problems}") from error
