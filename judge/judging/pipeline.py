"""How one dispute is judged, from request to verdict. Read this file first.

detect the domain -> collect references -> render the prompt -> ask the model -> check the reply
                                           '<-- once more, with the defects named --'
-> if the request asks for it: retell the dispute from the other side, and judge that too
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace

from judge.errors import (
    ContentBlocked,
    DeadlineExceeded,
    InvalidRequest,
    JudgeError,
    ModelUnavailable,
)
from judge.judging.care import care_lines, find_safety, merged_help
from judge.judging.domains import detect_domain
from judge.judging.model_caller import Deadline, ModelCaller, costs_of
from judge.judging.other_side import hear_other_side
from judge.judging.references import ReferenceCollector
from judge.judging.results import Attempt, Knowledge, PreparedRequest, best_attempt, build_result
from judge.judging.streamed_fields import StreamedFields
from judge.judging.support_by_model import SupportRater
from judge.judging.verdicts.check import check_reply
from judge.library.dispute import read_dispute
from judge.ports import Clock, Journal
from judge.text.english import is_english
from judge.types.requests import DEFAULT_DOMAIN, JudgeRequest
from judge.types.results import (
    AttemptStarted,
    DomainDetected,
    Emit,
    HelpFound,
    HelpLine,
    JudgeResult,
    ReferencesReady,
    SupportAsked,
)

GRACE_S = 0.25
"""Seconds past the deadline in which a step can still end with a result instead of an error."""


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
    support: SupportRater | None = None
    """Rates each citation with a model (JUDGE_SUPPORT); None compares words only."""
    check_budget: Callable[[], Awaitable[None]] | None = None
    """Raises BudgetSpent when the model may not be asked any more; called before any fetch."""
    admission: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
    """Entered for the length of a judgement; raises Overloaded when too many are running."""

    async def judge(
        self,
        request: JudgeRequest,
        *,
        request_id: str,
        emit: Emit = lambda _: None,
        stream_fields: bool = False,
    ) -> JudgeResult:
        """Judge *request*; report each step to *emit*, with *stream_fields* also each field.

        Raises UnknownDomain, BadScope, IndexUnavailable, ContentBlocked, InvalidReply,
        ModelUnavailable, Overloaded and DeadlineExceeded. When a page or the cache fails, there
        are only fewer references.
        """
        deadline = Deadline.after(self.deadline_s, self.clock)
        care: set[str] = set()
        try:
            async with asyncio.timeout(self.deadline_s + GRACE_S), self.admission():
                prepared = await self._prepare(request, emit, deadline)
                prepared, attempts = await self._ask(
                    prepared, emit, care, stream_fields=stream_fields
                )
                result = build_result(request_id, prepared, attempts)
                is_judged = result.personas[0].verdict is not None
                if self.support is not None and result.citations and is_judged:
                    emit(SupportAsked(len(result.citations)))
                    result = await self.support(result, request, deadline)
                if request.hear_other_side:
                    result = await hear_other_side(result, prepared, self.model)
                return replace(result, timings_ms=prepared.timings(self.clock.monotonic()))
        except TimeoutError:
            late = DeadlineExceeded(self.deadline_s)
            late.help_lines = self._help_without_judgement(request, care)
            raise late from None
        except JudgeError as error:
            if not isinstance(error, InvalidRequest):
                error.help_lines = error.help_lines or self._help_without_judgement(request, care)
            raise

    def _help_without_judgement(
        self, request: JudgeRequest, care: Iterable[str]
    ) -> tuple[HelpLine, ...]:
        """The help lines without a verdict; *care* is what a model saw before it failed."""
        rules = self.knowledge().safety
        found = find_safety(rules, read_dispute(request.context, request.query))
        return care_lines(rules, found, care, is_unsure=True)

    async def _prepare(
        self, request: JudgeRequest, emit: Emit, deadline: Deadline
    ) -> PreparedRequest:
        """Detect the domain, look for danger and collect the references."""
        knowledge = self.knowledge()
        catalog = knowledge.catalog
        dispute = read_dispute(request.context, request.query)
        detection = detect_domain(knowledge.detector, dispute, request.domain)
        passages = await self.references.find_passages(request, catalog.retrieval)
        if self.check_budget:
            await self.check_budget()
        emit(DomainDetected(detection.domain, detection.scores))
        safety = find_safety(knowledge.safety, dispute)
        knows_words = catalog.country.language.startswith("en")
        is_foreign = knows_words and not is_english(f"{request.context} {request.query}")
        prepared = PreparedRequest(request, knowledge, detection, safety, deadline, is_foreign)
        if lines := prepared.help():
            emit(HelpFound(lines))
        cites_pages = request.domain != DEFAULT_DOMAIN
        collected = await self.references.collect(
            dispute, detection.domain, passages, catalog, cites_pages=cites_pages
        )
        emit(ReferencesReady(collected.references))
        return replace(prepared, collected=collected, prepared_at=self.clock.monotonic())

    async def _ask(
        self, prepared: PreparedRequest, emit: Emit, care: set[str], *, stream_fields: bool
    ) -> tuple[PreparedRequest, list[Attempt]]:
        """Ask the model, and once more if the reply has any defect.

        Returns *prepared* with what the model sees that calls for care, and one attempt or more;
        adds that to *care* as soon as it is seen.
        """

        def see_care(names: Sequence[str]) -> None:
            nonlocal prepared
            if care.issuperset(names):
                return
            care.update(names)
            told, prepared = prepared.help(), replace(prepared, care=frozenset(care))
            if prepared.help() != told:
                emit(HelpFound(prepared.help()))

        streamed = StreamedFields(emit, see_care, is_enabled=stream_fields)
        emit(AttemptStarted(1))
        first = await self._attempt(prepared, streamed, self.model)
        attempts = [first]
        see_care(first.checked.care)
        if asked_again := first.checked.asked_again:
            streamed.restart(asked_again)
            emit(AttemptStarted(2))
            # A first reply that can be shown is better than one that only quotes.
            caller = self.model.without_quoting_fallback if first.is_showable else self.model
            try:
                attempts.append(await self._attempt(prepared, streamed, caller, previous=first))
                see_care(attempts[1].checked.care)
            except (ModelUnavailable, DeadlineExceeded):
                if not first.is_showable:
                    raise
                self.journal.note("model.second_attempt_lost")
        if not attempts[-1].is_showable:
            streamed.withdraw(attempts[-1].checked.defects)
            attempts += await self._stand_in(prepared, streamed, attempts)
        if asked_again and (len(attempts) == 1 or not attempts[-1].is_showable):
            attempts[0] = replace(first, is_unmended=True)
        _, reply = best_attempt(attempts)
        streamed.finish(reply.fields)
        return prepared, attempts

    async def _stand_in(
        self, prepared: PreparedRequest, streamed: StreamedFields, attempts: Sequence[Attempt]
    ) -> list[Attempt]:
        """The reply of the fallback after *attempts*, if none of them can be shown and it can."""
        caller = self.model.fallback_only
        if caller is None or any(one.is_showable or one.is_degraded for one in attempts):
            return []
        self.journal.note("model.fallback", reason="InvalidReply")
        try:
            attempt = await self._attempt(prepared, streamed, caller)
        except (ModelUnavailable, DeadlineExceeded):
            return []
        return [attempt] if attempt.is_showable else []

    async def _attempt(
        self,
        prepared: PreparedRequest,
        streamed: StreamedFields,
        caller: ModelCaller,
        previous: Attempt | None = None,
    ) -> Attempt:
        """Ask *caller* once and check the reply; *previous* is the attempt to be corrected."""
        prompt = prepared.prompt(previous.checked.asked_again if previous else ())
        was_truncated = previous is not None and previous.reply.finish == "truncated"
        try:
            reply, model = await caller.complete(
                prompt, prepared.deadline, doubles_limit=was_truncated, listener=streamed.listener
            )
        except ContentBlocked as blocked:
            known = prepared.knowledge
            lines = prepared.help(is_judged=False)
            if known.catalog.blocked_help:
                own_lines = care_lines(known.safety, prepared.safety, prepared.care)
                lines = merged_help((*own_lines, *known.catalog.blocked_help))
            raise ContentBlocked(blocked.reason, lines) from blocked
        checked = check_reply(reply, prompt, needs_verdicts=model.gives_verdicts)
        self.journal.note("model.replied", **costs_of(reply))
        for defect in checked.defects:  # so that ops see which rule causes retries
            number = 2 if previous else 1
            self.journal.note(
                "reply.defect", rule=defect.rule, attempt=number, severity=defect.severity
            )
        is_degraded = model is not self.model.primary or not model.gives_verdicts
        return Attempt(reply, checked, is_degraded)
