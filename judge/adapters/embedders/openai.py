"""Embeds passages and queries by any server that speaks OpenAI's `/v1/embeddings`."""

import asyncio
from collections.abc import Sequence
from functools import partial

import httpx
from pydantic import BaseModel

from judge.adapters.embedders.batches import (
    BatchEmbedder,
    BatchOutcome,
    Purpose,
    Sleep,
    failure_of,
)
from judge.adapters.models.failure import ModelFailure
from judge.adapters.models.openai import bearer, endpoint

BATCH_TEXTS = 64
"""Texts in one request: few enough for a model on a laptop to answer in time."""

MIN_SIMILARITY = 0.5
"""Models differ; with most that Ollama serves, unrelated texts are below it."""


class _Embedding(BaseModel):
    index: int
    embedding: list[float]


class _Embeddings(BaseModel):
    data: list[_Embedding]


def openai_embedder(
    client: httpx.AsyncClient,
    base_url: str,
    model: str,
    api_key: str,
    *,
    sleep: Sleep = asyncio.sleep,
) -> BatchEmbedder:
    """An Embedder by *model* at *base_url* over *client*, which the caller closes."""
    ask = partial(_ask, client, endpoint(base_url, "embeddings"), model, api_key)
    name = f"openai-{model}"
    return BatchEmbedder(name, MIN_SIMILARITY, "The server", BATCH_TEXTS, ask, sleep)


async def _ask(
    client: httpx.AsyncClient,
    address: str,
    model: str,
    api_key: str,
    texts: Sequence[str],
    _purpose: Purpose,
) -> BatchOutcome:
    """The vectors of *texts*; the protocol has no field for the purpose."""
    body = {"model": model, "input": list(texts), "encoding_format": "float"}
    response = await client.post(address, json=body, headers=bearer(api_key))
    if not response.is_success:
        return failure_of(response.status_code, response.headers.get("Retry-After"))
    try:
        reply = _Embeddings.model_validate_json(response.content)
    except ValueError:
        return ModelFailure("an answer in no known shape")
    return [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]
