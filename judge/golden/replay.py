"""The ports of a replay, with pages and replies from the case and the time that it was recorded.

And those of a recording, which store what passes through them.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from judge.errors import ContentBlocked, FetchError, ModelUnavailable
from judge.golden.cases import REPLAY_TIME, GoldenReply
from judge.ports import LanguageModel, PageFetcher
from judge.types.references import Media, Page
from judge.types.replies import ModelReply, Prompt


@dataclass(frozen=True, slots=True)
class ReplayClock:
    """A Clock that stands; `monotonic` moves only if a real model takes real time."""

    at: datetime = REPLAY_TIME
    is_live: bool = False

    def now(self) -> datetime:
        """The moment at which the case was recorded."""
        return self.at

    def monotonic(self) -> float:
        """Always 0 in a replay, and so are all timings."""
        return time.monotonic() if self.is_live else 0.0


class ReplayFetcher:
    """A PageFetcher that serves the pages of a case; all others, and those that are None, fail."""

    def __init__(self, pages: Mapping[str, Page | str | None]) -> None:
        self._pages = pages
        self.unknown: list[str] = []
        """Addresses that were requested and that the case does not have."""

    async def fetch(self, url: str, *, media: Media = "html", **_: Any) -> Page:
        """The page of the case; raises FetchError when it has none."""
        if url not in self._pages and media != "json":
            self.unknown.append(url)
        page = self._pages.get(url)
        if page is None:
            raise FetchError("connection", f"The case has no page for {url}.")
        page = Page(url, page.encode(), "utf-8") if isinstance(page, str) else page
        return replace(page, content_type="application/json" if media == "json" else "text/html")


class ReplayModel:
    """A LanguageModel that gives the replies of a case in order."""

    gives_verdicts = True
    name = "scripted"

    def __init__(self, replies: Sequence[GoldenReply]) -> None:
        self._replies = replies
        self.calls = 0

    async def complete(self, prompt: Prompt, **_: Any) -> ModelReply:
        """The next reply; raises what the case says, or ModelUnavailable past its last one."""
        self.calls += 1
        if self.calls > len(self._replies):
            raise ModelUnavailable(f"The case does not have reply {self.calls}.")
        reply = self._replies[self.calls - 1]
        if reply.blocked is not None:
            raise ContentBlocked(reply.blocked)
        if reply.unavailable is not None:
            raise ModelUnavailable(reply.unavailable)
        return ModelReply(reply.text, reply.model, reply.finish, reply.usage)


class RuleJournal:
    """A Journal that records which rules each reply broke, and nothing else."""

    def __init__(self) -> None:
        self.broken: list[tuple[str, ...]] = []

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Record a reply, or a rule that the last one broke."""
        if event == "model.replied":
            self.broken.append(())
        elif event == "reply.defect":
            self.broken[-1] += (str(fields["rule"]),)


class RecordingFetcher:
    """A PageFetcher that stores what *fetcher* returns; None stands for a page that is down."""

    def __init__(self, fetcher: PageFetcher) -> None:
        self._fetcher = fetcher
        self.pages: dict[str, Page | None] = {}

    async def fetch(self, url: str, *, media: Media = "html", **options: Any) -> Page:
        """See `PageFetcher.fetch`."""
        if media != "json":
            self.pages[url] = None  # Stays None on a timeout too.
        page = await self._fetcher.fetch(url, media=media, **options)
        if isinstance(page, Page):
            self.pages[url] = page
        return page


class RecordingModel:
    """A LanguageModel that stores what *model* replies, in the form of a case."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.name = model.name
        self.gives_verdicts = model.gives_verdicts
        self.replies: list[dict[str, Any]] = []
        self.model_replies: list[ModelReply] = []
        self.prompts: list[Prompt] = []

    async def complete(self, prompt: Prompt, **options: Any) -> ModelReply:
        """See `LanguageModel.complete`."""
        self.prompts.append(prompt)
        try:
            reply = await self._model.complete(prompt, **options)
        except ContentBlocked as error:
            self.replies.append({"blocked": error.reason})
            raise
        except (ModelUnavailable, TimeoutError, asyncio.CancelledError) as error:
            self.replies.append({"unavailable": str(error) or "no reply in time"})
            raise
        self.model_replies.append(reply)
        fields = asdict(reply)
        self.replies.append({key: fields[key] for key in ("text", "finish", "model", "usage")})
        return reply
