"""The story of a judgement, from request to verdict. Read this file first.

detect a domain -> collect references -> render the prompt -> ask the model -> check the reply
                                                           '-- once more, defects named --'
-> where they ask for it: let the other side tell it, and judge that too
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace

from judge.errors import ContentBlocked, DeadlineExceeded, ModelUnavailable
from judge.judging.dispute import read_dispute
from judge.judging.domains import choose_domain
from judge.judging.knowledge import Knowledge
from judge.judging.model_caller import Deadline, ModelCaller
from judge.judging.other_side.hearing import hear_other_side
from judge.judging.prompts.render import render_prompt
from judge.judging.references import ReferenceCollector
from judge.judging.results import build_result, timings_of
from judge.judging.run_context import Attempt, RunContext, log_attempt
from judge.judging.safety import find_safety, merged_help
from judge.judging.streamed_fields import StreamedFields
from judge.judging.support_by_model import SupportByModel
from judge.judging.verdicts.check import check_reply
from judge.ports import Clock, Journal
from judge.types.requests import JudgeRequest
from judge.types.results import JudgeResult
from judge.types.steps import (
    AttemptStarted,
    DomainDetected,
    Emit,
    ReferencesReady,
    Step,
    SupportAsked,
)

GRACE_S = 0.25
"""After the deadline, for steps that can end better than with an error; then it is the end."""


def emit_nothing(_: Step) -> None:
    """For callers who only want the verdict."""


async def admit_everybody() -> None:
    """For a model that may be asked without end."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Run the judge's steps, in reading order, with the given collaborators."""

    knowledge: Callable[[], Knowledge]
    references: ReferenceCollector
    model: ModelCaller
    clock: Clock
    journal: Journal
    deadline_s: float
    support: SupportByModel | None = None
    """Asks the model about the citations of its verdict; None leaves that to the words."""
    admit: Callable[[], Awaitable[None]] = admit_everybody
    """Raises BudgetSpent when the model may not be asked any more; nothing is fetched then."""
    turn: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
    """Entered for the length of a judgement; raises Overloaded when there is no room for one."""

    async def judge(
        self,
        request: JudgeRequest,
        *,
        request_id: str,
        emit: Emit = emit_nothing,
        as_written: bool = False,
    ) -> JudgeResult:
        """Judge *request*, each step going to *emit*, and each field *as_written* if asked to.

        Raises UnknownDomain, BadScope, IndexUnavailable, ContentBlocked, InvalidReply,
        ModelUnavailable, Overloaded and DeadlineExceeded; a page or cache that fails only shortens
        the list of references.
        """
        deadline = Deadline.after(self.deadline_s, self.clock)
        try:
            async with asyncio.timeout(self.deadline_s + GRACE_S), self.turn():
                return await self._judge(request, request_id, emit, deadline, as_written=as_written)
        except TimeoutError:
            raise DeadlineExceeded(self.deadline_s) from None

    async def _judge(
        self,
        request: JudgeRequest,
        request_id: str,
        emit: Emit,
        deadline: Deadline,
        *,
        as_written: bool,
    ) -> JudgeResult:
        known = self.knowledge()
        dispute = read_dispute(request.context, request.query)
        detection = choose_domain(known.detector, dispute, request.domain)
        passages = await self.references.find_passages(request, known.catalog.retrieval)
        await self.admit()
        emit(DomainDetected(detection.domain, detection.scores))
        collected = await self.references.collect(
            dispute, detection.domain, passages, known.catalog, deadline
        )
        emit(ReferencesReady(collected.references))
        run = RunContext(
            request, known, collected, find_safety(known.safety, dispute), deadline,
            collected_at=self.clock.monotonic(),
        )  # fmt: skip
        streamed = StreamedFields(emit, known.personas, is_wanted=as_written)
        attempts = await self._ask(run, emit, streamed)
        result = build_result(request_id, detection, run, attempts)
        is_judged = result.personas[0].verdict is not None
        if self.support is not None and result.citations and is_judged:
            emit(SupportAsked(len(result.citations)))
            result = await self.support.checked(result, request, deadline)
        if request.hear_other_side:
            result = await hear_other_side(result, run, self.model)
        return replace(result, timings_ms=timings_of(run, self.clock.monotonic()))

    async def _ask(
        self, run: RunContext, emit: Emit, streamed: StreamedFields
    ) -> tuple[Attempt, ...]:
        """The attempts made: one, or two when the first reply had any defect."""
        emit(AttemptStarted(1))
        first = await self._attempt(run, streamed)
        log_attempt(self.journal, first, number=1)
        if not first.checked.defects:
            return (streamed.settled(first),)
        streamed.restart(first)
        emit(AttemptStarted(2))
        try:
            second = await self._attempt(run, streamed, previous=first)
        except (ModelUnavailable, DeadlineExceeded):
            if first.checked.reply is None:
                raise
            self.journal.note("model.second_attempt_lost")
            return (streamed.settled(first),)
        log_attempt(self.journal, second, number=2)
        streamed.end(second)
        return (streamed.settled(first), streamed.settled(second))

    async def _attempt(
        self, run: RunContext, streamed: StreamedFields, previous: Attempt | None = None
    ) -> Attempt:
        """Ask once; *previous* is the defective attempt that this one is to mend."""
        personas = run.known.personas
        prompt = render_prompt(
            run.request,
            run.collected.references,
            personas,
            needs_care=run.safety.needs_care,
            defects=previous.checked.defects if previous else (),
            settled=tuple(streamed.fields.values()),
        )
        has_more_room = previous is not None and previous.reply.finish == "truncated"
        can_be_shown = previous is not None and previous.checked.reply is not None
        caller = self.model.for_verdicts if can_be_shown else self.model
        try:
            reply, model = await caller.complete(
                prompt, run.deadline, has_more_room=has_more_room, listener=streamed.listener
            )
        except ContentBlocked as blocked:
            lines = merged_help((*run.safety.help, *run.known.catalog.blocked_help))
            raise ContentBlocked(blocked.reason, lines) from blocked
        streamed.finish(prompt, model, reply)
        checked = check_reply(
            reply,
            prompt,
            personas=personas,
            needs_verdicts=model.gives_verdicts,
            settled=streamed.fields,
        )
        return Attempt(reply, checked, model is not self.model.primary or not model.gives_verdicts)
