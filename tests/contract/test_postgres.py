"""PostgreSQL as an index: what a server that fails, two writers and a newer version lead to."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp

import psycopg
import pytest

from judge.adapters.index.postgres.database import open_database
from judge.adapters.index.postgres.index import PostgresIndex
from judge.adapters.index.stored import passage_terms
from judge.bootstrap.corpus import open_postgres
from judge.errors import IndexUnavailable, InvalidAddress
from judge.library.search.query import parse_query
from judge.ports import SearchEngine
from judge.types.search import EVERYWHERE
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.passages import document
from tests.fakes.postgres_server import forget_everything, postgres_server, start_again

pytestmark = pytest.mark.process
DOGS, CATS = document("dogs bark", id="dogs"), document("cats purr", id="cats")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with postgres_server() as address:
        yield address


@pytest.fixture
async def engine(address) -> AsyncIterator[SearchEngine]:
    forget_everything(address)
    async with open_postgres(address, None) as engine:
        yield engine


async def add(engine, *documents):
    async with engine.store.writing() as writer:
        await writer.replace(documents)
        await writer.commit()


async def found(index, text):
    results = await index.search(parse_query(text), EVERYWHERE, limit=10)
    return [hit.passage.document_id for hit in results.hits]


async def test_uncommitted_changes_are_seen_by_nobody_and_lost_whole(engine):
    await add(engine, DOGS)
    async with engine.store.writing() as writer:
        await writer.remove("default")
        await writer.replace([CATS])
        assert await found(engine.index, "dogs") == ["dogs"]
    assert await found(engine.index, "dogs") == ["dogs"]
    assert await found(engine.index, "cats") == []


async def test_two_writers_of_the_same_documents_leave_one_version_of_each(engine):
    versions = [[document(f"{word} {word}", id=name) for name in "abc"] for word in ("one", "two")]
    await asyncio.gather(*(add(engine, *version) for version in versions))
    ones, twos = await found(engine.index, "one"), await found(engine.index, "two")
    assert sorted((*ones, *twos)) == ["a", "b", "c"]
    assert not ones or not twos


async def test_killed_server_is_told_and_found_again_when_it_is_back(engine, address):
    await add(engine, DOGS)
    with psycopg.connect(address, autocommit=True) as connection:
        (folder,) = connection.execute("SHOW data_directory").fetchone()
    os.kill(int((Path(folder) / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    with pytest.raises(IndexUnavailable, match="PostgreSQL at"):
        await found(engine.index, "dogs")
    start_again(Path(folder), address)
    assert await found(engine.index, "dogs") == ["dogs"]


async def test_next_address_is_used_when_the_first_is_dead(engine, address):
    await add(engine, DOGS)
    folder = address.partition("host=")[2]
    several = (
        f"postgresql://postgres@/postgres?host=/nowhere,{folder}&target_session_attrs=read-write"
    )
    async with open_postgres(several, None) as other:
        assert await found(other.index, "dogs") == ["dogs"]


async def test_tables_of_a_newer_version_are_refused(engine, address):
    await add(engine, DOGS)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("UPDATE judge.version SET number = 99")
    with pytest.raises(IndexUnavailable, match="newer version of Judge"):
        await found(engine.index, "dogs")
    with pytest.raises(IndexUnavailable, match="newer version of Judge"):
        await add(engine, CATS)


async def test_processes_that_come_at_once_create_the_tables_once(address):
    forget_everything(address)
    databases = [open_database(address) for _ in range(4)]
    try:
        stores = [PostgresIndex(database) for database in databases]
        await asyncio.gather(*(_only_open(store) for store in stores))
        assert await PostgresIndex(databases[0]).collections() == ()
    finally:
        for database in databases:
            await database.aclose()


async def _only_open(store):
    async with store.writing():
        pass


@pytest.mark.parametrize("url", ["postgresql://[", "host", "postgresql://h/d?nonsense=1"])
async def test_bad_address_is_refused_without_repeating_it(url):
    with pytest.raises(InvalidAddress) as error:
        async with open_postgres(url, None):
            pass
    assert url not in str(error.value)


async def test_errors_never_hold_the_password(monkeypatch):
    monkeypatch.setattr("judge.adapters.index.postgres.database.WAIT_S", 0.5)
    url = "postgresql://judge:sesame@127.0.0.1:9/judge"
    async with open_postgres(url, None) as engine:
        with pytest.raises(IndexUnavailable) as error:
            await engine.index.contains(EVERYWHERE)
    assert "127.0.0.1/judge" in str(error.value)
    assert "sesame" not in str(error.value) + repr(engine)


async def test_meaning_is_searched_beside_the_words(address):
    forget_everything(address)
    embedder = FakeEmbedder()
    async with open_postgres(address, embedder) as engine:
        await add(engine, DOGS, CATS)
        assert (await found(engine.index, "dogs"))[0] == "dogs"
        results = await engine.index.search(parse_query("purr"), EVERYWHERE, limit=10)
        assert results.warnings == ()
    async with open_postgres(address, None) as engine:
        of_words = await engine.index.search(parse_query("purr"), EVERYWHERE, limit=10)
    assert "the index has vectors of fake-4" in of_words.warnings[0]
    assert results.hits[0].passage.document_id == "cats"


async def test_index_without_vectors_is_searched_by_words_with_a_warning(engine, address):
    await add(engine, DOGS)
    async with open_postgres(address, FakeEmbedder()) as other:
        results = await other.index.search(parse_query("dogs"), EVERYWHERE, limit=10)
    assert [hit.passage.document_id for hit in results.hits] == ["dogs"]
    assert "indexed without vectors" in results.warnings[0]


@pytest.fixture
def small_disk(address) -> Iterator[None]:
    """New tables go to a file system of 20 MB; skips where none can be made."""
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    folder = Path(mkdtemp(prefix="judge-disk-"))
    mounting = ["mount", "-t", "tmpfs", "-o", "size=20m,mode=0777", "tmpfs", folder]
    if subprocess.run(mounting, check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    with psycopg.connect(address, autocommit=True) as connection:
        (data,) = connection.execute("SHOW data_directory").fetchone()
        owner = Path(data).stat()
        os.chown(folder, owner.st_uid, owner.st_gid)
        try:
            forget_everything(address)
            connection.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
            connection.execute("ALTER DATABASE postgres SET default_tablespace = small")
            yield
        finally:
            forget_everything(address)
            connection.execute("ALTER DATABASE postgres RESET default_tablespace")
            connection.execute("DROP TABLESPACE IF EXISTS small")
            subprocess.run(["umount", "-l", folder], check=True)
            folder.rmdir()


async def test_full_disk_is_told_and_what_was_there_stays(small_disk, address):
    async with open_postgres(address, None) as engine:
        await add(engine, DOGS)
        big = [document(token_hex(20_000), id=f"d{number}") for number in range(300)]
        with pytest.raises(IndexUnavailable, match="No space left"):
            await add(engine, *big)
        assert await found(engine.index, "dogs") == ["dogs"]
        await add(engine, CATS)
        assert await found(engine.index, "cats") == ["cats"]


async def test_the_terms_of_replaced_and_removed_passages_go_with_them(engine, address):
    await add(engine, DOGS, CATS)
    fewer = document("dogs", id="dogs")
    await add(engine, fewer)
    async with engine.store.writing() as writer:
        await writer.remove("default", ["cats"])
        await writer.commit()
    with psycopg.connect(address) as connection:
        [[left]] = connection.execute("SELECT count(*) FROM judge.terms").fetchall()
        assert left == len(set(passage_terms(fewer.passages[0])))
        connection.execute("DELETE FROM judge.documents")
        assert connection.execute("SELECT count(*) FROM judge.terms").fetchall() == [(0,)]
