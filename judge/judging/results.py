"""The last step: attempts become the result that is shown, with its warnings."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from judge.errors import InvalidReply
from judge.judging.care import merged_help
from judge.judging.run_context import Attempt, RunContext
from judge.types.references import Excerpt, Reference
from judge.types.replies import CheckedReply, Citation, Usage
from judge.types.results import JudgeResult, NextStep, Timings

MAX_STEPS: Final = 3
"""More would be a reading list and not something to do."""


def _best(attempts: Sequence[Attempt]) -> tuple[Attempt, CheckedReply]:
    """The attempt with the fewest defects of those without a hard one; of equals the later.

    Raises InvalidReply with the defects of all attempts when each has a hard one.
    """
    usable = [(a, a.checked.reply) for a in attempts if a.checked.reply is not None]
    if not usable:
        defects = [defect for attempt in attempts for defect in attempt.checked.defects]
        raise InvalidReply(defects, attempts=len(attempts))
    return min(reversed(usable), key=lambda pair: len(pair[0].checked.defects))


def build_result(request_id: str, run: RunContext, attempts: Sequence[Attempt]) -> JudgeResult:
    """The result of the best of *attempts*; raises InvalidReply when none can be shown.

    `timings_ms` is all zeros: the caller sets it after the last step.
    """
    best, reply = _best(attempts)
    catalog, detection = run.knowledge.catalog, run.detection
    citations, references = reply.citations, run.collected.references
    cited = {citation.number for citation in citations}
    return JudgeResult(
        id=request_id,
        paraphrase=reply.paraphrase,
        summary=reply.summary,
        personas=reply.personas,
        domain=detection.domain,
        domain_scores=detection.scores,
        references=tuple([replace(r, cited=True) if r.number in cited else r for r in references]),
        snippets=tuple([Excerpt(r.url, r.text) for r in references]),
        citations=citations,
        evidence=reply.evidence,
        help=merged_help((*run.safety.help, *catalog.domain_help(detection.domain))),
        warnings=tuple(_warnings(best, reply, run)),
        other_side=None,
        model=best.reply.model,
        degraded=best.is_degraded,
        attempts=len(attempts),
        versions=run.knowledge.versions,
        usage=sum((attempt.reply.usage for attempt in attempts), Usage()),
        timings_ms=Timings(0, 0, 0),
        next_steps=next_steps(citations, references),
    )


def next_steps(
    citations: Sequence[Citation], references: Sequence[Reference]
) -> tuple[NextStep, ...]:
    """The first MAX_STEPS pages among *references* that *citations* name, in order of citation.

    Titles and URLs are those of the pages, so no step is invented. Passages of indexed documents
    are left out: their `url` may be no address that can be opened.
    """
    pages = {r.number: r for r in references if r.kind == "page"}
    cited = [pages[citation.number] for citation in citations if citation.number in pages]
    return tuple(dict.fromkeys(NextStep(page.title, page.url) for page in cited))[:MAX_STEPS]


def _warnings(best: Attempt, reply: CheckedReply, run: RunContext) -> Iterator[str]:
    """What the reader should know before trusting the verdict, one sentence each."""
    yield from (str(defect) for defect in reply.defects)
    collected = run.collected
    if collected.left_out:
        pages = collected.left_out + sum(r.kind == "page" for r in collected.references)
        noun, verb = "page" if pages == 1 else "pages", "is" if collected.left_out == 1 else "are"
        yield f"{collected.left_out} of {pages} {noun} could not be read and {verb} left out."
    yield from collected.passage_warnings
    if collected.assumed_nation:
        nation = collected.assumed_nation.title()
        yield f"No nation of the United Kingdom is named: the law of {nation} was assumed."
    for reference in collected.references:
        if reference.stale:
            yield (
                f"Reference {reference.number} could not be fetched anew; "
                f"its text is from {reference.fetched_at:%d %B %Y}."
            )
    if reply.personas[0].verdict is None:
        yield "No language model has judged this: the references are only quoted."
    elif best.is_degraded:
        yield f"The verdict comes from {best.reply.model}, which stood in for the usual model."


def timings_of(run: RunContext, finished: float) -> Timings:
    """How long the phases of *run* took; *finished* is in monotonic seconds."""
    return Timings(
        references=_ms(run.collected_at - run.deadline.started),
        model=_ms(finished - run.collected_at),
        total=_ms(finished - run.deadline.started),
    )


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
