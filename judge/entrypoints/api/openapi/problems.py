"""The problems that a route can end in, as the `responses` of its handler."""

from collections.abc import Mapping
from typing import Any

from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example

from judge.entrypoints.api.problem_responses import MEDIA_TYPE
from judge.problems import KINDS, Problem, ProblemDetails, as_body

KEYED = ("unauthorized", "forbidden", "rate-limited")
"""What the access middleware may answer before a route that needs a key is reached."""

MEMBER_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "invalid-request": {
        "errors": [{"field": "query", "message": "must have at least 5 characters"}]
    },
    "unknown-domain": {"valid": ["tenancy", "workplace", "default"]},
    "bad-scope": {"valid": []},
    "ambiguous": {"candidates": ["shop.Cart.total", "shop.Bill.total"]},
    "content-blocked": {
        "help": [{"title": "Samaritans", "url": "https://www.samaritans.org/", "phone": "116 123"}]
    },
    "invalid-reply": {
        "defects": [
            {
                "rule": "citation",
                "field": "summary",
                "expected": "a number from 1 to 2, as [1]",
                "hard": True,
            }
        ],
        "attempts": 2,
    },
}
"""The members that some kinds of problem have beyond the common ones."""


def problems(*slugs: str) -> dict[int, ResponseSpec]:
    """A response for each status of *slugs*, and for what any request can end in."""
    by_status: dict[int, list[str]] = {}
    for slug in ("invalid-request", *slugs, "internal-error"):
        by_status.setdefault(KINDS[slug].status, []).append(slug)
    return {status: _response(kinds) for status, kinds in sorted(by_status.items())}


def _response(slugs: list[str]) -> ResponseSpec:
    return ResponseSpec(
        ProblemDetails,
        description=" ".join(f"`{slug}`: {KINDS[slug].title}." for slug in slugs),
        media_type=MEDIA_TYPE,
        generate_examples=False,
        examples=[_example(slug) for slug in slugs],
    )


def _example(slug: str) -> Example:
    kind = KINDS[slug]
    problem = Problem(slug, kind.advice, MEMBER_EXAMPLES.get(slug, {}))
    body = dict(as_body(problem, path="/api/judge", request_id=""))
    body.pop("request_id", None)
    return Example(id=slug, summary=kind.title, value=body)
