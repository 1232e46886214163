"""Opens the Qdrant adapters; their package, which `judge[qdrant]` brings, may be missing."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from judge.errors import ConfigurationError, InvalidAddress
from judge.ports import Embedder, SearchEngine

TIMEOUT_S = 5
"""For one request to the server."""

_CREDENTIALS = re.compile(r"//[^/]*@")
"""What no message may show."""


@asynccontextmanager
async def open_qdrant(
    url: str,
    api_key: str | None,
    embedder: Embedder | None,
) -> AsyncIterator[SearchEngine]:
    """A SearchEngine on the server at *url*; it sends nothing before first use.

    Raises ConfigurationError when the package is missing, and InvalidAddress.
    """
    try:
        from qdrant_client import AsyncQdrantClient  # noqa: PLC0415 - an extra

        from judge.adapters.index.qdrant.index import QdrantIndex  # noqa: PLC0415 - an extra
        from judge.adapters.index.qdrant.writer import QdrantWriter  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "QDRANT_URL is set, but the package qdrant-client is missing: install `judge[qdrant]`, "
            "or unset QDRANT_URL to use the embedded index."
        ) from error
    try:
        client = AsyncQdrantClient(
            url=url, api_key=api_key, timeout=TIMEOUT_S, check_compatibility=False
        )
    except ValueError:
        # The client's message repeats the URL, which may hold a password.
        raise InvalidAddress(
            "QDRANT_URL is no address. Write it as in http://127.0.0.1:6333."
        ) from None
    except (OSError, ImportError) as error:  # bad certificates; httpx without SOCKS
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
