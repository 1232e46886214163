"""The door to the Qdrant adapters for those who may not have the package: `judge[qdrant]`."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge.errors import ConfigurationError
from judge.ports import Embedder

if TYPE_CHECKING:
    from judge.adapters.qdrant.index import QdrantIndex
    from judge.adapters.qdrant.writer import QdrantWriter

_CREDENTIALS = re.compile(r"//[^/@]*@")
"""Which no message may show."""


@dataclass(frozen=True, slots=True)
class Qdrant:
    """Both sides of one server."""

    index: "QdrantIndex"
    store: "QdrantWriter"


@asynccontextmanager
async def open_qdrant(
    url: str,
    api_key: str | None,
    embedder: Embedder | None,
) -> AsyncIterator[Qdrant]:
    """A client of the server at *url*; nothing is sent before it is asked something.

    Raises ConfigurationError when the package is missing or *url* is no address.
    """
    try:
        from judge.adapters.qdrant.index import QdrantIndex, open_client  # noqa: PLC0415 - an extra
        from judge.adapters.qdrant.writer import QdrantWriter  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "QDRANT_URL is set, but the package qdrant-client is missing: install `judge[qdrant]`, "
            "or unset QDRANT_URL to use the embedded index."
        ) from error
    try:
        client = open_client(url, api_key)
    except ValueError as error:
        raise ConfigurationError(f"QDRANT_URL is no address: {error}") from error
    address = _CREDENTIALS.sub("//", url)
    try:
        yield Qdrant(
            QdrantIndex(client, address, embedder), QdrantWriter(client, address, embedder)
        )
    finally:
        await client.close()
