"""Disputes and citations: `POST /api/judge`, `GET /api/domains` and `POST /api/check`.

`POST /api/judge/stream` sends a judgement as server-sent events, while it goes on. The head of its
reply waits for the first step, so that what is refused before is an ordinary problem response.
"""

import asyncio
import re
from collections.abc import Coroutine
from functools import partial
from typing import Annotated, Any, Final, TypedDict, TypeVar, get_type_hints

from litestar import Request, Response, get, post
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg
from litestar.serialization import encode_json
from litestar.types import ASGIApp, Receive, Scope, Send

from judge.bootstrap.services import Services
from judge.citations.check import CheckedAnswer
from judge.entrypoints.api.access_policy import Access, principal_of
from judge.entrypoints.api.http_messages import NO_STORE, ClientLeft, problem_of
from judge.entrypoints.api.openapi import EVENT_STREAM, KEYED, problems
from judge.entrypoints.check_requests import MAX_BYTES, CheckRequest, check
from judge.entrypoints.event_log import log_error, log_judgement
from judge.entrypoints.response_models import DomainsResponse, domains
from judge.problems import DefectDetails, ProblemDetails, as_body, defect_details
from judge.types.requests import JudgeRequest
from judge.types.results import (
    AttemptStarted,
    DomainDetected,
    FieldChecked,
    HelpFound,
    JudgeResult,
    ReferencesReady,
    Restarted,
    Step,
    SupportAsked,
)

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
    if data.names("passage"):
        principal_of(request.scope).require(Access.PRIVATE)
    return Response(await check(data, services), headers=NO_STORE)


HEARTBEAT_S: Final = 8.0
"""Seconds of silence before a comment. 10 are promised; proxies often give up after 15 to 60."""

HEAD: Final = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    # `no-transform` keeps proxies from compressing the events, and so from buffering them.
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
)
"""Says 200 however the stream ends: `final_status` in the request's state, set from the first step
on, is the status for the log and the metrics."""

LINE_BREAKS: Final = re.compile("[\x85\u2028\u2029]")
"""Not escaped in JSON; clients such as httpx split lines there, and would read half an event."""


class RestartEvent(TypedDict):
    """The model is asked again, or its reply begins anew: every field told so far is withdrawn.

    `defects` is empty where a connection broke or another model took over.
    """

    defects: list[DefectDetails]
    keeps: tuple[str, ...]
    """The names of fields that stay; a frontend removes all others. Now always empty."""


class StreamEvents(TypedDict, total=False):
    """What `/api/judge/stream` sends: the data of each event, by its name."""

    domain: DomainDetected
    help: HelpFound
    references: ReferencesReady
    attempt: AttemptStarted
    field: FieldChecked
    restart: RestartEvent
    support: SupportAsked
    verdict: JudgeResult
    error: ProblemDetails


NAMES: Final = {kind: name for name, kind in get_type_hints(StreamEvents).items()}

EVENTS = ResponseSpec(
    StreamEvents,
    description="The events, from `domain` to `verdict` or `error`.",
    media_type=EVENT_STREAM,
    generate_examples=False,
)


@post(
    "/api/judge/stream",
    status_code=200,
    access=Access.JUDGING,
    tags=["judging"],
    responses={200: EVENTS, **problems(*REFUSALS, "budget-spent", "index-unavailable")},
)
async def judge_stream(
    request: AnyRequest, data: DisputeBody, services: NamedDependency[Services], state: State
) -> ASGIApp:
    """Judge one dispute and send each step.

    As `POST /api/judge`, in server-sent events. Each has a name and, in one line of JSON, the
    member of `StreamEvents` with that name: `domain`; `help`, as soon as there are help lines, and
    again when the model names more (none is withdrawn); `references`, as soon as they are read;
    `attempt`, each time that the model is asked; `field`, for each part of its reply that is
    complete and breaks no rule, as it will stand in the verdict; `restart`, when a reply is asked
    again or begins anew, with its defects: the fields told so far are withdrawn; `support`, when
    the model is asked about its citations, whose `support` and `contradicts` may change then; and
    last `verdict`, the body of the plain route, or `error`, the problem that it would have sent.
    A comment comes at least every 10 seconds. What is refused before the first event is an
    ordinary problem response.
    A client that leaves ends the call of the model.
    """
    require_access_to_scope(data, request)
    return partial(_send_events, services=services, dispute=data, heartbeat_s=state.heartbeat_s)


async def _send_events(
    scope: Scope,
    receive: Receive,
    send: Send,
    *,
    services: Services,
    dispute: JudgeRequest,
    heartbeat_s: float,
) -> None:
    """An ASGI app that judges *dispute* and sends each step until the end, or the client leaves."""

    async def serve() -> None:
        events: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()  # None is the end
        judging = asyncio.create_task(_queue_events(services, dispute, scope, events))
        try:
            event = await events.get()
            if isinstance(event, Exception):
                raise event
            await send({"type": "http.response.start", "status": 200, "headers": list(HEAD)})
            while isinstance(event, bytes):
                await send({"type": "http.response.body", "body": event, "more_body": True})
                try:
                    event = await asyncio.wait_for(events.get(), heartbeat_s)
                except TimeoutError:
                    event = b": still here\n\n"
        finally:
            judging.cancel()
            await asyncio.wait([judging])

    try:
        await unless_client_leaves(receive, serve())
    except ClientLeft as left:
        scope["state"]["final_status"] = left.problem.kind.status
    else:
        # Not watched any more: a server may say "disconnect" as soon as this is sent.
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _queue_events(
    services: Services,
    dispute: JudgeRequest,
    scope: Scope,
    events: asyncio.Queue[bytes | Exception | None],
) -> None:
    """Queue an event for each step, and for the verdict or the error that it ends in."""
    state = scope["state"]

    def queue_step(step: Step) -> None:
        state["final_status"] = 200
        if isinstance(step, Restarted):
            defects = [defect_details(defect) for defect in step.defects]
            events.put_nowait(as_event("restart", RestartEvent(defects=defects, keeps=())))
        else:
            events.put_nowait(as_event(NAMES[type(step)], step))

    try:
        result = await services.pipeline.judge(
            dispute, request_id=state["request_id"], emit=queue_step, stream_fields=True
        )
        log_judgement(services.journal, result)
        events.put_nowait(as_event("verdict", result))
    except Exception as error:  # noqa: BLE001 - the client gets an event for any
        if "final_status" not in state:
            events.put_nowait(error)
            return
        problem = problem_of(error)
        state["final_status"] = problem.kind.status
        if problem.slug == "internal-error":
            log_error(services.journal, error)
        body = as_body(problem, path=scope["path"], request_id=state["request_id"])
        events.put_nowait(as_event("error", body))
    events.put_nowait(None)


def as_event(name: str, data: object) -> bytes:
    """One event; *data* becomes JSON on one line for every reader."""
    line = LINE_BREAKS.sub(lambda found: rf"\u{ord(found[0]):04x}", encode_json(data).decode())
    return f"event: {name}\ndata: {line}\n\n".encode()


ROUTES = (judge, judge_stream, list_domains, check_citations)
