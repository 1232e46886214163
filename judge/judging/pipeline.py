"""How one dispute is judged, from request to verdict. Read this file first.

detect the domain -> collect references -> render the prompt -> ask the model -> check the reply
                                           '<-- once more, with the defects named --'
-> if the request asks for it: retell the dispute from the other side, and judge that too
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace

from judge.errors import ContentBlocked, DeadlineExceeded, ModelUnavailable
from judge.judging.care import find_safety, merged_help
from judge.judging.domains import choose_domain
from judge.judging.knowledge import Knowledge
from judge.judging.model_caller import Deadline, ModelCaller
from judge.judging.other_side.hearing import hear_other_side
from judge.judging.prompts.render import render_prompt
from judge.judging.references import ReferenceCollector
from judge.judging.results import build_result, timings_of
from judge.judging.run_context import Attempt, RunContext, log_attempt
from judge.judging.streamed_fields import StreamedFields
from judge.judging.support_by_model import SupportByModel
from judge.judging.verdicts.check import check_reply
from judge.library.dispute import read_dispute
from judge.ports import Clock, Journal
from judge.types.requests import JudgeRequest
from judge.types.results import (
    AttemptStarted,
    DomainDetected,
    Emit,
    JudgeResult,
    ReferencesReady,
    Step,
    SupportAsked,
)

GRACE_S = 0.25
"""Seconds past the deadline in which a step can still end with a result instead of an error."""


def emit_nothing(_: Step) -> None:
    """For callers who only want the verdict."""


async def unlimited_budget() -> None:
    """For a model that may be asked any number of times."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The steps of a judgement, in order, on the given collaborators."""

    knowledge: Callable[[], Knowledge]
    """Returns what the sources file says now; each request calls it once."""
    references: ReferenceCollector
    model: ModelCaller
    clock: Clock
    journal: Journal
    deadline_s: float
    support: SupportByModel | None = None
    """Rates each citation with the model (JUDGE_SUPPORT=model); None compares words only."""
    check_budget: Callable[[], Awaitable[None]] = unlimited_budget
    """Raises BudgetSpent when the model may not be asked any more; called before any fetch."""
    admission: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
    """Entered for the length of a judgement; raises Overloaded when too many are running."""

    async def judge(
        self,
        request: JudgeRequest,
        *,
        request_id: str,
        emit: Emit = emit_nothing,
        stream_fields: bool = False,
    ) -> JudgeResult:
        """Judge *request*; report each step to *emit*, with *stream_fields* also each field.

        Raises UnknownDomain, BadScope, IndexUnavailable, ContentBlocked, InvalidReply,
        ModelUnavailable, Overloaded and DeadlineExceeded. When a page or the cache fails, there
        are only fewer references.
        """
        deadline = Deadline.after(self.deadline_s, self.clock)
        try:
            async with asyncio.timeout(self.deadline_s + GRACE_S), self.admission():
                return await self._judge(
                    request, request_id, emit, deadline, stream_fields=stream_fields
                )
        except TimeoutError:
            raise DeadlineExceeded(self.deadline_s) from None

    async def _judge(
        self,
        request: JudgeRequest,
        request_id: str,
        emit: Emit,
        deadline: Deadline,
        *,
        stream_fields: bool,
    ) -> JudgeResult:
        knowledge = self.knowledge()
        catalog = knowledge.catalog
        dispute = read_dispute(request.context, request.query)
        detection = choose_domain(knowledge.detector, dispute, request.domain)
        passages = await self.references.find_passages(request, catalog.retrieval)
        await self.check_budget()
        emit(DomainDetected(detection.domain, detection.scores))
        collected = await self.references.collect(
            dispute, detection.domain, passages, catalog, deadline
        )
        emit(ReferencesReady(collected.references))
        safety = find_safety(knowledge.safety, dispute)
        collected_at = self.clock.monotonic()
        run = RunContext(request, knowledge, detection, collected, safety, deadline, collected_at)
        streamed = StreamedFields(emit, is_enabled=stream_fields)
        attempts = await self._ask(run, emit, streamed)
        result = build_result(request_id, run, attempts)
        is_judged = result.personas[0].verdict is not None
        if self.support is not None and result.citations and is_judged:
            emit(SupportAsked(len(result.citations)))
            result = await self.support.rate_citations(result, request, deadline)
        if request.hear_other_side:
            result = await hear_other_side(result, run, self.model)
        return replace(result, timings_ms=timings_of(run, self.clock.monotonic()))

    async def _ask(
        self, run: RunContext, emit: Emit, streamed: StreamedFields
    ) -> tuple[Attempt, ...]:
        """Ask the model, and once more if the reply has any defect; returns one or two attempts."""
        emit(AttemptStarted(1))
        first = await self._attempt(run, streamed)
        log_attempt(self.journal, first, number=1)
        if not first.checked.defects:
            return (first,)
        streamed.restart(first)
        emit(AttemptStarted(2))
        try:
            second = await self._attempt(run, streamed, previous=first)
        except (ModelUnavailable, DeadlineExceeded):
            if first.checked.reply is None:
                raise
            self.journal.note("model.second_attempt_lost")
            return (streamed.merge_into(first),)
        log_attempt(self.journal, second, number=2)
        streamed.withdraw_if_recited(second)
        return (streamed.merge_into(first), second)

    async def _attempt(
        self, run: RunContext, streamed: StreamedFields, previous: Attempt | None = None
    ) -> Attempt:
        """Ask the model once and check its reply; *previous* is the attempt to be corrected."""
        prompt = render_prompt(
            run.request,
            run.collected.references,
            run.knowledge.personas,
            needs_care=run.safety.needs_care,
            defects=previous.checked.defects if previous else (),
            settled=tuple(streamed.fields.values()),
        )
        was_truncated = previous is not None and previous.reply.finish == "truncated"
        # A first reply that can be shown is better than one that only quotes.
        is_showable = previous is not None and previous.checked.reply is not None
        caller = self.model.without_quoting_fallback if is_showable else self.model
        try:
            reply, model = await caller.complete(
                prompt, run.deadline, doubles_limit=was_truncated, listener=streamed.listener
            )
        except ContentBlocked as blocked:
            catalog = run.knowledge.catalog
            lines = catalog.blocked_help or catalog.domain_help(run.detection.domain)
            help_lines = merged_help((*run.safety.help, *lines))
            raise ContentBlocked(blocked.reason, help_lines) from blocked
        streamed.finish(prompt, model, reply)
        checked = check_reply(
            reply, prompt, needs_verdicts=model.gives_verdicts, settled=streamed.fields
        )
        is_degraded = model is not self.model.primary or not model.gives_verdicts
        return Attempt(reply, checked, is_degraded)
