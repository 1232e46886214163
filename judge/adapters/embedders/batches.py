"""Embeds texts by a remote service, in batches, with retries.

Services embed queries and passages differently, and are told the purpose. Failures become
EmbedderUnavailable, without the service's own message, which may repeat the texts.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from judge.adapters.models.failure import ModelFailure, failure_of_status
from judge.errors import EmbedderUnavailable

PASSAGES_ATTEMPTS = 3
QUERY_ATTEMPTS = 2
"""Fewer than for passages: somebody is waiting."""

BACKOFF_S = 0.5
"""Before the second attempt, twice that before the third, unless the service sets a wait."""

MAX_WAIT_S = 20.0
"""The longest wait before a retry. A query is not retried if the service asks for more than
QUERY_TIMEOUT_S: it is searched by its words alone."""

PASSAGES_TIMEOUT_S = 30.0
QUERY_TIMEOUT_S = 3.0

Purpose = Literal["passages", "query"]
Sleep = Callable[[float], Awaitable[None]]

BatchOutcome = list[list[float]] | ModelFailure
Ask = Callable[[Sequence[str], Purpose], Awaitable[BatchOutcome]]
"""Asks a service once; whatever it raises counts as a failure."""


@dataclass(frozen=True, slots=True)
class BatchEmbedder:
    """See `Embedder`: asks a service for vectors, a batch at a time."""

    name: str
    min_similarity: float
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
        attempts = PASSAGES_ATTEMPTS if purpose == "passages" else QUERY_ATTEMPTS
        attempt = 1
        while True:
            outcome = await self._try(texts, purpose)
            if not isinstance(outcome, ModelFailure):
                return outcome
            wait_s = outcome.retry_after_s
            is_too_long = purpose == "query" and (wait_s or 0.0) > QUERY_TIMEOUT_S
            if not outcome.may_retry or attempt == attempts or is_too_long:
                reason = f"status {outcome.status}" if outcome.status else outcome.reason
                raise EmbedderUnavailable(f"{self.service} made no vectors ({reason}).")
            if wait_s is None:
                wait_s = BACKOFF_S * attempt
            await self.sleep(min(wait_s, MAX_WAIT_S))
            attempt += 1

    async def _try(self, texts: Sequence[str], purpose: Purpose) -> BatchOutcome:
        timeout_s = PASSAGES_TIMEOUT_S if purpose == "passages" else QUERY_TIMEOUT_S
        try:
            async with asyncio.timeout(timeout_s):
                vectors = await self.ask(texts, purpose)
        except TimeoutError:
            return ModelFailure("no answer in time")
        # The connection's errors are many: a key that no header can hold, an unusable proxy.
        except Exception as error:  # noqa: BLE001
            return ModelFailure(type(error).__name__)
        if isinstance(vectors, ModelFailure):
            return vectors
        if len(vectors) != len(texts) or not all(vectors):
            return ModelFailure(f"{len(vectors)} vectors for {len(texts)} texts", may_retry=False)
        return vectors


def failure_of(status: int, retry_after: str | None) -> ModelFailure:
    """The failure for an HTTP *status* other than 200."""
    return failure_of_status(status, "", [retry_after or ""], time.time())
