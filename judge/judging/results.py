"""The end of the story: attempts become the result that is shown, with all it should warn of."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judge.errors import InvalidReply
from judge.judging.run_context import Attempt, RunContext
from judge.types.judgements import (
    CheckedReply,
    Detection,
    Excerpt,
    JudgeResult,
    Timings,
    Usage,
)


def _best(attempts: Sequence[Attempt]) -> tuple[Attempt, CheckedReply]:
    """The attempt to show: no hard defect, then fewer defects, then the later one.

    Raises InvalidReply with the defects of all attempts when each has a hard one.
    """
    usable = [(a, a.checked.reply) for a in attempts if a.checked.reply is not None]
    if not usable:
        defects = [defect for attempt in attempts for defect in attempt.checked.defects]
        raise InvalidReply(defects, attempts=len(attempts))
    return min(reversed(usable), key=lambda pair: len(pair[0].checked.defects))


def build_result(
    request_id: str,
    detection: Detection,
    hearing: RunContext,
    attempts: Sequence[Attempt],
    timings: Timings,
) -> JudgeResult:
    """The result of *attempts*: the best of them; raises InvalidReply when none can be shown."""
    shown, verdict = _best(attempts)
    cited = {citation.number for citation in verdict.citations}
    return JudgeResult(
        id=request_id,
        paraphrase=verdict.paraphrase,
        summary=verdict.summary,
        personas=verdict.personas,
        domain=detection.domain,
        domain_scores=detection.scores,
        references=tuple(replace(r, cited=r.number in cited) for r in hearing.references),
        snippets=tuple(Excerpt(r.url, r.text) for r in hearing.references),
        citations=verdict.citations,
        evidence=verdict.evidence,
        help=hearing.care.help,
        warnings=tuple(_warnings(shown, verdict, hearing)),
        model=shown.reply.model,
        degraded=shown.is_degraded,
        attempts=len(attempts),
        versions=hearing.known.versions,
        usage=sum((attempt.reply.usage for attempt in attempts), Usage()),
        timings_ms=timings,
    )


def _warnings(shown: Attempt, verdict: CheckedReply, hearing: RunContext) -> Iterator[str]:
    """What the reader should know before trusting the verdict, one sentence each."""
    yield from (str(defect) for defect in verdict.defects)
    if hearing.left_out:
        pages = hearing.left_out + sum(r.kind == "page" for r in hearing.references)
        verb = "is" if hearing.left_out == 1 else "are"
        yield f"{hearing.left_out} of {pages} pages could not be read and {verb} left out."
    yield from hearing.passage_warnings
    if hearing.assumed_nation:
        nation = hearing.assumed_nation.title()
        yield f"No nation of the United Kingdom is named: the law of {nation} was assumed."
    for reference in hearing.references:
        if reference.stale:
            yield (
                f"Reference {reference.number} could not be fetched anew; "
                f"its text is from {reference.fetched_at:%d %B %Y}."
            )
    if verdict.personas[0].verdict is None:
        yield "No language model has judged this: the references are only quoted."
    elif shown.is_degraded:
        yield f"The verdict comes from {shown.reply.model}, which stood in for the usual model."


def timings(started: float, retrieved: float, finished: float) -> Timings:
    """The times between three readings of the monotonic clock, in seconds."""
    return Timings(
        references=_ms(retrieved - started),
        model=_ms(finished - retrieved),
        total=_ms(finished - started),
    )


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
