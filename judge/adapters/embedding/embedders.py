"""Texts -> vectors, by Gemini or Cohere: in batches, each tried again when that may help.

Both services make other vectors of a question than of a passage, and are told which it is. What
fails becomes EmbedderUnavailable, without the service's words, which may repeat the texts.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import httpx

from judge.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from google.genai import Client

ATTEMPTS = 3
"""For one batch of passages. A question is tried twice: somebody is waiting."""

QUERY_ATTEMPTS = 2
BACK_OFF_S = 0.5
"""Before the second attempt, twice that before the third, unless the service says otherwise."""

MAX_WAIT_S = 20.0
"""The longest that we wait because a service asks for it."""

PASSAGES_TIMEOUT_S = 30.0
QUERY_TIMEOUT_S = 3.0

GEMINI_MODEL = "gemini-embedding-001"
GEMINI_BATCH = 100
"""Texts in one request, the service's limit."""

GEMINI_DIMENSIONS = 768
"""Of 3072: Google's own benchmark loses a point in a hundred, and the index is a quarter."""

COHERE_MODEL = "embed-v4.0"
COHERE_BATCH = 96
"""Texts in one request, the service's limit."""

COHERE_DIMENSIONS = 1024
COHERE_URL = "https://api.cohere.com"

_RETRIED = frozenset({408, 429, 500, 502, 503, 504})

Purpose = Literal["passages", "query"]
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Refusal:
    """One request failed; `wait_s` is what the service asks for, if it says."""

    reason: str
    may_retry: bool
    wait_s: float | None = None


Outcome = list[list[float]] | _Refusal
Ask = Callable[[Sequence[str], Purpose], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class _Batches:
    """Asks a service for vectors, a batch at a time."""

    service: str
    size: int
    ask: Ask
    sleep: Sleep

    async def embed(self, texts: Sequence[str], purpose: Purpose) -> list[list[float]]:
        """One vector for each of *texts*; raises EmbedderUnavailable."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self.size):
            vectors += await self._batch(texts[start : start + self.size], purpose)
        return vectors

    async def _batch(self, texts: Sequence[str], purpose: Purpose) -> list[list[float]]:
        attempts = ATTEMPTS if purpose == "passages" else QUERY_ATTEMPTS
        attempt = 1
        while True:
            refusal = await self._try(texts, purpose)
            if not isinstance(refusal, _Refusal):
                return refusal
            if not refusal.may_retry or attempt == attempts:
                raise EmbedderUnavailable(f"{self.service} made no vectors ({refusal.reason}).")
            await self.sleep(_wait_s(refusal, attempt))
            attempt += 1

    async def _try(self, texts: Sequence[str], purpose: Purpose) -> Outcome:
        timeout_s = PASSAGES_TIMEOUT_S if purpose == "passages" else QUERY_TIMEOUT_S
        try:
            async with asyncio.timeout(timeout_s):
                vectors = await self.ask(texts, purpose)
        except TimeoutError:
            return _Refusal("no answer in time", may_retry=True)
        if isinstance(vectors, _Refusal):
            return vectors
        if len(vectors) != len(texts) or not all(vectors):
            return _Refusal(f"{len(vectors)} vectors for {len(texts)} texts", may_retry=False)
        return vectors


class CohereEmbedder:
    """See `Embedder`; Cohere's v2 API over *client*, which its opener closes."""

    name = f"{COHERE_MODEL}-{COHERE_DIMENSIONS}"
    least_similarity = 0.3

    def __init__(
        self,
        client: httpx.AsyncClient,
        api_key: str,
        *,
        base_url: str = COHERE_URL,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._client = client
        self._api_key = api_key
        self._url = f"{base_url.rstrip('/')}/v2/embed"
        self._batches = _Batches("Cohere", COHERE_BATCH, self._ask, sleep)

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed_passages`."""
        return await self._batches.embed(texts, "passages")

    async def embed_query(self, text: str) -> list[float]:
        """See `Embedder.embed_query`."""
        return (await self._batches.embed([text], "query"))[0]

    async def _ask(self, texts: Sequence[str], purpose: Purpose) -> Outcome:
        body = {
            "model": COHERE_MODEL,
            "texts": list(texts),
            "input_type": "search_document" if purpose == "passages" else "search_query",
            "embedding_types": ["float"],
            "output_dimension": COHERE_DIMENSIONS,
            "truncate": "END",
        }
        headers = {"Authorization": f"Bearer {self._api_key}"}
        try:
            response = await self._client.post(self._url, json=body, headers=headers)
        except httpx.HTTPError as error:
            return _Refusal(type(error).__name__, may_retry=True)
        if response.status_code != httpx.codes.OK:
            return _status(response.status_code, response.headers.get("Retry-After"))
        try:
            vectors: list[list[float]] = response.json()["embeddings"]["float"]
        except (ValueError, KeyError, TypeError):
            return _Refusal("an answer in no known shape", may_retry=True)
        return vectors


class GeminiEmbedder:
    """See `Embedder`; google-genai, which takes a second to import and is opened at first use."""

    name = f"{GEMINI_MODEL}-{GEMINI_DIMENSIONS}"
    least_similarity = 0.6

    def __init__(
        self, api_key: str, *, base_url: str | None = None, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._batches = _Batches("Gemini", GEMINI_BATCH, self._ask, sleep)
        self._opening = asyncio.Lock()
        self._opened: tuple[Client, ClientSession] | None = None

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed_passages`."""
        return await self._batches.embed(texts, "passages")

    async def embed_query(self, text: str) -> list[float]:
        """See `Embedder.embed_query`."""
        return (await self._batches.embed([text], "query"))[0]

    async def aclose(self) -> None:
        """Close all connections."""
        if self._opened:
            client, session = self._opened
            self._opened = None
            await client.aio.aclose()
            client.close()
            await session.close()

    async def _ask(self, texts: Sequence[str], purpose: Purpose) -> Outcome:
        client = await self._client()
        from google.genai import errors, types  # noqa: PLC0415 - takes a second

        config = types.EmbedContentConfig(
            task_type="RETRIEVAL_DOCUMENT" if purpose == "passages" else "RETRIEVAL_QUERY",
            output_dimensionality=GEMINI_DIMENSIONS,
        )
        contents: Any = list(texts)
        try:
            reply = await client.aio.models.embed_content(
                model=GEMINI_MODEL, contents=contents, config=config
            )
        except errors.APIError as error:
            headers: Any = getattr(error.response, "headers", {})
            return _status(error.code, headers.get("Retry-After"))
        except Exception as error:  # noqa: BLE001 - the SDK lets its transports' errors through
            return _Refusal(type(error).__name__, may_retry=True)
        return [list(embedding.values or ()) for embedding in reply.embeddings or ()]

    async def _client(self) -> "Client":
        async with self._opening:
            if self._opened is None:
                await asyncio.to_thread(import_module, "google.genai")
                self._opened = _open_gemini(self._api_key, self._base_url)
            return self._opened[0]


def _open_gemini(api_key: str, base_url: str | None) -> "tuple[Client, ClientSession]":
    import aiohttp  # noqa: PLC0415 - beside the SDK only
    from google import genai  # noqa: PLC0415 - takes a second

    # As in gemini_model: our own session, no hidden retries, no redirect that carries the key.
    session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), trust_env=True)
    client = genai.Client(
        api_key=api_key,
        enterprise=False,
        http_options=genai.types.HttpOptions(
            base_url=base_url,
            api_version="v1beta",
            aiohttp_client=session,
            timeout=int(PASSAGES_TIMEOUT_S * 1000),
            retry_options=genai.types.HttpRetryOptions(attempts=1),
            async_client_args={"allow_redirects": False},
        ),
    )
    return client, session


def _status(code: int, retry_after: str | None) -> _Refusal:
    wait_s = None
    with suppress(TypeError, ValueError):
        wait_s = float(retry_after or "")
    return _Refusal(f"status {code}", may_retry=code in _RETRIED, wait_s=wait_s)


def _wait_s(refusal: _Refusal, attempt: int) -> float:
    if refusal.wait_s is None:
        return BACK_OFF_S * attempt
    return min(max(refusal.wait_s, 0.0), MAX_WAIT_S)
