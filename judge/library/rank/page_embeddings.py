"""Finds the approved pages nearest to a dispute by an embedder's vectors; adds to ranking by words.

update (in the background: embed pages, or load their vectors from the cache) -> similarities (per
dispute). Used only if an embedder is configured; on any failure pages are ranked by words alone.
"""

import asyncio
import base64
import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import mul
from uuid import uuid4

from judge.errors import EmbedderUnavailable
from judge.library.pages.approved_pages import IndexedPages
from judge.library.pages.page_records import DAY_S
from judge.library.rank.candidates import NO_SIMILARITIES
from judge.ports import Cache, Embedder, Journal, Lock

BUDGET_S = 1.0
"""How long a request waits for the vector of its dispute."""

MAX_WORDS = 200
"""Words of a page that are embedded: its title, its lead, and what follows."""

BATCH_SIZE = 32
"""Pages embedded per request; each batch is stored, so that a later failure loses nothing."""

TTL_S = 30 * DAY_S
LOCK_TTL_S = 120.0

Vector = Sequence[float]
"""Of length 1."""


@dataclass(slots=True)
class PageEmbeddings:
    """The embeddings of all pages read so far, and their ranking for a dispute."""

    embedder: Embedder
    cache: Cache
    lock: Lock
    journal: Journal
    budget_s: float = BUDGET_S
    _digests: dict[str, str] = field(default_factory=dict)
    """Of the text that is embedded, by the URL of the page."""
    _vectors: dict[str, Vector] = field(default_factory=dict)
    """By that digest."""

    async def update(self, indexed: IndexedPages) -> None:
        """Get a vector for each page of *indexed*; only one process at a time computes them."""
        texts: dict[str, str] = {}
        for _, page in indexed.pages:
            if page.record:
                ranked = page.terms.page
                told = [ranked.title, ranked.lead, *(text for _, text in ranked.passages)]
                text = " ".join(" ".join(told).split()[:MAX_WORDS])
                named = f"{self.embedder.name}\n{text}".encode()
                self._digests[ranked.url] = digest = blake2b(named, digest_size=16).hexdigest()
                texts[digest] = text
        self._vectors = {d: vector for d, vector in self._vectors.items() if d in texts}
        missing = [digest for digest in texts if digest not in self._vectors]
        values = await self.cache.get_many([_key(digest) for digest in missing]) if missing else []
        self._vectors |= {d: v for d, value in zip(missing, values) if (v := _decoded(value))}
        missing = [digest for digest in missing if digest not in self._vectors]
        token = uuid4().hex
        if not missing or not await self.lock.acquire("vectors", token, LOCK_TTL_S):
            return
        try:
            for start in range(0, len(missing), BATCH_SIZE):
                digests = missing[start : start + BATCH_SIZE]
                raw = await self.embedder.embed_passages([texts[digest] for digest in digests])
                vectors = dict(zip(digests, map(_normalised, raw)))
                self._vectors |= vectors
                encoded = {d: base64.b64encode(array("f", v).tobytes()) for d, v in vectors.items()}
                await self.cache.put_many(
                    {_key(d): (value.decode(), TTL_S) for d, value in encoded.items()}
                )
        except EmbedderUnavailable as error:
            self._note(error)
        finally:
            await self.lock.release("vectors", token)

    async def similarities(self, dispute: str) -> Mapping[str, float]:
        """The similarity to *dispute* by URL and rank, 1 for the nearest page; empty on failure."""
        if not self._vectors:
            return NO_SIMILARITIES
        try:
            async with asyncio.timeout(self.budget_s):
                query = _normalised(await self.embedder.embed_query(dispute))
        except (EmbedderUnavailable, TimeoutError) as error:
            self._note(error)
            return NO_SIMILARITIES
        cosines = {
            url: sum(map(mul, query, self._vectors[digest]))
            for url, digest in self._digests.items()
            if digest in self._vectors
        }
        nearest = sorted(cosines, key=cosines.__getitem__, reverse=True)
        return {url: 2 / (rank + 2) for rank, url in enumerate(nearest)}

    def _note(self, error: Exception) -> None:
        self.journal.note("pages.words_only", error=type(error).__name__)


def _normalised(vector: Sequence[float]) -> Vector:
    length = math.hypot(*vector) or 1.0
    return array("f", (value / length for value in vector))


def _key(digest: str) -> str:
    return f"vector:{digest}"


def _decoded(text: str | None) -> Vector | None:
    """The vector in *text*; None if it is absent or cannot be decoded."""
    try:
        return array("f", base64.b64decode(text or "", validate=True))
    except ValueError:
        return None
