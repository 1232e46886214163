"""A fetcher whose pages and failures are scripted, and which counts its requests."""

import asyncio
from collections import Counter

from judge.errors import FetchError
from judge.types.references import Media, Page


class ScriptedFetcher:
    """Answers from `pages`; connections to other addresses fail.

    While `gate` is closed, fetches wait for it; `started` is set when the first one does.
    """

    def __init__(self, pages: dict[str, Page | Exception] | None = None) -> None:
        self.pages = pages or {}
        self.calls: list[str] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.started = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    @property
    def hits(self) -> Counter[str]:
        """How often each address was requested."""
        return Counter(self.calls)

    def page(self, url: str, text: str, last_modified: str = "") -> None:
        """Answer *url* with *text* from now on."""
        self.pages[url] = Page(url, text.encode(), "utf-8", last_modified=last_modified)

    def fail(self, url: str, reason: str = "connection") -> None:
        """Answer *url* with a FetchError from now on."""
        self.pages[url] = FetchError(reason, f"It is down ({reason}).")

    async def fetch(self, url: str, *, timeout_s: float, media: Media = "html") -> Page:
        self.calls.append(url)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.started.set()
        try:
            await self.gate.wait()
        finally:
            self.in_flight -= 1
        answer = self.pages.get(url, FetchError("connection", f"Nothing is scripted for {url}."))
        if isinstance(answer, Exception):
            raise answer
        return answer
