"""MCP progress notifications during a call."""

import asyncio
from functools import partial

import pytest

from judge.entrypoints.mcp.calls import reporting
from tests.entrypoints.api_bench import BAD_REPLY, DISPUTE, GOOD_REPLY
from tests.entrypoints.mcp_bench import MODES, OpenMcpBench, open_mcp_bench
from tests.fakes.model import ScriptedModel


@pytest.fixture
def opened(tmp_path) -> OpenMcpBench:
    return partial(open_mcp_bench, tmp_path)


class ProgressLog:
    """A client's record of its progress notifications."""

    def __init__(self) -> None:
        self.counts: list[float] = []
        self.steps: list[str | None] = []

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.counts.append(progress)
        self.steps.append(message)


@pytest.mark.parametrize("mode", MODES)
async def test_judgement_reports_its_steps_without_text_of_the_dispute(opened, mode):
    heard = ProgressLog()
    model = ScriptedModel(BAD_REPLY, GOOD_REPLY)
    async with opened(model) as mcp_server, mcp_server.client(mode) as client:
        await client.call_tool("judge_dispute", DISPUTE, progress_callback=heard)
    assert heard.steps == [
        "judge_dispute has begun.",
        "The domain is tenancy; reading its pages.",
        "1 reference may be cited.",
        "Asking the model.",
        "The reply broke 4 rules.",
        "Asking the model once more.",
    ]
    assert heard.counts == sorted(set(heard.counts))


async def test_every_tool_reports_progress(opened):
    calls = {
        "where_used": {"symbol": "total"},
        "check_citations": {"answer": "So it is [1].", "sources": [{"text": "It is."}]},
        "list_collections": {},
    }
    for tool, arguments in calls.items():
        heard = ProgressLog()
        async with opened() as mcp_server, mcp_server.client() as client:
            await client.call_tool(tool, arguments, progress_callback=heard)
        assert heard.steps[0] == f"{tool} has begun."


class Session:
    """A session that records, and that may have lost its client."""

    def __init__(self, *, is_lost: bool = False) -> None:
        self.told: list[tuple[int, str]] = []
        self.is_lost = is_lost
        self.enough = asyncio.Event()

    async def report_progress(self, progress, total=None, message=None):
        if self.is_lost:
            raise ConnectionError
        self.told.append((progress, message))
        if len(self.told) == 4:
            self.enough.set()


class CallContext:
    """The context of a call."""

    def __init__(self, session: Session) -> None:
        self.session = session


async def test_last_step_is_repeated_as_a_heartbeat():
    session = Session()
    async with reporting(CallContext(session), "slow", heartbeat_s=0.01) as report:
        report("Digging.")
        async with asyncio.timeout(10):
            await session.enough.wait()
    assert session.told[:4] == [(1, "slow has begun."), *((n, "Digging.") for n in (2, 3, 4))]
    told = len(session.told)
    await asyncio.sleep(0)
    assert len(session.told) == told


async def test_lost_client_does_not_break_the_call():
    async with reporting(CallContext(Session(is_lost=True)), "lost") as report:
        report("Digging.")
    with pytest.raises(ZeroDivisionError):
        async with reporting(CallContext(Session()), "broken"):
            raise ZeroDivisionError
