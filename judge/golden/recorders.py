"""Ports that keep what passes through them: the pages of the web, the replies of a model."""

import asyncio
from dataclasses import asdict
from typing import Any

from judge.errors import ContentBlocked, ModelUnavailable
from judge.ports import LanguageModel, PageFetcher
from judge.types.references import Media, NotModified, Page
from judge.types.replies import ModelReply, Prompt


class RecordingFetcher:
    """A PageFetcher that keeps what *fetcher* brings; None stands for a page that is down."""

    def __init__(self, fetcher: PageFetcher) -> None:
        self._fetcher = fetcher
        self.pages: dict[str, Page | None] = {}

    async def fetch(self, url: str, *, media: Media = "html", **how: Any) -> Page | NotModified:
        """As *fetcher* does, FetchError included."""
        if media == "html":
            self.pages[url] = None  # Also when the time runs out.
        page = await self._fetcher.fetch(url, media=media, **how)
        if isinstance(page, Page):
            self.pages[url] = page
        return page


class RecordingModel:
    """A LanguageModel that keeps what *model* says, as a case writes it."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.name = model.name
        self.gives_verdicts = model.gives_verdicts
        self.replies: list[dict[str, Any]] = []
        self.prompts: list[Prompt] = []

    async def complete(self, prompt: Prompt, **how: Any) -> ModelReply:
        """As *model* does."""
        self.prompts.append(prompt)
        try:
            reply = await self._model.complete(prompt, **how)
        except ContentBlocked as error:
            self.replies.append({"blocked": error.reason})
            raise
        except (ModelUnavailable, TimeoutError, asyncio.CancelledError) as error:
            self.replies.append({"unavailable": str(error) or "no reply in time"})
            raise
        self.replies.append(_written(reply))
        return reply


def _written(reply: ModelReply) -> dict[str, Any]:
    usage = asdict(reply.usage)
    return {"text": reply.text, "finish": reply.finish, "model": reply.model, "usage": usage}
