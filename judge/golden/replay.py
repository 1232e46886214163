"""The ports of a replay: pages and replies come from the case, and time stands still."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from judge.errors import ContentBlocked, FetchError, ModelUnavailable
from judge.golden.cases import GoldenReply
from judge.types.judging import ModelReply, Page, Prompt, Usage, Validators

REPLAY_TIME = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
"""The moment at which every replay takes place."""

SCRIPTED = "scripted"
NONE_KNOWN = Validators()


class StillClock:
    """A Clock that never moves."""

    def now(self) -> datetime:
        """The moment of every replay."""
        return REPLAY_TIME

    def monotonic(self) -> float:
        """Always zero, so that all timings are."""
        return 0.0


class ReplayFetcher:
    """A PageFetcher that knows the pages of a case; all others, and those of None, are down."""

    def __init__(self, pages: Mapping[str, str | None]) -> None:
        self._pages = pages

    async def fetch(
        self, url: str, *, timeout_s: float, validators: Validators = NONE_KNOWN
    ) -> Page:
        """The page of the case; raises FetchError when it has none."""
        html = self._pages.get(url)
        if html is None:
            raise FetchError("connection", f"The case has no page for {url}.")
        return Page(url, html.encode(), "utf-8")


class ReplayModel:
    """A LanguageModel that gives the replies of a case in order, and remembers the prompts."""

    gives_verdicts = True
    name = SCRIPTED

    def __init__(self, replies: Sequence[GoldenReply]) -> None:
        self._replies = list(replies)
        self.prompts: list[Prompt] = []

    async def complete(
        self, prompt: Prompt, *, timeout_s: float, has_more_room: bool
    ) -> ModelReply:
        """The next reply; raises what the case says, or ModelUnavailable past its last one."""
        self.prompts.append(prompt)
        if len(self.prompts) > len(self._replies):
            raise ModelUnavailable(f"The case has only {len(self._replies)} replies.")
        reply = self._replies[len(self.prompts) - 1]
        if reply.blocked is not None:
            raise ContentBlocked(reply.blocked)
        if reply.unavailable is not None:
            raise ModelUnavailable(reply.unavailable)
        return ModelReply(reply.text, SCRIPTED, reply.finish, Usage())


class SilentJournal:
    """A Journal for replays, which are nobody's traffic."""

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Forget it."""
