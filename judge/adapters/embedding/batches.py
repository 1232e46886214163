"""Texts -> vectors by a service: in batches, each tried again when that may help.

The services make other vectors of a query than of a passage, and are told which it is. What
fails becomes EmbedderUnavailable, without the service's words, which may repeat the texts.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from judge.errors import EmbedderUnavailable

ATTEMPTS = 3
"""For one batch of passages. A query is tried twice: somebody is waiting."""

QUERY_ATTEMPTS = 2
BACK_OFF_S = 0.5
"""Before the second attempt, twice that before the third, unless the service says otherwise."""

MAX_WAIT_S = 20.0
"""The longest that we wait because a service asks for it."""

PASSAGES_TIMEOUT_S = 30.0
QUERY_TIMEOUT_S = 3.0

_RETRIED = frozenset({408, 429, 500, 502, 503, 504})

Purpose = Literal["passages", "query"]
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class BatchRefusal:
    """One request failed; `wait_s` is what the service asks for, if it says."""

    reason: str
    may_retry: bool
    wait_s: float | None = None


BatchOutcome = list[list[float]] | BatchRefusal
Ask = Callable[[Sequence[str], Purpose], Awaitable[BatchOutcome]]


@dataclass(frozen=True, slots=True)
class BatchEmbedder:
    """See `Embedder`: asks a service for vectors, a batch at a time."""

    name: str
    least_similarity: float
    service: str
    batch_texts: int
    ask: Ask
    sleep: Sleep

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed_passages`."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self.batch_texts):
            vectors += await self._batch(texts[start : start + self.batch_texts], "passages")
        return vectors

    async def embed_query(self, text: str) -> list[float]:
        """See `Embedder.embed_query`."""
        return (await self._batch([text], "query"))[0]

    async def _batch(self, texts: Sequence[str], purpose: Purpose) -> list[list[float]]:
        attempts = ATTEMPTS if purpose == "passages" else QUERY_ATTEMPTS
        attempt = 1
        while True:
            refusal = await self._try(texts, purpose)
            if not isinstance(refusal, BatchRefusal):
                return refusal
            if not refusal.may_retry or attempt == attempts:
                raise EmbedderUnavailable(f"{self.service} made no vectors ({refusal.reason}).")
            await self.sleep(_wait_s(refusal, attempt))
            attempt += 1

    async def _try(self, texts: Sequence[str], purpose: Purpose) -> BatchOutcome:
        timeout_s = PASSAGES_TIMEOUT_S if purpose == "passages" else QUERY_TIMEOUT_S
        try:
            async with asyncio.timeout(timeout_s):
                vectors = await self.ask(texts, purpose)
        except TimeoutError:
            return BatchRefusal("no answer in time", may_retry=True)
        if isinstance(vectors, BatchRefusal):
            return vectors
        if len(vectors) != len(texts) or not all(vectors):
            return BatchRefusal(f"{len(vectors)} vectors for {len(texts)} texts", may_retry=False)
        return vectors


def refusal_of(code: int, retry_after: str | None) -> BatchRefusal:
    """What an HTTP status other than 200 means."""
    wait_s = None
    with suppress(TypeError, ValueError):
        wait_s = float(retry_after or "")
    return BatchRefusal(f"status {code}", may_retry=code in _RETRIED, wait_s=wait_s)


def _wait_s(refusal: BatchRefusal, attempt: int) -> float:
    if refusal.wait_s is None:
        return BACK_OFF_S * attempt
    return min(max(refusal.wait_s, 0.0), MAX_WAIT_S)
