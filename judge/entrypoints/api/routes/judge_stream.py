"""`POST /api/judge/stream`: a judgement as server-sent events, while it goes on.

The head of the reply waits for the first step, so that what is refused before anything is done is
an ordinary problem response.
"""

import asyncio
import re
from dataclasses import dataclass
from typing import Final, TypedDict, get_type_hints

from litestar import post
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.serialization import encode_json
from litestar.types import ASGIApp, Receive, Scope, Send

from judge.bootstrap.services import Services
from judge.entrypoints.api.access_policy import Access
from judge.entrypoints.api.openapi import EVENT_STREAM, problems
from judge.entrypoints.api.problem_responses import ClientLeft, problem_of
from judge.entrypoints.api.routes.judge import (
    REFUSALS,
    AnyRequest,
    DisputeBody,
    require_access_to_scope,
    unless_client_leaves,
)
from judge.entrypoints.event_log import log_error, log_judgement
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
"""Not escaped in JSON, and split lines for some clients, such as httpx: they would read half an
event."""

Queued = bytes | Exception | None
"""An event to send; an error before the first event; or None, the end."""


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
    request: AnyRequest,
    data: DisputeBody,
    services: NamedDependency[Services],
    state: State,
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
    return JudgementStream(services, data, state.heartbeat_s)


@dataclass(frozen=True, slots=True)
class JudgementStream:
    """An ASGI app that judges *request* and sends each step until the end, or the client leaves.

    Raises what the pipeline raises before its first step.
    """

    services: Services
    request: JudgeRequest
    heartbeat_s: float

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            await unless_client_leaves(receive, self._serve(scope, send))
        except ClientLeft as left:
            scope["state"]["final_status"] = left.problem.kind.status
        else:
            # Not watched any more: a server may say "disconnect" as soon as this is sent.
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _serve(self, scope: Scope, send: Send) -> None:
        """Send head and events; the judgement stops when this does."""
        events: asyncio.Queue[Queued] = asyncio.Queue()
        judging = asyncio.create_task(self._judge(scope, events))
        try:
            event = await events.get()
            if isinstance(event, Exception):
                raise event
            await send({"type": "http.response.start", "status": 200, "headers": list(HEAD)})
            while isinstance(event, bytes):
                await send({"type": "http.response.body", "body": event, "more_body": True})
                try:
                    event = await asyncio.wait_for(events.get(), self.heartbeat_s)
                except TimeoutError:
                    event = b": still here\n\n"
        finally:
            judging.cancel()
            await asyncio.wait([judging])

    async def _judge(self, scope: Scope, events: asyncio.Queue[Queued]) -> None:
        """Queue an event for each step, and for the verdict or the error that it ends in."""
        state = scope["state"]

        def queue_step(step: Step) -> None:
            state["final_status"] = 200
            events.put_nowait(_step_as_event(step))

        try:
            result = await self.services.pipeline.judge(
                self.request, request_id=state["request_id"], emit=queue_step, stream_fields=True
            )
            log_judgement(self.services.journal, result)
            events.put_nowait(as_event("verdict", result))
        except Exception as error:  # noqa: BLE001 - the client gets an event for any
            if "final_status" not in state:
                events.put_nowait(error)
                return
            problem = problem_of(error)
            state["final_status"] = problem.kind.status
            if problem.slug == "internal-error":
                log_error(self.services.journal, error)
            body = as_body(problem, path=scope["path"], request_id=state["request_id"])
            events.put_nowait(as_event("error", body))
        events.put_nowait(None)


def as_event(name: str, data: object) -> bytes:
    """One event; *data* becomes JSON on one line for every reader."""
    line = LINE_BREAKS.sub(lambda found: rf"\u{ord(found[0]):04x}", encode_json(data).decode())
    return f"event: {name}\ndata: {line}\n\n".encode()


def _step_as_event(step: Step) -> bytes:
    if isinstance(step, Restarted):
        defects = [defect_details(defect) for defect in step.defects]
        return as_event("restart", RestartEvent(defects=defects, keeps=()))
    return as_event(NAMES[type(step)], step)
