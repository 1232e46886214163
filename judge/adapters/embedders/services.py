"""Embeds texts by a remote service (Cohere, Gemini, OpenAI's protocol), in batches, with retries.

Services embed queries and passages differently, and are told the purpose. Failures become
EmbedderUnavailable, without the service's own message, which may repeat the texts.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, Literal

import httpx
from pydantic import TypeAdapter

from judge.adapters.models.failure import ModelFailure, failure_of
from judge.adapters.models.gemini import GeminiClient
from judge.adapters.models.openai import bearer, endpoint
from judge.errors import EmbedderUnavailable

ATTEMPTS = {"passages": 3, "query": 2}
"""Fewer for a query: somebody is waiting."""

BACKOFF_S = 0.5
"""Before the second attempt, twice that before the third, unless the service sets a wait."""

MAX_WAIT_S = 20.0
"""The longest wait before a retry. A query is not retried if the service asks for more than
QUERY_TIMEOUT_S: it is searched by its words alone."""

PASSAGES_TIMEOUT_S = 30.0
QUERY_TIMEOUT_S = 3.0

FAILURE_TTL_S = 10.0
"""How long a service that failed is not asked."""

COHERE_MODEL = "embed-v4.0"
COHERE_DIMENSIONS = 1024
COHERE_URL = "https://api.cohere.com/v2/embed"

GEMINI_MODEL = "gemini-embedding-001"
GEMINI_DIMENSIONS = 768
"""Of 3072: Google's own benchmark loses one point in a hundred, and the index is a quarter."""

Purpose = Literal["passages", "query"]

BatchOutcome = list[list[float]] | ModelFailure
TIMED_OUT = ModelFailure("no answer in time")
_vectors = TypeAdapter(list[list[float]]).validate_python

Ask = Callable[[Sequence[str], Purpose], Awaitable[BatchOutcome]]
"""Asks a service once; whatever it raises counts as a failure."""


@dataclass(slots=True)
class BatchEmbedder:
    """See `Embedder`: asks a service, and rests after a query that failed, since searches wait."""

    name: str
    min_similarity: float
    service: str
    max_texts: int
    """Of one request."""
    ask: Ask
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    _failure: tuple[str, float] = ("", 0.0)

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed_passages`.

        A batch that is answered doubles the next one, up to `max_texts`; one that is not answered
        in time is halved. A server without a GPU embeds a few texts a second.
        """
        vectors: list[list[float]] = []
        size = 8
        while len(vectors) < len(texts):
            batch = texts[len(vectors) : len(vectors) + size]
            try:
                vectors += await self._batch(batch, "passages", has_one_try=len(batch) > 1)
                size = min(2 * size, self.max_texts)
            except TimeoutError:
                size = len(batch) // 2
        return vectors

    async def embed_query(self, text: str) -> list[float]:
        """See `Embedder.embed_query`."""
        reason, until = self._failure
        if reason and self.clock() < until:
            raise EmbedderUnavailable(reason)
        try:
            return (await self._batch([text], "query"))[0]
        except EmbedderUnavailable as error:
            self._failure = (str(error), self.clock() + FAILURE_TTL_S)
            raise

    async def _batch(
        self, texts: Sequence[str], purpose: Purpose, *, has_one_try: bool = False
    ) -> list[list[float]]:
        """The vectors of *texts*; raises TimeoutError at once if a time-out `has_one_try`."""
        attempt = 1
        while True:
            outcome = await self._try(texts, purpose)
            if not isinstance(outcome, ModelFailure):
                return outcome
            if has_one_try and outcome == TIMED_OUT:
                raise TimeoutError
            wait_s = outcome.retry_after_s
            is_too_long = purpose == "query" and (wait_s or 0.0) > QUERY_TIMEOUT_S
            if not outcome.may_retry or attempt == ATTEMPTS[purpose] or is_too_long:
                reason = f"status {outcome.status}" if outcome.status else outcome.reason
                raise EmbedderUnavailable(f"{self.service} made no vectors ({reason}).")
            await self.sleep(min(BACKOFF_S * attempt if wait_s is None else wait_s, MAX_WAIT_S))
            attempt += 1

    async def _try(self, texts: Sequence[str], purpose: Purpose) -> BatchOutcome:
        timeout_s = PASSAGES_TIMEOUT_S if purpose == "passages" else QUERY_TIMEOUT_S
        try:
            async with asyncio.timeout(timeout_s):
                vectors = await self.ask(texts, purpose)
        except (TimeoutError, httpx.TimeoutException):
            return TIMED_OUT
        except (ValueError, LookupError, TypeError, AttributeError):
            return ModelFailure("an answer in no known shape")
        # The connection's errors are many: a key that no header can hold, an unusable proxy.
        except Exception as error:  # noqa: BLE001
            return ModelFailure(type(error).__name__)
        if isinstance(vectors, ModelFailure):
            return vectors
        if len(vectors) != len(texts) or not all(vectors):
            return ModelFailure(f"{len(vectors)} vectors for {len(texts)} texts", may_retry=False)
        return vectors


def cohere_embedder(client: httpx.AsyncClient, api_key: str) -> BatchEmbedder:
    """An Embedder by Cohere's v2 API over *client*, which the caller closes."""
    name = f"{COHERE_MODEL}-{COHERE_DIMENSIONS}"
    return BatchEmbedder(name, 0.3, "Cohere", 96, partial(_ask_cohere, client, api_key))


def gemini_embedder(client: GeminiClient) -> BatchEmbedder:
    """An Embedder by Gemini over *client*, which the caller closes."""
    name = f"{GEMINI_MODEL}-{GEMINI_DIMENSIONS}"
    return BatchEmbedder(name, 0.6, "Gemini", 100, partial(_ask_gemini, client))


def openai_embedder(
    client: httpx.AsyncClient, base_url: str, model: str, api_key: str
) -> BatchEmbedder:
    """An Embedder by *model* at *base_url* over *client*, which the caller closes.

    Models differ; with most that Ollama serves, unrelated texts are below a similarity of 0.5.
    """
    ask = partial(_ask_openai, client, endpoint(base_url, "embeddings"), model, api_key)
    return BatchEmbedder(f"openai-{model}", 0.5, "The server", 64, ask)


async def _ask_cohere(
    client: httpx.AsyncClient, api_key: str, texts: Sequence[str], purpose: Purpose
) -> BatchOutcome:
    body = {
        "model": COHERE_MODEL,
        "texts": list(texts),
        "input_type": "search_document" if purpose == "passages" else "search_query",
        "embedding_types": ["float"],
        "output_dimension": COHERE_DIMENSIONS,
        "truncate": "END",
    }
    reply = await _post(client, COHERE_URL, api_key, body)
    return reply if isinstance(reply, ModelFailure) else _vectors(reply["embeddings"]["float"])


async def _ask_openai(
    client: httpx.AsyncClient, address: str, model: str, key: str, texts: Sequence[str], _: Purpose
) -> BatchOutcome:
    """The vectors of *texts*; the protocol has no field for the purpose."""
    body = {"model": model, "input": list(texts), "encoding_format": "float"}
    reply = await _post(client, address, key, body)
    if isinstance(reply, ModelFailure):
        return reply
    return _vectors([one["embedding"] for one in sorted(reply["data"], key=itemgetter("index"))])


async def _post(client: httpx.AsyncClient, address: str, key: str, body: dict[str, Any]) -> Any:
    """The JSON of the reply to *body*, or the failure."""
    response = await client.post(address, json=body, headers=bearer(key))
    if response.is_success:
        return response.json()
    return failure_of(response.status_code, None, response.headers.get("Retry-After"))


async def _ask_gemini(client: GeminiClient, texts: Sequence[str], purpose: Purpose) -> BatchOutcome:
    sdk = await client.open()
    from google.genai import errors, types  # noqa: PLC0415 - takes a second

    config = types.EmbedContentConfig(
        task_type="RETRIEVAL_DOCUMENT" if purpose == "passages" else "RETRIEVAL_QUERY",
        output_dimensionality=GEMINI_DIMENSIONS,
    )
    contents: Any = list(texts)
    try:
        reply = await sdk.aio.models.embed_content(
            model=GEMINI_MODEL, contents=contents, config=config
        )
    except errors.APIError as error:
        headers = getattr(error.response, "headers", {})
        return failure_of(error.code, None, headers.get("Retry-After"))
    return [list(embedding.values or ()) for embedding in reply.embeddings or ()]
