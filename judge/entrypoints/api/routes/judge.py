"""Disputes and citations: `POST /api/judge`, `GET /api/domains` and `POST /api/check`."""

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any, TypeVar

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg
from litestar.types import Receive

from judge.bootstrap.services import Services
from judge.citations.check import CheckedAnswer
from judge.entrypoints.api.access_policy import Access, principal_of
from judge.entrypoints.api.openapi import KEYED, problems
from judge.entrypoints.api.problem_responses import NO_STORE, ClientLeft
from judge.entrypoints.check_requests import MAX_BYTES, CheckRequest, check
from judge.entrypoints.event_log import log_judgement
from judge.entrypoints.response_models import DomainsResponse, domains
from judge.types.requests import JudgeRequest
from judge.types.results import JudgeResult

T = TypeVar("T")
AnyRequest = Request[Any, Any, Any]

EXAMPLE = {
    "context": "My landlord has not repaired the boiler for three weeks, although I wrote twice.",
    "query": "Am I being unreasonable to ask for part of the rent back?",
}
DisputeBody = Annotated[
    JudgeRequest,
    BodyKwarg(
        description="At most 64 KiB. Unknown fields are refused, but for `followUpResponses`: a "
        "text, a list of texts or of objects with texts, which is read as part of `context`.",
        examples=[Example(value=EXAMPLE)],
    ),
]

CHECK_EXAMPLE = {
    "answer": "Your landlord must repair the boiler within a reasonable time [1].",
    "sources": [
        {
            "title": "Repairs",
            "text": "The landlord must repair the boiler, within a reasonable time of being told.",
        }
    ],
}
AnswerBody = Annotated[
    CheckRequest,
    BodyKwarg(
        description="At most 256 KiB. Unknown fields are refused.",
        examples=[Example(value=CHECK_EXAMPLE)],
    ),
]

REFUSALS = (
    *KEYED, "unknown-domain", "bad-scope", "too-large", "unsupported-media-type", "overloaded",
)  # fmt: skip
"""The kinds of problem that a dispute can end in before the model is asked."""


@post(
    "/api/judge",
    status_code=200,
    access=Access.JUDGING,
    tags=["judging"],
    response_description="The verdict.",
    responses=problems(
        *REFUSALS,
        "content-blocked",
        "invalid-reply",
        "model-unavailable",
        "budget-spent",
        "index-unavailable",
        "deadline-exceeded",
    ),
)
async def judge(
    request: AnyRequest, data: DisputeBody, services: NamedDependency[Services]
) -> Response[JudgeResult]:
    """Judge one dispute.

    One to six personas, as configured, say whether you are being unreasonable. Each number in
    square brackets refers to an entry of `references`; `citations` says how well it is borne out.
    Nothing of the dispute is stored.
    """
    require_access_to_scope(data, request)
    judging = services.pipeline.judge(data, request_id=request.scope["state"]["request_id"])
    result = await unless_client_leaves(request.receive, judging)
    log_judgement(services.journal, result)
    return Response(result, headers=NO_STORE)


def require_access_to_scope(data: JudgeRequest, request: AnyRequest) -> None:
    """Raise RequestRefused if *data* has a scope and the principal may not search: it is quoted."""
    if data.scope is not None:
        principal_of(request.scope).require(Access.PRIVATE)


@get(
    "/api/domains",
    access=Access.JUDGING,
    sync_to_thread=False,
    tags=["judging"],
    response_description="The domains in the order of the sources file.",
    responses=problems(*KEYED),
)
def list_domains(services: NamedDependency[Services]) -> DomainsResponse:
    """What disputes can be about, and the pages that are quoted for each."""
    return {"domains": domains(services.sources.current().catalog)}


async def unless_client_leaves(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """The result of *work*, which is cancelled when the client disconnects; raises ClientLeft.

    Otherwise a model call that nobody reads would be paid for.
    """
    working, leaving = asyncio.create_task(work), asyncio.create_task(_disconnect(receive))
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientLeft
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.wait([working, leaving])


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


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
    request: AnyRequest, data: AnswerBody, services: NamedDependency[Services]
) -> Response[CheckedAnswer]:
    """Check an answer's citations against its sources.

    No model is asked, and the same answer has the same result for ever. Whoever may not search may
    not name a `passage` either. Nothing of the answer is stored.
    """
    if data.names_passages:
        principal_of(request.scope).require(Access.PRIVATE)
    return Response(await check(data, services), headers=NO_STORE)
