"""Maps our errors to RFC 9457 problem details, for every entrypoint.

HTTP sends them and golden cases compare them, so this needs no web framework.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NotRequired, TypedDict, cast
from urllib.parse import quote

from judge.errors import ContentBlocked, InvalidReply, InvalidRequest, JudgeError, NotFound
from judge.types.replies import Defect
from judge.types.request_fields import FieldError
from judge.types.results import HelpLine


class Kind(NamedTuple):
    """A kind of problem: its HTTP status, its title, and what to do about it."""

    status: int
    title: str
    advice: str


_WAIT = "Wait for as many seconds as `Retry-After` says."

KINDS: Mapping[str, Kind] = {
    "invalid-request": Kind(
        400, "The request cannot be understood", "Correct the fields named in `errors`."
    ),
    "unknown-domain": Kind(
        400, "There is no such domain", "Use one of the names in `valid`, or leave `domain` out."
    ),
    "bad-scope": Kind(
        400, "The scope cannot be used", "Use one of the names in `valid`, or leave `scope` out."
    ),
    "unauthorized": Kind(
        401, "A key is needed", "Send `Authorization: Bearer` with a key of this service."
    ),
    "forbidden": Kind(403, "This is not allowed", "Ask whoever runs the service for access."),
    "not-found": Kind(404, "There is nothing here", "Look at /schema for what there is."),
    "method-not-allowed": Kind(
        405, "This method is not used here", "Use a method that the `Allow` header names."
    ),
    "ambiguous": Kind(
        409, "The name has several meanings", "Ask again with one of the names in `candidates`."
    ),
    "too-large": Kind(413, "The body is too large", "Send at most what the operation says."),
    "unsupported-media-type": Kind(
        415, "The body is not JSON", "Send JSON with `Content-Type: application/json`."
    ),
    "content-blocked": Kind(
        422,
        "The safety filter refused the dispute",
        "If somebody is in danger, turn to one of the lines in `help`.",
    ),
    "rate-limited": Kind(429, "Too many requests", _WAIT),
    "client-left": Kind(
        499, "The caller left before the answer", "Nothing: only our log shows this."
    ),
    "internal-error": Kind(
        500, "Something went wrong here", "Tell whoever runs the service the `request_id`."
    ),
    "invalid-reply": Kind(
        502,
        "The model's replies broke our rules",
        "Try again. `defects` names each rule, `attempts` how often the model was asked.",
    ),
    "model-unavailable": Kind(503, "The model does not answer", _WAIT),
    "budget-spent": Kind(503, "Today's tokens are spent", _WAIT),
    "overloaded": Kind(503, "Too much is being done already", _WAIT),
    "index-unavailable": Kind(503, "The search index does not answer", "Try again a little later."),
    "deadline-exceeded": Kind(504, "The time is over", "Try again."),
}
"""The kinds by slug, with which `type` ends: for our own errors, the name of the class."""


class DefectDetails(TypedDict):
    """A rule that a reply of the model broke, without the words that broke it."""

    rule: str
    field: str
    expected: str
    hard: bool
    attempt: NotRequired[int]
    """In a problem: whether the first reply broke it or the second."""


class ProblemDetails(TypedDict):
    """Problem details (RFC 9457)."""

    type: str
    """Ends in the kind of problem; the address explains it."""
    title: str
    """The kind, in words."""
    status: int
    """The HTTP status."""
    detail: str
    """What happened and what to do next."""
    instance: str
    """The path asked."""
    error: str
    """Repeats `detail`."""
    errors: NotRequired[Sequence[FieldError]]
    """With `invalid-request`: each wrong field."""
    valid: NotRequired[Sequence[str]]
    """With `unknown-domain`, `bad-scope` and an unknown repository: what can be used."""
    candidates: NotRequired[Sequence[str]]
    """With `ambiguous`: what may be meant."""
    help: NotRequired[Sequence[HelpLine]]
    """Where a dispute was read and not judged: somebody to turn to."""
    defects: NotRequired[Sequence[DefectDetails]]
    """With `invalid-reply`: the rules that the replies broke."""
    attempts: NotRequired[int]
    """With `invalid-reply`: how often the model was asked."""
    request_id: NotRequired[str]
    """With `internal-error`: what to tell whoever runs the service."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem, ready to be rendered."""

    slug: str
    detail: str
    members: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        """The kind that its slug names."""
        return KINDS[self.slug]


def problem_of(error: JudgeError) -> Problem:
    """*error* as a problem to be shown to the caller."""
    names = (re.sub(r"\B[A-Z]", r"-\g<0>", kind.__name__).lower() for kind in type(error).__mro__)
    slug = next((name for name in names if name in KINDS), None)
    if slug is None:
        return of_kind("internal-error")
    wait_s = error.retry_after_s
    headers = {"Retry-After": str(max(1, math.ceil(wait_s)))} if wait_s is not None else {}
    return Problem(slug, str(error), _members(error), headers)


def _members(error: JudgeError) -> dict[str, Any]:
    """The extension members, which help to correct the request."""
    names = ("errors", "valid", "candidates")
    members = {name: getattr(error, name) for name in names if hasattr(error, name)}
    if isinstance(error, InvalidReply):
        members["defects"] = [
            defect_details(defect) | {"attempt": number}
            for number, defects in enumerate(error.by_attempt, 1)
            for defect in defects
        ]
        members["attempts"] = error.attempts
    elif not members and isinstance(error, InvalidRequest) and not isinstance(error, NotFound):
        members["errors"] = [FieldError(error.field, str(error))]
    if error.help_lines or isinstance(error, ContentBlocked):
        members["help"] = error.help_lines
    return members


def defect_details(defect: Defect) -> DefectDetails:
    """*defect* as callers see it: without the rejected value."""
    return {
        "rule": defect.rule,
        "field": defect.field,
        "expected": defect.expected,
        "hard": defect.is_hard,
    }


def of_kind(slug: str, **parts: Any) -> Problem:
    """A problem whose detail is the title and advice of its kind."""
    kind = KINDS[slug]
    return Problem(slug, f"{kind.title}. {kind.advice}", **parts)


def as_body(problem: Problem, *, path: str, request_id: str) -> ProblemDetails:
    """The members of *problem* as they are sent."""
    kind = problem.kind
    details: Any = {
        "type": f"/problems/{problem.slug}",
        "title": kind.title,
        "status": kind.status,
        "detail": problem.detail,
        "instance": quote(path),
        "error": problem.detail,
        **problem.members,
    }
    return cast(
        "ProblemDetails", details | ({"request_id": request_id} if kind.status == 500 else {})
    )
