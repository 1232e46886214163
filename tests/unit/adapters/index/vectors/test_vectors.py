"""Vectors beside Tantivy: which are computed, and what remains after failures and kills."""

import asyncio
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from judge.adapters.embedders.passage_text import embedded_text, text_key
from judge.adapters.index.tantivy.index import TantivyIndex
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.adapters.index.vectors.factory import open_vectors
from judge.adapters.index.vectors.index import MAX_TRIED, TOP_HITS
from judge.adapters.index.vectors.vector_file import VectorFile
from judge.adapters.index.vectors.writer import BATCH_TEXTS
from judge.adapters.system_clock import SystemClock
from judge.errors import ConfigurationError, EmbedderUnavailable, IndexUnavailable
from judge.library.search.query import parse_query
from judge.types.search import Clause, Scope
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.journal import RecordingJournal
from tests.fakes.passages import document
from tests.unit.adapters.index.tantivy.test_tantivy import other_process

BOATS = [document(f"boat number{n}", id=f"d{n}") for n in range(5)]


class Library:
    """The index in a folder, opened again as by each process."""

    def __init__(self, folder, embedder=None):
        self.folder = folder
        self.embedder = embedder or FakeEmbedder()
        self.journal = RecordingJournal()
        text = TantivyIndex(folder)
        self.plain = TantivyStore(folder, SystemClock())
        vectors = open_vectors(folder, text, self.plain, self.embedder, self.journal)
        self.index, self.store = vectors.index, vectors.store

    @property
    def path(self):
        return self.folder / "vectors" / f"{self.embedder.name}.v1"

    @property
    def kept(self):
        """How many vectors lie in the file."""
        return len(VectorFile(self.path).table().keys)

    async def add(self, *documents, store=None):
        async with (store or self.store).writing() as writer:
            await writer.replace(documents)
            await writer.commit()

    async def crash(self, *documents):
        """Write, and crash at the commit."""
        with suppress(KeyError):
            async with self.store.writing() as writer:
                await writer.replace(documents)
                raise KeyError

    async def find(self, text, *clauses, limit=50, offset=0):
        return await self.index.search(
            parse_query(text), Scope(clauses), limit=limit, offset=offset
        )

    async def ids(self, text, *clauses):
        return sorted(hit.passage.document_id for hit in (await self.find(text, *clauses)).hits)

    async def complete(self, should_stop=lambda: False):
        told = []
        await self.store.complete(told.append, should_stop)
        return sum(told)

    def embedded(self):
        """How many texts were sent to be embedded."""
        return sum(count for purpose, count in self.embedder.calls if purpose == "passages")


@pytest.fixture
def shelf(tmp_path):
    return Library(tmp_path)


async def test_text_that_has_a_vector_is_not_embedded_again(shelf):
    await shelf.add(document("boat", "ship", id="a", tags=("old",)))
    await shelf.add(document("boat", "ship", id="a", tags=("new",)))
    await shelf.add(document("boat", "ship", id="moved", folder="elsewhere"))

    assert (shelf.embedded(), shelf.kept) == (2, 2)
    assert await shelf.ids("vessel", Clause("tag", ("new",))) == ["a", "a"]
    assert await shelf.ids("vessel") == ["a", "a", "moved", "moved"]


async def test_headings_are_embedded_with_the_text(shelf):
    await shelf.add(document("It leaves at noon.", id="a", title="The ferry"))

    assert await shelf.ids("boat") == ["a"]


async def test_key_of_a_text_depends_on_all_that_is_embedded():
    plain, titled = document("boat").passages[0], document("boat", title="T").passages[0]

    assert text_key(embedded_text(plain)) != text_key(embedded_text(titled))
    assert -(1 << 63) <= text_key("boat \ud800") < 1 << 63


async def test_failing_embedder_is_called_once_and_the_text_is_indexed(shelf):
    shelf.embedder.is_down = True
    async with shelf.store.writing() as writer:
        await writer.replace(BOATS[:2])
        await writer.replace(BOATS[2:])
        await writer.commit()

    shelf.embedder.is_down = False
    assert len(shelf.journal.events) == 1
    assert "search.embedder_failed" in shelf.journal.events[0]
    assert await shelf.store.missing() == 5
    results = await shelf.find("number3")
    assert [hit.passage.document_id for hit in results.hits] == ["d3"]
    assert "no vectors of fake-4. `judge index add` makes them" in results.warnings[0]


async def test_only_missing_vectors_are_computed(shelf):
    await shelf.add(*BOATS[:2])
    await shelf.add(*BOATS[2:], store=shelf.plain)
    assert await shelf.store.missing() == 3

    assert await shelf.complete() == 3

    assert (await shelf.store.missing(), shelf.embedded(), shelf.kept) == (0, 5, 5)
    assert len(await shelf.ids("vessel")) == 5


async def test_completion_can_be_interrupted_and_resumed(shelf):
    many = [document(f"boat number{n}", id=f"d{n}") for n in range(BATCH_TEXTS + 3)]
    await shelf.add(*many, store=shelf.plain)
    answers = iter([False, True])

    assert await shelf.complete(lambda: next(answers)) == BATCH_TEXTS
    assert await shelf.store.missing() == 3
    assert await Library(shelf.folder).complete() == 3


async def test_failure_during_completion_keeps_computed_vectors(shelf):
    many = [document(f"boat number{n}", id=f"d{n}") for n in range(BATCH_TEXTS + 3)]
    await shelf.add(*many, store=shelf.plain)

    def go_down(_):
        shelf.embedder.is_down = True

    with pytest.raises(EmbedderUnavailable):
        await shelf.store.complete(go_down, lambda: False)

    assert await shelf.store.missing() == 3


async def test_empty_index_lacks_no_vectors(shelf):
    assert await shelf.store.missing() == 0
    assert await shelf.complete() == 0
    assert (await shelf.find("boat")).hits == ()


async def test_vectors_of_another_embedder_are_unused_and_removed_on_completion(shelf):
    await shelf.add(*BOATS)
    other = Library(shelf.folder, FakeEmbedder("other/4"))

    results = await other.find("vessel")
    assert (results.hits, len(results.warnings)) == ((), 1)
    assert await other.store.missing() == 5
    await other.add(document("ship", id="new"))
    assert shelf.path.exists()
    await other.complete()

    assert len(await other.ids("vessel")) == 6
    assert [path.name for path in shelf.path.parent.iterdir()] == ["other_4.v1"]


async def test_vectors_that_nothing_uses_are_dropped_once_they_are_many(shelf):
    await shelf.add(*BOATS, *[document(f"bread {n}", id=f"b{n}") for n in range(5)])

    async with shelf.store.writing() as writer:
        await writer.remove("default", ["d0", "d1"])
        await writer.commit()
    assert shelf.kept == 10
    async with shelf.store.writing() as writer:
        await writer.remove("default", ["d2"])
        await writer.commit()

    assert shelf.kept == 7
    assert await shelf.ids("vessel") == ["d3", "d4"]


async def test_uncommitted_texts_are_not_embedded_again(shelf):
    await shelf.crash(*BOATS)
    assert await shelf.ids("vessel") == []

    again = Library(shelf.folder)
    await again.add(*BOATS)

    assert (again.embedded(), again.kept) == (0, 5)
    assert len(await again.ids("vessel")) == 5


async def test_orphans_of_a_crash_are_dropped_by_the_next_write(shelf):
    await shelf.crash(*BOATS)
    assert shelf.kept == 5

    await shelf.add(document("loaf", id="bread"))

    assert shelf.kept == 1


async def test_vectors_are_on_disk_before_the_commit_that_shows_their_passages(shelf):
    async with shelf.store.writing() as writer:
        await writer.replace(BOATS)
        assert VectorFile(shelf.path).table().keys.size == 5
        assert await shelf.ids("number1") == []
        await writer.commit()

    assert await shelf.ids("number1") == ["d1"]


@pytest.mark.parametrize("round_", range(3))
async def test_killed_writer_loses_no_vector_of_what_was_committed(tmp_path, round_):
    with other_process("embed", tmp_path) as process:
        for _ in range(2 + round_):
            last = int(await asyncio.to_thread(process.stdout.readline))
        process.send_signal(signal.SIGKILL)
        process.wait()

    shelf = Library(tmp_path)
    committed = {f"d{number}" for number in range(last + 1)}
    # By vectors alone: none contains "sensor".
    assert committed <= {hit.passage.document_id for hit in (await shelf.find("sensor")).hits}
    assert await shelf.store.missing() == 0
    await shelf.add(document("robot", id="after"))
    assert "after" in await shelf.ids("sensor")


async def test_torn_vectors_are_computed_again(shelf):
    await shelf.add(*BOATS)
    shelf.path.write_bytes(shelf.path.read_bytes()[:-5])
    again = Library(shelf.folder)

    assert await again.store.missing() == 1
    assert len(await again.ids("vessel")) == 4
    await again.complete()

    assert len(await again.ids("vessel")) == 5


async def test_reader_sees_the_vectors_of_another_process_at_once(shelf):
    with other_process("embed", shelf.folder) as process:
        for _ in range(2):
            last = int(await asyncio.to_thread(process.stdout.readline))
            assert f"d{last}" in await shelf.ids("sensor")


async def test_pages_contain_the_fused_head_and_all_later_hits(shelf):
    boats = [document(f"boat {'deck ' * (n % 7)}", id=f"d{n}") for n in range(TOP_HITS + 30)]
    ships = [document(f"vessel {n}", id=f"v{n}") for n in range(20)]
    await shelf.add(*boats, *ships)

    whole = (await shelf.find("boat", limit=500)).hits
    pages = [await shelf.find("boat", limit=7, offset=o) for o in range(0, len(whole) + 7, 7)]

    assert [hit for page in pages for hit in page.hits] == list(whole)
    assert {page.total for page in pages} == {len(whole)}
    assert max(Counter(hit.passage.id for hit in whole).values()) == 1
    assert {hit.passage.document_id for hit in whole} >= {item.document.id for item in boats}
    scores = [hit.score for hit in whole]
    assert scores == sorted(scores, reverse=True)
    assert (await shelf.find("boat", offset=10**12)).hits == ()


@pytest.mark.parametrize("share", [0.9, 0.5, 0.3, 0.1])
async def test_most_similar_passages_are_found_in_scopes_of_any_size(shelf, share):
    """Large scopes first try the most similar passages of all; the result is the same."""
    count = MAX_TRIED + 200
    inside = [n for n in range(count) if n >= count * (1 - share)]
    nearer = "boat"
    farther = "boat and bread"
    await shelf.add(
        *[
            document(
                farther if n in inside and n % 2 else nearer,
                id=f"d{n}",
                title=f"number{n}",
                folder="in" if n in inside else "out",
            )
            for n in range(count)
        ]
    )

    hits = (await shelf.find("vessel", Clause("folder", ("in",)), limit=TOP_HITS)).hits

    assert {hit.passage.folder for hit in hits} == {"in"}
    near = [n for n in inside if not n % 2]
    assert len(hits) == min(TOP_HITS, len(inside))
    assert sum(hit.passage.text == nearer for hit in hits) == min(TOP_HITS, len(near))


async def test_vectors_left_of_removed_passages_find_nothing_in_a_wide_scope(shelf):
    await shelf.add(*[document(f"bread {n}", id=f"b{n}") for n in range(9)], BOATS[0])
    async with shelf.store.writing() as writer:
        await writer.remove("default", ["d0"])
        await writer.commit()

    assert shelf.kept == 10
    assert await shelf.ids("vessel", Clause("collection", ("default",))) == []


async def test_invalid_vectors_are_an_embedder_failure(tmp_path):
    class Ragged(FakeEmbedder):
        async def embed_passages(self, texts):
            return [[1.0] * (3 + n) for n, _ in enumerate(texts)]

    shelf = Library(tmp_path, Ragged())
    await shelf.add(*BOATS)

    assert await shelf.store.missing() == 5
    with pytest.raises(EmbedderUnavailable, match="unusable vectors"):
        await shelf.complete()


async def test_unreadable_vectors_are_ignored_in_search_and_reported_when_writing(shelf):
    await shelf.add(*BOATS)
    shelf.path.unlink()
    shelf.path.mkdir()
    again = Library(shelf.folder)

    results = await again.find("number3")
    assert [hit.passage.document_id for hit in results.hits] == ["d3"]
    assert "the vectors cannot be read (Is a directory)." in results.warnings[0]
    with pytest.raises(IndexUnavailable, match="cannot be written"):
        await again.add(*BOATS)


async def test_deleted_index_finds_nothing_by_old_vectors(shelf):
    await shelf.add(*BOATS)
    for path in shelf.folder.glob("index-v*/*"):
        path.unlink()

    assert (await shelf.find("vessel")).hits == ()


def test_without_an_embedder_numpy_is_not_imported(tmp_path):
    asks = """
import asyncio, sys
from judge.bootstrap.corpus import open_search
from judge.library.search.service import SearchParameters
from judge.settings import Settings
from tests.fakes.journal import RecordingJournal
async def ask():
    settings = Settings(_env_file=None, gemini_api_key="key")
    async with open_search(settings, RecordingJournal()) as corpus:
        await corpus.search.search(SearchParameters("boat"))
asyncio.run(ask())
sys.exit("numpy" in sys.modules)
"""
    environment = {"JUDGE_DATA_DIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[4])}
    done = subprocess.run([sys.executable, "-c", asks], env=environment, timeout=60, check=False)

    assert done.returncode == 0


def test_missing_package_is_a_configuration_error(monkeypatch, tmp_path):
    for name in ("vector_file", "index", "writer"):
        monkeypatch.delitem(sys.modules, f"judge.adapters.index.vectors.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "numpy", None)

    with pytest.raises(ConfigurationError, match=r"judge\[vectors\].*pip install numpy"):
        Library(tmp_path)


async def test_every_filter_is_exact_over_many_passages(tmp_path):
    """The least similar of a thousand passages is found at limit 1."""
    shelf = Library(tmp_path)
    crowd = [document(*["boat"] * 50, id=f"d{n}", collection="crowd") for n in range(20)]
    lone = document("a ship laden with bread and robots", id="lone", collection="crowd", folder="x")
    await shelf.add(*crowd, lone)

    found = await shelf.find("vessel", Clause("folder", ("x",)), limit=1)

    assert [hit.passage.document_id for hit in found.hits] == ["lone"]
    assert np.isclose(found.hits[0].score, 0.5)
