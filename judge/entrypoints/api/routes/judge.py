"""`POST /api/judge`: a dispute in, a verdict out; and `GET /api/domains`."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.types import Receive

from judge.bootstrap import Services
from judge.entrypoints.api.access_policy import Access
from judge.entrypoints.api.problem_responses import NO_STORE, ClientLeft
from judge.entrypoints.api.request_body import read_judge_request
from judge.entrypoints.event_log import log_judgement
from judge.entrypoints.response_models import DomainResponse, domains
from judge.types.judgements import JudgeResult

T = TypeVar("T")

WATCH_AFTER_S = 0.5
"""Answers that come sooner need no watch, which takes 0.15 ms of CPU; most models take longer."""


@post("/api/judge", status_code=200, access=Access.JUDGING)
async def judge(
    request: Request[Any, Any, Any], services: NamedDependency[Services]
) -> Response[JudgeResult]:
    """Judge one dispute."""
    asked = await read_judge_request(request)
    judging = services.pipeline.judge(asked, request_id=request.scope["state"]["request_id"])
    result = await unless_client_leaves(request.receive, judging)
    log_judgement(services.journal, result)
    return Response(result, headers=NO_STORE)


@get("/api/domains", access=Access.JUDGING, sync_to_thread=False)
def list_domains(services: NamedDependency[Services]) -> dict[str, list[DomainResponse]]:
    """What disputes can be about, and the pages that are quoted for each."""
    return {"domains": domains(services.sources.current().catalog)}


async def unless_client_leaves(
    receive: Receive, work: Awaitable[T], *, after_s: float = WATCH_AFTER_S
) -> T:
    """The result of *work*, which is cancelled when nobody waits for it; raises ClientLeft.

    Litestar does not tell an ordinary handler that its client left; an unread model call would
    be paid for. It is looked for after *after_s* seconds.
    """
    loop = asyncio.get_running_loop()
    leash = asyncio.timeout(None)
    watches: list[asyncio.Task[None]] = []
    timer = loop.call_later(
        after_s, lambda: watches.append(loop.create_task(_pull_when_gone(receive, leash)))
    )
    try:
        async with leash:
            try:
                return await work
            finally:
                timer.cancel()
                for watch in watches:
                    watch.cancel()
    except TimeoutError:
        if leash.expired():
            raise ClientLeft from None
        raise


async def _pull_when_gone(receive: Receive, leash: asyncio.Timeout) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    leash.reschedule(asyncio.get_running_loop().time())
