"""`POST /api/judge`: a dispute in, a verdict out; and `GET /api/domains`."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.types import Receive

from judge.bootstrap import Services
from judge.entrypoints.api.access import Access
from judge.entrypoints.api.body import read_judge_request
from judge.entrypoints.api.problems import NO_STORE, ClientLeft
from judge.entrypoints.noting import note_judgement
from judge.entrypoints.shapes import DomainShape, domains
from judge.types.judging import JudgeResult

T = TypeVar("T")


@post("/api/judge", status_code=200, access=Access.JUDGING)
async def judge(
    request: Request[Any, Any, Any], services: NamedDependency[Services]
) -> Response[JudgeResult]:
    """Judge one dispute."""
    asked = await read_judge_request(request)
    judging = services.pipeline.judge(asked, request_id=request.scope["state"]["request_id"])
    result = await unless_client_leaves(request.receive, judging)
    note_judgement(services.journal, result)
    return Response(result, headers=NO_STORE)


@get("/api/domains", access=Access.JUDGING, sync_to_thread=False)
def list_domains(services: NamedDependency[Services]) -> dict[str, list[DomainShape]]:
    """What disputes can be about, and the pages that are quoted for each."""
    return {"domains": domains(services.sources.current().catalog)}


async def unless_client_leaves(receive: Receive, work: Awaitable[T]) -> T:
    """The result of *work*, which is cancelled when nobody waits for it; raises ClientLeft.

    Litestar does not tell an ordinary handler that its client left; an unread model call would
    be paid for.
    """
    loop = asyncio.get_running_loop()
    leash = asyncio.timeout(None)
    try:
        async with leash:
            watch = loop.create_task(_pull_when_gone(receive, leash))
            try:
                return await work
            finally:
                watch.cancel()
    except TimeoutError:
        if leash.expired():
            raise ClientLeft from None
        raise


async def _pull_when_gone(receive: Receive, leash: asyncio.Timeout) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    leash.reschedule(asyncio.get_running_loop().time())
