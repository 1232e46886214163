"""Opens what `judge[qdrant]` and `judge[vectors]` bring; their packages may be missing."""

import re
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from judge.adapters.index.tantivy.index import TantivyIndex
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.errors import ConfigurationError, InvalidAddress
from judge.ports import Embedder, Journal, SearchEngine

TIMEOUT_S = 5
"""For one request to the Qdrant server."""

_CREDENTIALS = re.compile(r"//[^/]*@")
"""What no message may show."""

_UNSAFE = re.compile(r"[^\w.-]")
"""Characters that a file name must not have."""


@asynccontextmanager
async def open_qdrant(
    url: str, api_key: str | None, embedder: Embedder | None
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
        with warnings.catch_warnings():
            # It warns of a key sent without TLS, which is usual within a network of containers.
            warnings.simplefilter("ignore")
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


@asynccontextmanager
async def open_postgres(url: str, embedder: Embedder | None) -> AsyncIterator[SearchEngine]:
    """A SearchEngine in the database at *url*; it connects at first use.

    Raises ConfigurationError when the package is missing, and InvalidAddress.
    """
    try:
        from judge.adapters.index.postgres.database import open_database  # noqa: PLC0415 - an extra
        from judge.adapters.index.postgres.index import PostgresIndex  # noqa: PLC0415 - an extra
        from judge.adapters.index.postgres.writer import PostgresStore  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigurationError(
            "JUDGE_DATABASE_URL is set, but the package psycopg is missing: install "
            "`judge[postgres]`, or unset JUDGE_DATABASE_URL to use the embedded index."
        ) from error
    database = open_database(url)
    try:
        index = PostgresIndex(database, embedder)
        yield SearchEngine(index, index, PostgresStore(database, embedder))
    finally:
        await database.aclose()


def open_vectors(
    data_dir: Path, index: TantivyIndex, store: TantivyStore, embedder: Embedder, journal: Journal
) -> SearchEngine:
    """A SearchEngine with *embedder*'s vectors in *data_dir*; it reads nothing before first use.

    Raises ConfigurationError when numpy is missing.
    """
    try:
        from judge.adapters.index.vectors import VectorFile, VectorIndex  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "JUDGE_EMBEDDER is set, but the extra `judge[vectors]` is missing: `pip install numpy` "
            "brings it. Or set JUDGE_EMBEDDER=none to search the text alone."
        ) from error
    file = VectorFile(data_dir / "vectors" / f"{_UNSAFE.sub('_', embedder.name)}.v2")
    vectors = VectorIndex(index, file, embedder, journal)
    return SearchEngine(vectors, index, store, vectors)
