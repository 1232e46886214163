"""Embeds passages and queries by Cohere's v2 API."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import httpx
from pydantic import BaseModel, Field

from judge.adapters.embedders.batches import (
    BatchEmbedder,
    BatchOutcome,
    Purpose,
    Sleep,
    failure_of,
)
from judge.adapters.models.failure import ModelFailure

MODEL = "embed-v4.0"
BATCH_TEXTS = 96
"""Texts in one request, the service's limit."""

DIMENSIONS = 1024
MIN_SIMILARITY = 0.3
URL = "https://api.cohere.com/v2/embed"


class _CohereVectors(BaseModel):
    vectors: Annotated[list[list[float]], Field(alias="float")]


class _CohereReply(BaseModel):
    embeddings: _CohereVectors


def cohere_embedder(
    client: httpx.AsyncClient, api_key: str, *, sleep: Sleep = asyncio.sleep
) -> BatchEmbedder:
    """An Embedder over *client*, which the caller closes."""
    name, ask = f"{MODEL}-{DIMENSIONS}", partial(_ask, client, api_key)
    return BatchEmbedder(name, MIN_SIMILARITY, "Cohere", BATCH_TEXTS, ask, sleep)


async def _ask(
    client: httpx.AsyncClient, api_key: str, texts: Sequence[str], purpose: Purpose
) -> BatchOutcome:
    body = {
        "model": MODEL,
        "texts": list(texts),
        "input_type": "search_document" if purpose == "passages" else "search_query",
        "embedding_types": ["float"],
        "output_dimension": DIMENSIONS,
        "truncate": "END",
    }
    response = await client.post(URL, json=body, headers={"Authorization": f"Bearer {api_key}"})
    if response.status_code != httpx.codes.OK:
        return failure_of(response.status_code, response.headers.get("Retry-After"))
    try:
        return _CohereReply.model_validate_json(response.content).embeddings.vectors
    except ValueError:
        return ModelFailure("an answer in no known shape")
