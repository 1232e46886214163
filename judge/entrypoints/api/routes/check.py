"""`POST /api/check`: an answer and its sources in, its checked citations out."""

from typing import Annotated, Any

from litestar import Request, Response, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg

from judge.bootstrap.services import Services
from judge.citations.check import CheckedAnswer
from judge.entrypoints.api.access_policy import Access, principal_of
from judge.entrypoints.api.openapi.problems import KEYED, problems
from judge.entrypoints.api.problem_responses import NO_STORE
from judge.entrypoints.check_requests import MAX_BYTES, CheckRequest, check

EXAMPLE = {
    "answer": "Your landlord must repair the boiler within a reasonable time [1].",
    "sources": [
        {
            "title": "Repairs",
            "text": "The landlord must repair the boiler, within a reasonable time of being told.",
        }
    ],
}


@post(
    "/api/check",
    status_code=200,
    access=Access.JUDGING,
    max_body_bytes=MAX_BYTES,
    tags=["citations"],
    response_description="The checked answer.",
    responses=problems(*KEYED, "too-large", "unsupported-media-type", "index-unavailable"),
)
async def check_citations(
    request: Request[Any, Any, Any],
    data: Annotated[
        CheckRequest,
        BodyKwarg(
            description="At most 256 KiB. Unknown fields are refused.",
            examples=[Example(value=EXAMPLE)],
        ),
    ],
    services: NamedDependency[Services],
) -> Response[CheckedAnswer]:
    """Check an answer's citations against its sources.

    No model is asked, and the same answer has the same result for ever. Whoever may not search may
    not name a `passage` either. Nothing of the answer is stored.
    """
    if data.names_passages:
        principal_of(request.scope).require(Access.PRIVATE)
    return Response(await check(data, services), headers=NO_STORE)
