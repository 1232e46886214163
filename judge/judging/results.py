"""What a judgement knows and gathers, and how its attempts become the result that is shown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from judge.errors import InvalidReply
from judge.judging.care import SafetyFindings, SafetyRules, care_lines, merged_help
from judge.judging.domains import Detector
from judge.judging.model_caller import Deadline
from judge.judging.prompts import render_prompt
from judge.judging.references import NO_REFERENCES, CollectedReferences
from judge.judging.verdicts.check import ReplyCheck
from judge.library.country import Country
from judge.library.sources.catalog import SourceCatalog
from judge.types.references import Excerpt, Reference
from judge.types.replies import CheckedReply, Citation, Defect, ModelReply, Persona, Prompt, Usage
from judge.types.requests import Detection, JudgeRequest
from judge.types.results import HelpLine, JudgeResult, NextStep, Timings, Versions

MAX_STEPS: Final = 3
"""More would be a reading list and not something to do."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Everything derived from one sources file; replaced as a whole when the file changes."""

    catalog: SourceCatalog
    detector: Detector
    safety: SafetyRules
    personas: tuple[Persona, ...]
    versions: Versions


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A request and what was found for it before the model is asked."""

    request: JudgeRequest
    knowledge: Knowledge
    detection: Detection
    safety: SafetyFindings
    """What the words of the dispute suggest."""
    deadline: Deadline
    is_foreign: bool
    """Whether the dispute is not in the language whose words are known here."""
    collected: CollectedReferences = NO_REFERENCES
    prepared_at: float = 0.0
    """When that was done, in monotonic seconds."""
    care: frozenset[str] = frozenset()
    """The names of the safety rules that the model named so far."""

    @property
    def needs_care(self) -> bool:
        """Whether the words of the dispute or the model suggest danger."""
        return bool(self.safety.reasons or self.care)

    def help(self, *, is_judged: bool = True) -> tuple[HelpLine, ...]:
        """The help lines of the safety rules found by words or the model, then of the domain.

        With the emergency lines where nobody can tell from the words whether there is danger.
        """
        is_unsure = self.is_foreign or not is_judged
        lines = care_lines(self.knowledge.safety, self.safety, self.care, is_unsure=is_unsure)
        return merged_help((*lines, *self.knowledge.catalog.domain_help(self.detection.domain)))

    def prompt(self, defects: Sequence[Defect] = (), *, is_brief: bool = False) -> Prompt:
        """What the model is asked; after a first reply with its *defects*."""
        return render_prompt(
            self.request,
            self.collected.references,
            self.knowledge.personas,
            country=self.knowledge.catalog.country,
            set_in=self.collected.set_in,
            care=() if is_brief else self.knowledge.safety.names,
            needs_care=self.needs_care,
            is_brief=is_brief,
            defects=defects,
            doubtful=self.collected.doubtful,
            addresses=[f"{line.url} {line.phone}" for line in self.help()],
        )

    def timings(self, finished: float) -> Timings:
        """How long the phases took until *finished*, in monotonic seconds."""
        started = self.deadline.started
        spent = (self.prepared_at - started, finished - self.prepared_at, finished - started)
        return Timings(*(round(seconds * 1000, 1) for seconds in spent))


@dataclass(frozen=True, slots=True)
class Attempt:
    """A reply and the result of checking it; degraded when the configured model did not judge."""

    reply: ModelReply
    checked: ReplyCheck
    is_degraded: bool
    is_unmended: bool = False
    """Whether a second reply, asked for because of its defects, was lost or broke a hard rule."""

    @property
    def is_showable(self) -> bool:
        """Whether its reply breaks no hard rule."""
        return self.checked.reply is not None


def best_attempt(attempts: Sequence[Attempt]) -> tuple[Attempt, CheckedReply]:
    """The attempt with the fewest defects of those without a hard one; of equals the later.

    Raises InvalidReply with the defects of all attempts when each has a hard one.
    """
    usable = [(a, a.checked.reply) for a in attempts if a.checked.reply is not None]
    if not usable:
        raise InvalidReply(*(attempt.checked.defects for attempt in attempts))
    return min(reversed(usable), key=lambda pair: len(pair[0].checked.defects))


def build_result(
    request_id: str, prepared: PreparedRequest, attempts: Sequence[Attempt]
) -> JudgeResult:
    """The result of the best of *attempts*, not timed yet; raises InvalidReply if there is none."""
    best, reply = best_attempt(attempts)
    citations, references = reply.citations, prepared.collected.references
    cited = {citation.number for citation in citations}
    return JudgeResult(
        id=request_id,
        paraphrase=reply.paraphrase,
        summary=reply.summary,
        personas=reply.personas,
        domain=prepared.detection.domain,
        domain_scores=prepared.detection.scores,
        references=tuple([replace(r, cited=True) if r.number in cited else r for r in references]),
        snippets=tuple([Excerpt(r.url, r.text) for r in references]),
        citations=citations,
        evidence=reply.evidence,
        help=prepared.help(is_judged=reply.personas[0].verdict is not None),
        warnings=tuple(_warnings(best, reply, prepared)),
        other_side=None,
        model=best.reply.model,
        degraded=best.is_degraded or best.is_unmended,
        attempts=min(len(attempts), 2),  # a stand-in is no attempt of the model
        versions=replace(prepared.knowledge.versions, model=best.reply.version),
        usage=sum((attempt.reply.usage for attempt in attempts), Usage()),
        timings_ms=Timings(0, 0, 0),
        next_steps=next_steps(citations, references),
    )


def next_steps(
    citations: Sequence[Citation], references: Sequence[Reference]
) -> tuple[NextStep, ...]:
    """The first MAX_STEPS pages among *references* that *citations* name, in order of citation.

    Passages of indexed documents are left out: their `url` may be no address to be opened.
    """
    pages = {r.number: r for r in references if r.kind == "page"}
    cited = [pages[citation.number] for citation in citations if citation.number in pages]
    return tuple(dict.fromkeys(NextStep(page.title, page.url) for page in cited))[:MAX_STEPS]


def _warnings(best: Attempt, reply: CheckedReply, prepared: PreparedRequest) -> Iterator[str]:
    """What the reader should know before trusting the verdict, one sentence each."""
    yield from (str(defect) for defect in reply.defects)
    yield from _warnings_of_references(prepared.collected, prepared.knowledge.catalog.country)
    if reply.evidence == "weak":
        yield "What is cited says nothing of what it is cited for."
    if best.is_unmended:
        yield "A second reply, which was to mend the first, was lost or broke the rules."
    if prepared.is_foreign:
        yield (
            "The sources are in English. The subject of a dispute in another language is not "
            "recognised, so that few of them or none are offered."
        )
    if reply.personas[0].verdict is None:
        yield "No language model has judged this: the references are only quoted."
    elif best.is_degraded:
        yield f"The verdict comes from {best.reply.model}, which stood in for the usual model."


def _warnings_of_references(collected: CollectedReferences, country: Country) -> Iterator[str]:
    if left := collected.left_out:
        pages = left + sum(r.kind == "page" for r in collected.references)
        noun, verb = "page" if pages == 1 else "pages", "is" if left == 1 else "are"
        yield f"{left} of {pages} {noun} could not be read and {verb} left out."
    yield from collected.passage_warnings
    if collected.set_in:
        yield (
            f"This seems to be about {collected.set_in}: the guidance here is for {country.name}, "
            "and the law and the help lines elsewhere may differ."
        )
    elif collected.assumed_region:
        region = collected.assumed_region.replace("-", " ").title()
        yield f"No part of {country.name} is named: the law of {region} was assumed."
    for reference in collected.references:
        if reference.stale:
            read = reference.fetched_at.strftime(country.date_format)
            yield (
                f"Reference {reference.number} could not be fetched anew; its text is from {read}."
            )
