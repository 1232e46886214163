"""Caches the vectors of queries: one request searches several scopes, and people page through hits.

After a failure the service is not asked for a while, so that searches don't wait for it in vain.
"""

from collections import OrderedDict
from hashlib import blake2b
from secrets import token_bytes

from judge.errors import EmbedderUnavailable
from judge.ports import Clock, Embedder
from judge.single_flight import SingleFlight

MAX_QUERIES = 128
FAILURE_TTL_S = 10.0
"""How long a service that failed is not asked."""

WORDS_ONLY = "Only the words were searched, not their meaning: {reason}"
"""The warning of a search without vectors."""


class QueryVectorCache:
    """An Embedder over *embedder* that caches the vectors of the last MAX_QUERIES queries.

    Keys are keyed digests that only this process can compute: a query may be a private dispute.
    """

    def __init__(self, embedder: Embedder, clock: Clock) -> None:
        self.name, self.min_similarity = embedder.name, embedder.min_similarity
        self.embed_passages = embedder.embed_passages
        self._embedder = embedder
        self._clock = clock
        self._vectors: OrderedDict[bytes, list[float]] = OrderedDict()
        self._secret = token_bytes(16)
        self._failure: tuple[str, float] | None = None
        self._single_flight = SingleFlight()

    async def embed_query(self, text: str) -> list[float]:
        """See `Embedder.embed_query`."""
        key = blake2b(text.encode(errors="replace"), digest_size=16, key=self._secret).digest()
        vector = self._vectors.pop(key, None)
        if vector is None:
            vector = await self._single_flight.share(key, lambda: self._ask(text))
        self._vectors[key] = vector
        if len(self._vectors) > MAX_QUERIES:
            self._vectors.popitem(last=False)
        return vector

    async def aclose(self) -> None:
        """Cancel pending requests to the service."""
        await self._single_flight.aclose()

    async def _ask(self, text: str) -> list[float]:
        if self._failure and self._clock.monotonic() < self._failure[1]:
            raise EmbedderUnavailable(self._failure[0])
        try:
            return await self._embedder.embed_query(text)
        except EmbedderUnavailable as error:
            self._failure = (str(error), self._clock.monotonic() + FAILURE_TTL_S)
            raise
