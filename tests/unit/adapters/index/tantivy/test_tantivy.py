"""What is specific to Tantivy: its folder, its lock, and several processes."""

import asyncio
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from judge.adapters.index.tantivy.index import TantivyIndex, index_folder
from judge.adapters.index.tantivy.schema import english, open_index
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.adapters.memory import SystemClock
from judge.errors import IndexLocked, IndexUnavailable
from judge.library.search.query import parse_query
from judge.text.index_tokens import searchable
from judge.types.search import Scope
from tests.fakes.passages import book, document


def store_of(folder, wait_s=5.0):
    return TantivyStore(folder, SystemClock(), wait_s=wait_s)


async def add(folder, *documents):
    async with store_of(folder).writing() as writer:
        await writer.replace(documents)
        await writer.commit()


async def ids(index, text="robot"):
    results = await index.search(parse_query(text), Scope(), limit=50)
    return sorted(hit.passage.document_id for hit in results.hits)


@contextmanager
def other_process(task, folder):
    command = [sys.executable, "-m", "tests.fakes.index_process", task, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.process
async def test_reader_sees_the_commits_of_another_process(tmp_path):
    index = TantivyIndex(tmp_path)
    with other_process("write", tmp_path) as process:
        number = int(await asyncio.to_thread(process.stdout.readline))

        assert f"d{number}" in await ids(index)


@pytest.mark.process
@pytest.mark.parametrize("round_", range(2))
async def test_killed_writer_loses_nothing_that_was_committed(tmp_path, round_):
    with other_process("write", tmp_path) as process:
        for _ in range(2 + round_):
            last = int(await asyncio.to_thread(process.stdout.readline))
        process.send_signal(signal.SIGKILL)
        process.wait()

    index = TantivyIndex(tmp_path)
    found = await ids(index)
    assert {f"d{number}" for number in range(last + 1)} <= set(found)
    await add(tmp_path, document("robot", id="after"))
    assert await ids(index) == sorted([*found, "after"])


@pytest.mark.process
async def test_second_writer_learns_who_has_the_lock(tmp_path):
    with other_process("hold", tmp_path) as process:
        await asyncio.to_thread(process.stdout.readline)

        with pytest.raises(IndexLocked, match=f"by process {process.pid} \\(index_process.py hold"):
            async with store_of(tmp_path, wait_s=0.1).writing():
                pass


async def test_writers_in_one_process_queue_for_the_lock(tmp_path):
    store = store_of(tmp_path, wait_s=0)

    async def write(name):
        async with store.writing() as writer:
            await writer.replace([document("robot", id=name)])
            await writer.commit()
            written.append(name)

    written, names = [], [f"d{number:02}" for number in range(12)]
    await asyncio.gather(*map(write, names))

    assert written == names
    assert await ids(TantivyIndex(tmp_path)) == names


async def test_index_of_another_version_says_how_to_rebuild(tmp_path):
    (tmp_path / "index-v0").mkdir()
    index = TantivyIndex(tmp_path)

    with pytest.raises(IndexUnavailable, match=r"index-v0.*another version.*judge index add"):
        await ids(index)
    with pytest.raises(IndexUnavailable, match="another version"):
        await index.contains(Scope())


async def test_first_commit_replaces_the_index_of_another_version(tmp_path):
    (tmp_path / "index-v0").mkdir()

    await add(tmp_path, document("robot", id="one"))

    assert [folder.name for folder in tmp_path.glob("index-v*")] == [index_folder(tmp_path).name]
    assert await ids(TantivyIndex(tmp_path)) == ["one"]


async def test_broken_index_is_unavailable_not_empty(tmp_path):
    await add(tmp_path, document("robot", id="one"))
    (index_folder(tmp_path) / "meta.json").write_text("{")
    index = TantivyIndex(tmp_path)

    for ask in (ids(index), index.contains(Scope()), index.window("a:0"), index.collections()):
        with pytest.raises(IndexUnavailable, match=r"cannot be read.*judge index add"):
            await ask
    with pytest.raises(IndexUnavailable, match="cannot be written"):
        await add(tmp_path, document("robot", id="two"))


async def test_questions_are_analysed_as_the_index_is(tmp_path):
    text = f"Landlords' REPAIRS, dying {'x' * 39} {'y' * 40} ROS2 naïve_word Straße 東京 the of"
    await add(tmp_path, document(text, title="", id="one"))

    terms = open_index(str(index_folder(tmp_path))).searcher().terms_with_prefix("body", "")

    assert {term for term, _ in terms} == set(english().analyze(searchable(text))) | {"ros", "2"}


async def test_long_and_hostile_questions_are_answered_in_time(tmp_path):
    await add(tmp_path, *book())
    index = TantivyIndex(tmp_path)
    text = " ".join(passage.text for item in book() for passage in item.passages)

    questions = (text, "x" * 10_000, '"' + text + '"', "-a " * 500 + "robot", "\ud800 robot")

    async with asyncio.timeout(20):
        found = [await index.search(parse_query(q), Scope(), limit=10) for q in questions]

    assert [bool(results.hits) for results in found] == [True, False, False, True, True]
