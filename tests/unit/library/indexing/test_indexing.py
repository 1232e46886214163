"""Which files are read again, which documents are removed, and what an interruption leaves."""

import asyncio
import threading
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from judge.errors import InvalidRequest, UnreadableDocument
from judge.library.extract.document_reader import (
    MAX_BYTES,
    DocumentMetadata,
    check_collection,
    read_document,
)
from judge.library.indexing.indexer import DocumentIndexer
from judge.library.indexing.plan import IndexingOptions, fetch_page, plan_indexing
from judge.ports import not_converted
from judge.types.search import FileScan, FoundFile, PdfText
from tests.fakes.clock import FakeClock
from tests.fakes.fetcher import ScriptedFetcher
from tests.fakes.search_index import FakeIndex

OPTIONS = IndexingOptions("docs")


def read_pdf(content: bytes) -> PdfText:
    return PdfText(("Page one.", "Page two."), "A PDF")


def file(relative: str, *, root: str = "/home/docs", mtime_ns: int = 1_000, size: int = 10):
    path = f"{root}/{relative}"
    return FoundFile(path, path, f"docs/{relative}", relative, mtime_ns, size)


def plan(*files, indexed=(), options=OPTIONS, exists=lambda _: True):
    return plan_indexing(files, indexed, options, exists=exists)


def record_of(task, content: bytes = b"Words."):
    return read_document(content, task.meta, read_pdf).document


def records_of(*files, options=OPTIONS):
    return [record_of(task) for task in plan(*files, options=options).tasks]


@pytest.mark.parametrize(
    ("changed", "options"),
    [
        (file("a.md", mtime_ns=2_000), OPTIONS),
        (file("a.md"), IndexingOptions("docs", tags=("new",))),
        (file("a.md"), IndexingOptions("docs", title="Other")),
        (file("a.md"), IndexingOptions("docs", replaces=True)),
    ],
)
def test_a_file_is_read_again_when_it_or_the_options_changed(changed, options):
    (task,) = plan(changed, indexed=records_of(file("a.md")), options=options).tasks
    assert task.indexed is not None


def test_a_file_keeps_the_id_under_which_it_was_indexed():
    found = plan(file("a.md", root="/home/docs/sub"), indexed=records_of(file("sub/a.md")))
    assert (found.unchanged, found.document_ids) == (0, {"sub/a.md"})
    assert found.tasks[0].meta.document_id == "sub/a.md"


def test_file_that_two_paths_lead_to_is_read_once():
    found = plan(file("a.md"), file("b.md"), file("a.md"))
    assert [task.meta.document_id for task in found.tasks] == ["a.md", "b.md"]
    old = records_of(file("a.md"))
    assert plan(file("a.md"), file("a.md"), indexed=old).unchanged == 1
    large = file("a.md", size=MAX_BYTES + 1)
    assert len(plan(large, large).problems) == 1


def test_two_files_with_one_id_do_not_overwrite_each_other():
    found = plan(file("a.md"), file("a.md", root="/elsewhere"))
    assert len(found.tasks) == 1
    assert "same id as /home/docs/a.md; add it with --folder" in found.problems[0].reason


def test_a_document_from_elsewhere_is_not_overwritten_while_its_file_is_there():
    before = records_of(file("a.md", root="/elsewhere"))
    assert plan(file("a.md"), indexed=before).problems
    moved = plan(file("a.md"), indexed=before, exists=lambda _: False)
    assert moved.tasks[0].indexed == before[0]
    named = plan(file("a.md"), indexed=before, options=IndexingOptions("docs", document_id="a.md"))
    assert not named.problems


def test_file_over_the_limit_is_a_problem_and_its_document_stays():
    found = plan(file("a.md", size=MAX_BYTES + 1), indexed=records_of(file("a.md")))
    assert found.problems[0].reason == "is over 10 MiB"
    assert found.document_ids == {"a.md"}


class Bench:
    """An indexer with the files, pages and index around it."""

    def __init__(self, contents: dict[str, bytes], index: FakeIndex | None = None) -> None:
        self.index = index or FakeIndex()
        self.clock = FakeClock()
        self.contents = contents
        self.fetcher = ScriptedFetcher()
        self.advances: list[int] = []
        self.indexer = DocumentIndexer(
            store=self.index,
            catalogue=self.index,
            files=self,
            open_pdf_reader=lambda: nullcontext(read_pdf),
            convert=not_converted,
            open_fetcher=lambda: nullcontext(self.fetcher),
            clock=self.clock,
        )

    def scan(self, paths, globs) -> FileScan:
        problems = tuple((path, "is broken") for path in paths if path == "broken")
        return FileScan(tuple(self.files), problems, 0, ("/home/docs",))

    def read(self, location: str, *, max_bytes: int) -> bytes:
        self.clock.advance(0.01)
        name = location.rpartition("/")[2]
        if name not in self.contents:
            raise UnreadableDocument("It cannot be read (No such file).")
        return self.contents[name]

    def exists(self, path: str) -> bool:
        return path in {file.path for file in self.files}

    async def add(self, *files, places=("docs",), options=OPTIONS):
        self.files = files
        return await self.indexer.add(places, options, self.track)

    def track(self, _phase, _total):
        return nullcontext(self.advances.append)

    def ids(self) -> list[str]:
        return sorted(key[1] for key in self.index.documents_by_key)


async def test_files_are_counted_by_outcome():
    bench = Bench(
        {"a.md": b"# A\n\nWords.", "b.bin": b"x\0y", "empty.txt": b" \n", "p.pdf": b"%PDF\0"}
    )
    report = await bench.add(
        file("a.md"), file("b.bin"), file("empty.txt"), file("gone.md"), file("p.pdf")
    )
    assert bench.ids() == ["a.md", "p.pdf"]
    assert (report.added, report.binary, report.empty, report.passages) == (2, 1, 1, 3)
    assert [(p.path, p.reason) for p in report.problems] == [
        ("docs/gone.md", "It cannot be read (No such file).")
    ]
    assert bench.advances == [5]


async def test_a_touched_file_of_the_same_text_is_not_written_again():
    bench = Bench({"a.md": b"Words."})
    await bench.add(file("a.md"))
    report = await bench.add(file("a.md", mtime_ns=9_000))
    assert (report.unchanged, report.replaced) == (1, 0)
    again = await bench.add(file("a.md"), options=IndexingOptions("docs", replaces=True))
    assert again.replaced == 1


def many(count: int):
    return [file(f"{n:03}.md") for n in range(count)]


def meta(name: str = "a.md", **more) -> DocumentMetadata:
    return DocumentMetadata("docs", name, name, name, **more)


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (b"x" * (MAX_BYTES + 1), "a.md", "over 10 MiB"),
        (b"\0", "a.md", "not text"),
        (b" \n ", "a.md", "no text"),
    ],
)
def test_unindexable_document_is_explained(content, name, told):
    with pytest.raises(UnreadableDocument, match=told):
        read_document(content, meta(name), read_pdf)


@pytest.mark.parametrize(
    ("content", "name", "title", "chapter"),
    [
        (b"# Top\n## Sub\nx", "a.md", "Top", "f"),
        (b"# Top\n## Sub\n### Deep\nx", "a.md", "Top", "Sub"),
        (b"---\ntitle: Front\n---\n# Top\nx", "a.md", "Front", "f"),
        (b"A plain title\n\nWords.", "a.txt", "A plain title", "f"),
        (b"A sentence.\n\nWords.", "a.txt", "a.txt", "f"),
        (b"Two\nlines\n\nWords.", "a.txt", "a.txt", "f"),
        (b"<h1>Top</h1><h2>Sub</h2>x", "a.html", "Top", "f"),
        (b"", "a.pdf", "A PDF", "f"),
    ],
)
def test_title_and_chapter_come_from_the_text_or_the_place(content, name, title, chapter):
    document = read_document(content, meta(name, folder="f"), read_pdf)
    assert (document.passages[0].title, document.passages[0].chapter) == (title, chapter)


@pytest.mark.parametrize("name", ["", " ", "*", "a\nb", "x" * 101])
def test_a_collection_needs_a_name(name):
    with pytest.raises(InvalidRequest, match="no name for a collection"):
        check_collection(name)


PAGE = "https://example.org/terms"


async def test_id_of_a_web_page_is_its_url():
    fetcher = ScriptedFetcher()
    fetcher.page(PAGE, "<h1>Terms</h1><p>x", last_modified="Wed, 01 Jan 2025 10:00:00 GMT")
    content, where = await fetch_page(
        fetcher, PAGE, IndexingOptions("docs", folder="web", tags=("t",))
    )
    document = read_document(content, where, read_pdf)
    passage = document.passages[0]
    assert (document.document.id, passage.path, passage.folder) == (PAGE, PAGE, "web")
    assert (passage.title, passage.tags) == ("Terms", ("t",))
    assert passage.modified == datetime(2025, 1, 1, 10, tzinfo=UTC)


async def test_places_are_files_and_pages_and_all_are_counted():
    bench = Bench({"a.md": b"Words."})
    bench.fetcher.page(PAGE, "<p>Terms")
    bench.fetcher.fail("https://example.org/gone", "status")
    report = await bench.add(
        file("a.md"), places=("docs", "broken", PAGE, "https://example.org/gone")
    )
    assert bench.ids() == ["a.md", PAGE]
    assert (report.added, report.passages) == (2, 2)
    assert [problem.path for problem in report.problems] == ["broken", "https://example.org/gone"]
    again = await bench.add(file("a.md"), places=("docs", PAGE))
    assert (again.unchanged, again.added) == (2, 0)


async def test_missing_files_are_removed_only_on_request():
    files = many(3)
    bench = Bench({f.relative: b"Words." for f in files})
    await bench.add(*files)
    assert (await bench.add(*files[1:])).removed == 0
    assert (await bench.add(*files[1:], options=IndexingOptions("docs", prunes=True))).removed == 1
    report = await bench.add(files[2], options=IndexingOptions("docs", replaces=True))
    assert (report.replaced, report.removed, bench.ids()) == (1, 1, ["002.md"])


@pytest.mark.parametrize("option", ["replaces", "prunes"])
async def test_nothing_is_removed_if_a_path_cannot_be_read(option):
    files = many(2)
    bench = Bench({f.relative: b"Words." for f in files})
    await bench.add(*files)
    options = IndexingOptions("docs", **{option: True})
    report = await bench.add(files[0], places=("docs", "broken"), options=options)
    assert (report.removed, len(bench.ids())) == (0, 2)
    assert [problem.path for problem in report.problems] == ["broken", f"--{option[:-1]}"]


async def test_documents_in_memory_are_indexed_atomically():
    bench = Bench({})
    with pytest.raises(UnreadableDocument):
        await bench.indexer.add_documents([(b"Words.", meta()), (b" ", meta("b.md"))])
    assert bench.ids() == []
    first, second = await bench.indexer.add_documents(
        [(b"Words.", meta()), (b"More.", meta("b.md"))]
    )
    assert (first.id, second.passages, bench.ids()) == ("a.md", 1, ["a.md", "b.md"])


async def test_many_pdfs_at_once_leave_threads_for_other_work():
    bench, may_end = Bench({}), threading.Event()

    def read_slowly(content: bytes) -> PdfText:
        may_end.wait()
        return read_pdf(content)

    indexer = replace(bench.indexer, open_pdf_reader=lambda: nullcontext(read_slowly))
    names = [f"{number}.pdf" for number in range(40)]
    adding = [asyncio.create_task(indexer.add_documents([(b"%PDF", meta(name))])) for name in names]
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(10):
            await indexer.add_documents([(b"Words.", meta())])
    finally:
        may_end.set()
    await asyncio.gather(*adding)
    assert bench.ids() == sorted(["a.md", *names])


async def test_documents_are_removed_by_id_and_unknown_ids_reported():
    bench = Bench({"a.md": b"Words.", "b.md": b"Words."})
    await bench.add(file("a.md"), file("b.md"))
    commits = bench.index.commits
    told = await bench.indexer.remove("DOCS", ["A.md", "c.md"])
    assert (*told, bench.ids()) == (["a.md"], ["c.md"], ["b.md"])
    await bench.indexer.remove("docs", ["c.md"])
    assert bench.index.commits == commits + 1
    assert (await bench.indexer.remove("docs"))[0] == ["b.md"]
    assert bench.ids() == []
