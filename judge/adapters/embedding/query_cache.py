"""Questions -> vectors, once each: one request searches several scopes, and people turn pages.

After a failure the service is left alone for a while, so that searches don't wait for it in vain.
"""

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from secrets import token_bytes

from judge.errors import EmbedderUnavailable
from judge.ports import Clock, Embedder

MOST_QUESTIONS = 128
REST_S = 10.0
"""How long a service that failed is not asked."""

ONLY_TEXT = "Only the words were searched, not their meaning: {reason}"
"""The warning of a search without vectors."""


class QueryVectorCache:
    """An Embedder over *embedder* that knows the last MOST_QUESTIONS questions again.

    By a digest that only this process can make: a question may be somebody's dispute.
    """

    def __init__(self, embedder: Embedder, clock: Clock) -> None:
        self._embedder = embedder
        self._clock = clock
        self._vectors: OrderedDict[bytes, list[float]] = OrderedDict()
        self._secret = token_bytes(16)
        self._failure: tuple[str, float] | None = None

    @property
    def name(self) -> str:
        """See `Embedder.name`."""
        return self._embedder.name

    @property
    def least_similarity(self) -> float:
        """See `Embedder.least_similarity`."""
        return self._embedder.least_similarity

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed_passages`."""
        return await self._embedder.embed_passages(texts)

    async def embed_query(self, text: str) -> list[float]:
        """See `Embedder.embed_query`."""
        known = blake2b(text.encode(errors="replace"), digest_size=16, key=self._secret).digest()
        vector = self._vectors.pop(known, None) or await self._ask(text)
        self._vectors[known] = vector
        if len(self._vectors) > MOST_QUESTIONS:
            self._vectors.popitem(last=False)
        return vector

    async def _ask(self, text: str) -> list[float]:
        if self._failure and self._clock.monotonic() < self._failure[1]:
            raise EmbedderUnavailable(self._failure[0])
        try:
            return await self._embedder.embed_query(text)
        except EmbedderUnavailable as error:
            self._failure = (str(error), self._clock.monotonic() + REST_S)
            raise
