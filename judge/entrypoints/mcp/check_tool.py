"""The tool `check_citations`: the same check as at every other entrypoint."""

from dataclasses import asdict, dataclass

from judge.bootstrap import Services
from judge.citations.check import CheckedAnswer
from judge.entrypoints.check_requests import CheckRequest, check
from judge.entrypoints.mcp.calls import ToolCall
from judge.entrypoints.mcp.pages import Json


@dataclass(frozen=True, slots=True)
class CheckedCitations(CheckedAnswer):
    """As `POST /api/check`; the verdict is of the whole, also where that comes in parts."""

    truncated: bool
    hint: str | None


async def check_citations(services: Services, asked: CheckRequest, call: ToolCall) -> Json:
    """The checked answer; raises the errors of `check`."""
    call.report(f"Holding the answer against {len(asked.sources)} sources.")
    return {**asdict(await check(asked, services)), "truncated": False, "hint": None}
