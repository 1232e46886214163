"""The problems that a route can end in, as the `responses` of its handler."""

from litestar.openapi.datastructures import ResponseSpec

from judge.entrypoints.api.problem_responses import MEDIA_TYPE
from judge.problems import KINDS, ProblemDetails

KEYED = ("unauthorized", "forbidden", "rate-limited")
"""What the access middleware may answer before a route that needs a key is reached."""


def problems(*slugs: str) -> dict[int, ResponseSpec]:
    """A response for each status of *slugs*, and for what any request can end in."""
    titles: dict[int, list[str]] = {}
    for slug in ("invalid-request", *slugs, "internal-error"):
        titles.setdefault(KINDS[slug].status, []).append(f"`{slug}`: {KINDS[slug].title}.")
    return {
        status: ResponseSpec(
            ProblemDetails,
            description=" ".join(titles[status]),
            media_type=MEDIA_TYPE,
            generate_examples=False,
        )
        for status in sorted(titles)
    }
