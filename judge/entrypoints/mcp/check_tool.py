"""The tool `check_citations`: the same check as at every other entrypoint."""

from dataclasses import dataclass

from judge.bootstrap import Services
from judge.citations.check import (
    AnswerVerdict,
    CheckedAnswer,
    CheckedMark,
    CheckedSource,
    UncitedClaim,
)
from judge.entrypoints.check_requests import CheckRequest, check
from judge.entrypoints.mcp.results import fitting

TOO_LONG = "Not all fits into one answer: check it in parts. The verdict is of the whole."


@dataclass(frozen=True, slots=True)
class CheckedCitations:
    """As `POST /api/check`; where not all fits, the last sources are left out first."""

    marks: list[CheckedMark]
    uncited: list[UncitedClaim]
    verdict: AnswerVerdict
    sources: list[CheckedSource]
    truncated: bool
    hint: str | None = None


async def check_citations(services: Services, asked: CheckRequest) -> CheckedCitations:
    """The checked answer, capped; raises the errors of `check`."""
    return _capped(await check(asked, services))


def _capped(found: CheckedAnswer) -> CheckedCitations:
    whole = (*found.marks, *found.uncited, *found.sources)
    kept = fitting(whole)
    is_cut = len(kept) < len(whole)
    return CheckedCitations(
        marks=[one for one in kept if isinstance(one, CheckedMark)],
        uncited=[one for one in kept if isinstance(one, UncitedClaim)],
        verdict=found.verdict,
        sources=[one for one in kept if isinstance(one, CheckedSource)],
        truncated=is_cut,
        hint=TOO_LONG if is_cut else None,
    )
