"""Vectors beside Tantivy: which are computed, and what remains after failures and kills."""

import sys
from collections import Counter

import pytest

from judge.adapters.index.tantivy.index import TantivyIndex
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.adapters.index.vectors import BATCH_TEXTS, TOP_HITS, VectorFile
from judge.adapters.memory import SystemClock
from judge.bootstrap.corpus import open_vectors
from judge.errors import ConfigurationError, EmbedderUnavailable, IndexUnavailable
from judge.library.search.query import parse_query
from judge.types.search import Clause, Scope
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.journal import RecordingJournal
from tests.fakes.passages import document

BOATS = [document(f"boat number{n}", id=f"d{n}") for n in range(5)]
MANY = [document(f"boat number{n}", id=f"d{n}") for n in range(BATCH_TEXTS + 3)]


class Library:
    """The index in a folder, opened again as by each process."""

    def __init__(self, folder, embedder=None):
        self.folder = folder
        self.embedder = embedder or FakeEmbedder()
        self.journal = RecordingJournal()
        text, self.store = TantivyIndex(folder), TantivyStore(folder, SystemClock())
        opened = open_vectors(folder, text, self.store, self.embedder, self.journal)
        self.index, self.vectors = opened.index, opened.vectors

    @property
    def path(self):
        return self.folder / "vectors" / f"{self.embedder.name}.v2"

    @property
    def kept(self):
        """How many vectors lie in the file."""
        return len(VectorFile(self.path).table()[0])

    async def add(self, *documents, embeds=True):
        async with self.store.writing() as writer:
            await writer.replace(documents)
            await writer.commit()
        if embeds:
            await self.complete()

    async def remove(self, *ids):
        async with self.store.writing() as writer:
            await writer.remove("default", ids)
            await writer.commit()

    async def find(self, text, *clauses, limit=50, offset=0):
        return await self.index.search(
            parse_query(text), Scope(clauses), limit=limit, offset=offset
        )

    async def ids(self, text, *clauses):
        return sorted(hit.passage.document_id for hit in (await self.find(text, *clauses)).hits)

    async def complete(self):
        told = []
        await self.vectors.complete(told.append)
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


async def test_text_is_found_while_the_embedder_fails_and_by_meaning_later(shelf):
    shelf.embedder.is_down = True
    with pytest.raises(EmbedderUnavailable):
        await shelf.add(*BOATS)

    shelf.embedder.is_down = False
    assert "search.embedder_failed" in shelf.journal.events[0]
    assert await shelf.vectors.missing() == 5
    results = await shelf.find("number3")
    assert results.hits[0].passage.document_id == "d3"
    assert "no vectors of fake-4. `judge index add` makes them" in results.warnings[0]
    assert await shelf.complete() == 5
    assert (await shelf.vectors.missing(), len(await shelf.ids("vessel"))) == (0, 5)


async def test_vectors_of_another_embedder_are_unused_and_removed_on_completion(shelf):
    await shelf.add(*BOATS)
    other = Library(shelf.folder, FakeEmbedder("other/4"))

    results = await other.find("vessel")
    assert (results.hits, len(results.warnings)) == ((), 1)
    assert await other.complete() == 5

    assert len(await other.ids("vessel")) == 5
    assert [path.name for path in shelf.path.parent.iterdir()] == ["other_4.v2"]


async def test_vectors_of_removed_passages_find_nothing_and_are_dropped_on_completion(shelf):
    await shelf.add(*BOATS)
    await shelf.remove("d0", "d1", "d2")

    assert (shelf.kept, await shelf.ids("vessel")) == (5, ["d3", "d4"])
    assert await shelf.ids("vessel", Clause("collection", ("default",))) == ["d3", "d4"]
    await shelf.complete()
    assert (shelf.kept, await shelf.ids("vessel")) == (2, ["d3", "d4"])


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


async def test_invalid_vectors_are_an_embedder_failure(tmp_path):
    class Ragged(FakeEmbedder):
        async def embed_passages(self, texts):
            return [[1.0] * (3 + n) for n, _ in enumerate(texts)]

    shelf = Library(tmp_path, Ragged())
    with pytest.raises(EmbedderUnavailable, match="unusable vectors"):
        await shelf.add(*BOATS)
    assert await shelf.vectors.missing() == 5


async def test_damaged_file_is_ignored_in_search_and_reported_when_writing(shelf):
    await shelf.add(*BOATS)
    shelf.path.write_bytes(b"not a database" * 100)
    again = Library(shelf.folder)

    results = await again.find("number3")
    assert results.hits[0].passage.document_id == "d3"
    assert "The vectors cannot be kept: fake-4.v2: file is not a database" in results.warnings[0]
    with pytest.raises(IndexUnavailable, match="delete it: `judge index add` makes it again"):
        await again.complete()


def test_missing_package_is_a_configuration_error(monkeypatch, tmp_path):
    monkeypatch.delitem(sys.modules, "judge.adapters.index.vectors", raising=False)
    monkeypatch.setitem(sys.modules, "numpy", None)

    with pytest.raises(ConfigurationError, match=r"judge\[vectors\].*pip install numpy"):
        Library(tmp_path)
