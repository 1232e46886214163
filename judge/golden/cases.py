"""A golden case: a dispute, its pages and replies, and the outcome that is expected."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from judge.errors import ConfigurationError
from judge.golden.built_in_evaluators import Phrase
from judge.types.replies import Evidence, FinishReason, Usage, VerdictWord
from judge.types.request_fields import BadFields, StrictModel, parse_json
from judge.types.requests import JudgeRequest

REPLAY_TIME = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
"""The moment at which a case is replayed that does not say when it was recorded."""


class GoldenReply(StrictModel):
    """One reply of the model: *text*, perhaps cut short, a refusal, or that it is unavailable."""

    text: str = ""
    finish: FinishReason = "stop"
    blocked: str | None = None
    unavailable: str | None = None
    model: str = "scripted"
    usage: Usage = Usage()


class GoldenPage(StrictModel):
    """A page fixture, with the charset that the server declared."""

    file: str
    charset: str = ""


def _reply(value: object) -> object:
    """A reply is given as its text, as the JSON in that text, or as the fields of GoldenReply."""
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, Mapping) and not GoldenReply.model_fields.keys() >= value.keys():
        return {"text": json.dumps(value, ensure_ascii=False)}
    return value


def _regex(value: str) -> str:
    # Importing it takes 60 ms, and few cases have an expression.
    import regex  # type: ignore[import-untyped]  # noqa: PLC0415

    try:
        regex.compile(value)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ValueError(f"is no regular expression: {error}") from None
    return value


def _named_documents(documents: Mapping[str, str]) -> Mapping[str, str]:
    for name in documents:
        if not re.match(r"[^/]+/.", name):
            raise ValueError(f"must be texts by `collection/id`, which {name!r} is not")
    return documents


class Rubric(StrictModel):
    """A question about an answer that a model answers with yes or no."""

    question: Annotated[str, Field(min_length=10, max_length=2000)]
    times: Annotated[int, Field(ge=1, le=50)] = 5
    """How often it is asked."""

    at_least: Annotated[float, Field(gt=0, le=1)] = 0.8
    """The share of them that must be a yes."""


class Expected(StrictModel):
    """The expected outcome of a case; a key that is left out is not checked."""

    status: int = 200
    type: str | None = None
    domain: str | None = None
    attempts: int | None = None
    evidence: Evidence | None = None
    degraded: bool | None = None
    references: int | None = None
    summary_matches: Annotated[str, AfterValidator(_regex)] | None = None
    therapist_verdict: Annotated[VerdictWord | None, Field(alias="therapistVerdict")] = None
    analyst_verdict: Annotated[VerdictWord | None, Field(alias="analystVerdict")] = None
    coach_verdict: Annotated[VerdictWord | None, Field(alias="coachVerdict")] = None
    expect_citation: Annotated[bool | None, Field(alias="expectCitation")] = None
    defects: tuple[str, ...] | None = None
    second_prompt_names: tuple[Phrase, ...] = ()
    prompt_digest: str | None = None
    body: Mapping[str, Any] | None = None
    """Parts of the body; what it does not name is not checked."""

    exact_body: Mapping[str, Any] | None = None
    """The whole body, with what differs between runs masked."""

    evaluators: Mapping[str, Any] = {}
    """The parameter of each evaluator, by its name; `load_case` checks them."""

    graded: tuple[Rubric, ...] = ()
    """Questions that the model itself answers; only `--live` asks them."""

    floor: Annotated[float, Field(gt=0, le=1)] = 1.0
    """The share of live answers that must be as expected."""


class GoldenCase(StrictModel):
    """One file of `tests/golden/`; `recorded` is false where the replies were written by hand."""

    about: str = ""
    recorded: bool = False
    live: bool | None = None
    """Whether `--live` includes this case; by default, unless its replies are faulty on purpose."""

    recorded_at: AwareDatetime = REPLAY_TIME
    """The time of its replay, which decides how old a page is."""

    versions: Mapping[Literal["model", "prompt", "sources"], str] = {}
    """Those with which the replies were recorded; for readers, never compared."""

    input: JudgeRequest
    pages: Mapping[str, str | GoldenPage | None] = {}
    documents: Annotated[Mapping[str, str], AfterValidator(_named_documents)] = {}
    """What is indexed, for a `scope`: texts by `collection/id`."""

    sources: tuple[str, ...] = ()
    """Those it was recorded with, as fixtures in `pages/`: the sources file and its includes."""

    prompts: tuple[str, ...] = ()
    """Those of a recorded case, so that a change of the prompt can be shown word by word."""

    replies: tuple[Annotated[GoldenReply, BeforeValidator(_reply)], ...] = ()
    model: Literal["scripted", "extractive"] = "scripted"
    expected: Expected = Expected()

    @property
    def is_live(self) -> bool:
        """Whether `--live` runs this case."""
        if self.live is not None:
            return self.live
        most_replies = 3 if self.input.hear_other_side else 1
        is_faultless = self.expected.status == 200 and len(self.replies) <= most_replies
        return is_faultless and self.model == "scripted"


def parse_case(text: str) -> GoldenCase:
    """The case in *text*; raises ConfigurationError that names the wrong key."""
    try:
        json.loads(text, object_pairs_hook=_each_key_once)
        return parse_json(GoldenCase, text)
    except (BadFields, ValueError, RecursionError) as error:
        raise ConfigurationError(f"This is no golden case: {error}") from error


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of *pairs*; raises ValueError for a second key, which would overrule the first."""
    document = dict(pairs)
    if len(document) < len(pairs):
        second = next(key for key in document if [key for key, _ in pairs].count(key) > 1)
        raise ValueError(f"{second!r} stands twice in one object; keep one")
    return document
