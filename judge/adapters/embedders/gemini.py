"""Embeds passages and queries by Gemini."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from judge.adapters.embedders.batches import (
    BatchEmbedder,
    BatchOutcome,
    Purpose,
    Sleep,
    failure_of,
)
from judge.adapters.models.gemini import GeminiClient

MODEL = "gemini-embedding-001"
BATCH_TEXTS = 100
"""Texts in one request, the service's limit."""

DIMENSIONS = 768
"""Of 3072: Google's own benchmark loses one point in a hundred, and the index is a quarter."""

MIN_SIMILARITY = 0.6


def gemini_embedder(client: GeminiClient, *, sleep: Sleep = asyncio.sleep) -> BatchEmbedder:
    """An Embedder over *client*, which the caller closes."""
    name, ask = f"{MODEL}-{DIMENSIONS}", partial(_ask, client)
    return BatchEmbedder(name, MIN_SIMILARITY, "Gemini", BATCH_TEXTS, ask, sleep)


async def _ask(client: GeminiClient, texts: Sequence[str], purpose: Purpose) -> BatchOutcome:
    sdk = await client.open()
    from google.genai import errors, types  # noqa: PLC0415 - takes a second

    config = types.EmbedContentConfig(
        task_type="RETRIEVAL_DOCUMENT" if purpose == "passages" else "RETRIEVAL_QUERY",
        output_dimensionality=DIMENSIONS,
    )
    contents: Any = list(texts)
    try:
        reply = await sdk.aio.models.embed_content(model=MODEL, contents=contents, config=config)
    except errors.APIError as error:
        headers: Any = getattr(error.response, "headers", {})
        return failure_of(error.code, headers.get("Retry-After"))
    return [list(embedding.values or ()) for embedding in reply.embeddings or ()]
