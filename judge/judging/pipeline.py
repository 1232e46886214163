"""The story of a judgement, from request to verdict. Read this file first.

detect a domain -> retrieve its pages -> render the prompt -> ask the model -> check the reply
                                                           '-- once more, defects named --'
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from judge.errors import (
    BadScope,
    BudgetSpent,
    ContentBlocked,
    DeadlineExceeded,
    ModelUnavailable,
    UnknownDomain,
)
from judge.judging.domains import detect_domain
from judge.judging.nations import find_nations
from judge.judging.pages.choose import choose_sources
from judge.judging.pages.retriever import SnippetRetriever
from judge.judging.prompts.render import number_references, render_prompt
from judge.judging.results import build_result, timings
from judge.judging.run_context import Attempt, Knowledge, RunContext
from judge.judging.safety import find_safety, merged_help
from judge.judging.sources import NATIONS, SourceCatalog
from judge.judging.verdicts.check import check_reply
from judge.ports import Clock, Journal, LanguageModel, PassageFinder
from judge.types.judgements import (
    DEFAULT_DOMAIN,
    AttemptStarted,
    CitablePassages,
    Detection,
    DomainDetected,
    JudgeRequest,
    JudgeResult,
    ModelReply,
    Prompt,
    Reference,
    ReferencesReady,
    Restarted,
    RetrievalSettings,
    Snippet,
    SourceSpec,
    Step,
)

Tell = Callable[[Step], None]
"""How a judgement reports what it is doing; it must return at once."""

ASSUMED_NATION = "england"
"""Whose law is meant by a dispute that names no nation: most of our users live there."""

FALLBACK_RESERVE_S = 1.0
"""Seconds kept back for the fallback when the model uses up its time."""


def tell_nobody(_: Step) -> None:
    """For callers who only want the verdict."""


async def admit_everybody() -> None:
    """For a model that may be asked without end."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Run the judge's steps, in reading order, with the given collaborators."""

    knowledge: Callable[[], Knowledge]
    retriever: SnippetRetriever
    model: LanguageModel
    fallback: LanguageModel | None
    clock: Clock
    journal: Journal
    deadline_s: float
    passages: PassageFinder | None = None
    """Where a scope finds what else may be cited; None where nothing is indexed."""
    admit: Callable[[], Awaitable[None]] = admit_everybody
    """Raises BudgetSpent when the model may not be asked any more; nothing is fetched then."""

    async def judge(
        self, request: JudgeRequest, *, request_id: str, tell: Tell = tell_nobody
    ) -> JudgeResult:
        """Judge *request*, telling each step to *tell*.

        Raises UnknownDomain, BadScope, IndexUnavailable, ContentBlocked, InvalidReply,
        ModelUnavailable and DeadlineExceeded; a page or cache that fails only shortens the list
        of references.
        """
        started = self.clock.monotonic()
        known = self.knowledge()
        detection = self._detect(request, known)
        passages = await self._find_passages(request, known.catalog.retrieval)
        await self.admit()
        tell(DomainDetected(detection.domain, detection.scores))
        care = find_safety(known.safety, context=request.context, query=request.query)
        nations = find_nations(f"{request.query}\n{request.context}")
        sources = _sources(request, detection.domain, known.catalog, nations)
        pages = await self._retrieve(detection.domain, sources, known.catalog.retrieval)
        references = number_references([*pages, *passages.snippets])
        tell(ReferencesReady(references))
        retrieved = self.clock.monotonic()
        hearing = RunContext(
            request=request,
            known=known,
            references=references,
            left_out=len(sources) - sum(r.kind == "page" for r in references),
            passage_warnings=passages.warnings,
            care=care,
            assumed_nation=None if nations else _assumed_nation(references, sources),
            deadline=started + self.deadline_s,
        )
        attempts = await self._ask(hearing, tell)
        return build_result(
            request_id,
            detection,
            hearing,
            attempts,
            timings(started, retrieved, self.clock.monotonic()),
        )

    def _detect(self, request: JudgeRequest, known: Knowledge) -> Detection:
        """The domain of the dispute, or the one that the request names."""
        detection = detect_domain(known.detector, context=request.context, query=request.query)
        if request.domain is None:
            return detection
        valid = [*(domain.name for domain in known.catalog.domains), DEFAULT_DOMAIN]
        if request.domain not in valid:
            raise UnknownDomain(request.domain, valid)
        return replace(detection, domain=request.domain)

    async def _find_passages(
        self, request: JudgeRequest, settings: RetrievalSettings
    ) -> CitablePassages:
        """The best passages of the request's scope, none when it has no scope."""
        if request.scope is None:
            return CitablePassages()
        if self.passages is None:
            raise BadScope("Nothing is indexed here, so a scope cannot be used. Leave it out.")
        dispute = f"{request.query}\n{request.context}"
        return await self.passages.find(dispute, request.scope, settings.passages_per_scope)

    async def _retrieve(
        self, domain: str, sources: Sequence[SourceSpec], settings: RetrievalSettings
    ) -> tuple[Snippet, ...]:
        """The snippets of *sources*, in half of the time at most.

        A verdict without a slow page is better than no verdict.
        """
        if settings.fetch_timeout_s > self.deadline_s / 2:
            settings = replace(settings, fetch_timeout_s=self.deadline_s / 2)
        return await self.retriever.retrieve(domain, sources, settings)

    async def _ask(self, hearing: RunContext, tell: Tell) -> tuple[Attempt, ...]:
        """The attempts made: one, or two when the first reply had any defect."""
        tell(AttemptStarted(1))
        first = await self._attempt(hearing)
        self._count(first, number=1)
        if not first.checked.defects:
            return (first,)
        tell(Restarted(first.checked.defects))
        tell(AttemptStarted(2))
        try:
            second = await self._attempt(hearing, previous=first)
        except (ModelUnavailable, DeadlineExceeded):
            if first.checked.reply is None:
                raise
            self.journal.note("model.second_attempt_lost")
            return (first,)
        self._count(second, number=2)
        return (first, second)

    async def _attempt(self, hearing: RunContext, previous: Attempt | None = None) -> Attempt:
        """Ask once; *previous* is the defective attempt that this one is to mend."""
        prompt = render_prompt(
            hearing.request,
            hearing.references,
            hearing.known.personas,
            needs_care=hearing.care.is_needed,
            defects=previous.checked.defects if previous else (),
        )
        has_more_room = previous is not None and previous.reply.finish == "truncated"
        try:
            reply, model = await self._complete(
                prompt, hearing.deadline, has_more_room=has_more_room
            )
        except ContentBlocked as blocked:
            lines = merged_help((*hearing.care.help, *hearing.known.catalog.blocked_help))
            raise ContentBlocked(blocked.reason, lines) from blocked
        checked = check_reply(
            reply,
            personas=hearing.known.personas,
            references=hearing.references,
            needs_verdicts=model.gives_verdicts,
        )
        return Attempt(reply, checked, model is not self.model or not model.gives_verdicts)

    async def _complete(
        self, prompt: Prompt, deadline: float, *, has_more_room: bool
    ) -> tuple[ModelReply, LanguageModel]:
        """The reply of the model, or of the fallback when the model is out of reach or slow.

        A budget that is spent is nobody's failure: it is told, fallback or not.
        """

        async def ask(model: LanguageModel, until: float) -> tuple[ModelReply, LanguageModel]:
            return await self._within(until, model, prompt, has_more_room=has_more_room), model

        if self.fallback is None:
            return await ask(self.model, deadline)
        try:
            return await ask(self.model, deadline - min(FALLBACK_RESERVE_S, self.deadline_s / 4))
        except BudgetSpent:
            raise
        except (ModelUnavailable, DeadlineExceeded) as error:
            self.journal.note("model.fallback", reason=type(error).__name__)
            return await ask(self.fallback, deadline)

    async def _within(
        self, deadline: float, model: LanguageModel, prompt: Prompt, *, has_more_room: bool
    ) -> ModelReply:
        timeout_s = deadline - self.clock.monotonic()
        try:
            async with asyncio.timeout(timeout_s):
                return await model.complete(
                    prompt, timeout_s=timeout_s, has_more_room=has_more_room
                )
        except TimeoutError:
            raise DeadlineExceeded(self.deadline_s) from None

    def _count(self, attempt: Attempt, *, number: int) -> None:
        """Report the cost and each rule that fired, so that ops see which one costs retries."""
        self.journal.note(
            "model.replied",
            model=attempt.reply.model,
            finish=attempt.reply.finish,
            input_tokens=attempt.reply.usage.input_tokens,
            output_tokens=attempt.reply.usage.output_tokens,
            thinking_tokens=attempt.reply.usage.thinking_tokens,
        )
        for defect in attempt.checked.defects:
            self.journal.note(
                "reply.defect", rule=defect.rule, attempt=number, is_hard=defect.is_hard
            )


def _sources(
    request: JudgeRequest, domain: str, catalog: SourceCatalog, nations: frozenset[str]
) -> tuple[SourceSpec, ...]:
    """The pages of *domain* that fit the request best; none for the default domain."""
    approved = next((spec.sources for spec in catalog.domains if spec.name == domain), ())
    return choose_sources(
        approved if nations else [s for s in approved if _applies_by_default(s)],
        context=request.context,
        query=request.query,
        limit=catalog.retrieval.sources_per_domain,
        nations=nations,
    )


def _applies_by_default(source: SourceSpec) -> bool:
    return not source.nations or ASSUMED_NATION in source.nations


def _assumed_nation(references: Sequence[Reference], sources: Sequence[SourceSpec]) -> str | None:
    """The nation we took for meant, if a page that is quoted does not hold in all of them."""
    quoted = {reference.url for reference in references}
    partial = (s for s in sources if s.nations and not set(NATIONS) <= set(s.nations))
    return ASSUMED_NATION if any(source.url in quoted for source in partial) else None
