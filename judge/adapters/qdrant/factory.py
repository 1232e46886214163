"""Opens the Qdrant adapters; their package, which `judge[qdrant]` brings, may be missing."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from judge.errors import ConfigurationError, InvalidAddress
from judge.ports import Embedder, SearchEngine

_CREDENTIALS = re.compile(r"//[^/]*@")
"""Which no message may show."""


@asynccontextmanager
async def open_qdrant(
    url: str,
    api_key: str | None,
    embedder: Embedder | None,
) -> AsyncIterator[SearchEngine]:
    """A client of the server at *url*; nothing is sent before it is asked something.

    Raises ConfigurationError when the package is missing, and InvalidAddress.
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
    except ValueError:
        # The client's own words hold the whole of it, and so a password.
        raise InvalidAddress(
            "QDRANT_URL is no address. Write it as in http://127.0.0.1:6333."
        ) from None
    except (OSError, ImportError) as error:  # a file of certificates; httpx without SOCKS
        raise ConfigurationError(
            f"No client for QDRANT_URL can be opened ({type(error).__name__}). Correct "
            "SSL_CERT_FILE and the proxy variables where they are set."
        ) from None
    address = _CREDENTIALS.sub("//", url)
    try:
        index = QdrantIndex(client, address, embedder)
        yield SearchEngine(index, index, QdrantWriter(client, address, embedder))
    finally:
        await client.close()
