"""What is read again, what is removed, and what a crash or Ctrl-C leaves."""

from datetime import UTC, datetime

import pytest

from judge.errors import InvalidRequest, UnreadableDocument
from judge.search.indexing.document_reader import (
    MAX_BYTES,
    Origin,
    Readers,
    check_collection,
    read_document,
)
from judge.search.indexing.indexer import COMMIT_EVERY_S, Indexer, IndexingReport
from judge.search.indexing.plan import IndexingOptions, gone, plan_indexing
from judge.search.indexing.readers.html import HtmlRules
from judge.search.indexing.web_pages import fetch_page, is_address
from judge.types.judgements import NotModified
from judge.types.search import FoundFile
from tests.fakes.clock import FakeClock
from tests.fakes.fetcher import ScriptedFetcher
from tests.fakes.search_index import FakeIndex

WISH = IndexingOptions("docs")


class NoPages:
    """What a PDF without text gives."""

    pages = ("Page one.", "Page two.")
    title = "A PDF"


READERS = Readers(HtmlRules(lambda body, _: body.decode(), lambda html: html), lambda _: NoPages())


def file(relative: str, *, root: str = "/home/docs", mtime_ns: int = 1_000, size: int = 10):
    path = f"{root}/{relative}"
    return FoundFile(path, path, f"docs/{relative}", relative, mtime_ns, size)


def plan(*files, known=(), wish=WISH, is_there=lambda _: True):
    return plan_indexing(files, known, wish, is_there=is_there)


def record_of(work, content: bytes = b"Words."):
    return read_document(content, work.origin, READERS).document


def known(*files, wish=WISH):
    return [record_of(work) for work in plan(*files, wish=wish).work]


def test_a_new_file_is_read_and_knows_where_it_belongs():
    (work,) = plan(file("2024/q1/a.md", mtime_ns=1_700_000_000_000_000_000)).work
    origin = work.origin
    assert (origin.document_id, origin.folder) == ("2024/q1/a.md", "2024/q1")
    assert (origin.path, origin.indexed_path) == ("docs/2024/q1/a.md", "/home/docs/2024/q1/a.md")
    assert origin.modified == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert work.known is None


def test_a_folder_that_was_asked_for_stands_before_id_and_folder():
    (work,) = plan(file("x/a.md"), wish=IndexingOptions("docs", folder="/top/")).work
    assert (work.origin.document_id, work.origin.folder) == ("top/x/a.md", "top/x")


def test_an_unchanged_file_is_not_even_opened():
    found = plan(file("a.md"), known=known(file("a.md")))
    assert (found.work, found.unchanged, found.seen) == ((), 1, {"a.md"})


@pytest.mark.parametrize(
    ("changed", "wish"),
    [
        (file("a.md", mtime_ns=2_000), WISH),
        (file("a.md", size=11), WISH),
        (file("a.md"), IndexingOptions("docs", tags=("new",))),
        (file("a.md"), IndexingOptions("docs", title="Other")),
        (file("a.md"), IndexingOptions("docs", reads_all=True)),
    ],
)
def test_a_file_is_read_again_when_it_or_the_wish_changed(changed, wish):
    (work,) = plan(changed, known=known(file("a.md")), wish=wish).work
    assert work.known is not None


def test_a_file_keeps_the_id_under_which_it_was_indexed():
    found = plan(file("a.md", root="/home/docs/sub"), known=known(file("sub/a.md")))
    assert (found.unchanged, found.seen) == (0, {"sub/a.md"})
    assert found.work[0].origin.document_id == "sub/a.md"


def test_two_files_of_one_id_do_not_overwrite_one_another():
    found = plan(file("a.md"), file("a.md", root="/elsewhere"))
    assert len(found.work) == 1
    assert "same id as /home/docs/a.md; add it with --folder" in found.problems[0].reason


def test_a_document_from_elsewhere_is_not_overwritten_while_its_file_is_there():
    before = known(file("a.md", root="/elsewhere"))
    assert plan(file("a.md"), known=before).problems
    moved = plan(file("a.md"), known=before, is_there=lambda _: False)
    assert moved.work[0].known == before[0]
    named = plan(file("a.md"), known=before, wish=IndexingOptions("docs", document_id="a.md"))
    assert not named.problems


def test_a_file_over_the_limit_is_a_problem_and_stays_what_it_was():
    found = plan(file("a.md", size=MAX_BYTES + 1), known=known(file("a.md")))
    assert found.problems[0].reason == "is over 10 MiB"
    assert found.seen == {"a.md"}


def test_only_what_was_looked_for_and_not_seen_is_gone():
    before = known(file("a.md"), file("B.md"), file("sub/c.md"))
    here = gone(before, frozenset({"b.md"}), lambda path: "/sub/" not in path)
    assert here == ("a.md",)


class Desk:
    """A shelver with its surroundings."""

    def __init__(self, contents: dict[str, bytes], index: FakeIndex | None = None) -> None:
        self.index = index or FakeIndex()
        self.clock = FakeClock()
        self.contents = contents
        self.report = IndexingReport()
        self.told: list[int] = []
        self.stop_after = 10**9

    def load(self, location: str) -> bytes:
        self.clock.advance(0.01)
        name = location.rpartition("/")[2]
        if name not in self.contents:
            raise UnreadableDocument("It cannot be read (No such file).")
        return self.contents[name]

    async def index_files(self, *files, wish=WISH):
        found = plan(*files, known=await self.index.documents("docs"), wish=wish)
        async with self.index.writing() as writer:
            shelver = Indexer(
                load=self.load,
                readers=READERS,
                writer=writer,
                clock=self.clock,
                tell=self.told.append,
                should_stop=lambda: sum(self.told) >= self.stop_after,
            )
            await shelver.index(found.work, self.report, reads_all=wish.reads_all)
        return self.report

    def ids(self) -> list[str]:
        return sorted(key[1] for key in self.index.documents_by_key)


async def test_files_are_read_and_counted_by_what_came_of_them():
    desk = Desk(
        {"a.md": b"# A\n\nWords.", "b.bin": b"x\0y", "empty.txt": b" \n", "p.pdf": b"%PDF\0"}
    )
    report = await desk.index_files(
        file("a.md"), file("b.bin"), file("empty.txt"), file("gone.md"), file("p.pdf")
    )
    assert desk.ids() == ["a.md", "p.pdf"]
    assert (report.added, report.binary, report.empty, report.passages) == (2, 1, 1, 3)
    assert [(p.path, p.reason) for p in report.problems] == [
        ("docs/gone.md", "It cannot be read (No such file).")
    ]
    assert desk.told == [5]


async def test_a_touched_file_of_the_same_text_is_not_written_again():
    desk = Desk({"a.md": b"Words."})
    await desk.index_files(file("a.md"))
    desk.report = IndexingReport()
    report = await desk.index_files(file("a.md", mtime_ns=9_000))
    assert (report.unchanged, report.replaced) == (1, 0)
    again = await desk.index_files(file("a.md"), wish=IndexingOptions("docs", reads_all=True))
    assert again.replaced == 1


async def test_a_changed_file_takes_the_place_of_the_old_one():
    desk = Desk({"a.md": b"Words."})
    await desk.index_files(file("a.md"))
    desk.contents["a.md"] = b"Other words."
    report = await desk.index_files(file("a.md", mtime_ns=9_000))
    (document,) = desk.index.documents_by_key.values()
    assert (report.replaced, document.passages[0].text) == (1, "Other words.")


@pytest.mark.parametrize("content", [b"", b"x\0"])
async def test_a_document_whose_text_is_gone_is_removed(content):
    desk = Desk({"a.md": b"Words."})
    await desk.index_files(file("a.md"))
    desk.contents["a.md"] = content
    await desk.index_files(file("a.md", mtime_ns=9_000))
    assert desk.ids() == []


async def test_a_document_that_cannot_be_read_any_more_stays():
    desk = Desk({"a.md": b"Words."})
    await desk.index_files(file("a.md"))
    desk.contents.clear()
    report = await desk.index_files(file("a.md", mtime_ns=9_000))
    assert (desk.ids(), len(report.problems)) == (["a.md"], 1)


def many(count: int):
    return [file(f"{n:03}.md") for n in range(count)]


async def test_work_is_committed_as_it_goes():
    files = many(500)
    desk = Desk({f.relative: b"Words." for f in files})
    await desk.index_files(*files)
    assert desk.index.commits >= 500 * 0.01 / COMMIT_EVERY_S
    assert desk.index.commits <= 5


async def test_stopped_half_way_what_was_done_is_kept_and_a_second_run_does_the_rest():
    files = many(100)
    desk = Desk({f.relative: b"Words." for f in files})
    desk.stop_after = 40
    report = await desk.index_files(*files)
    assert report.is_interrupted
    assert 40 <= len(desk.ids()) == report.added < 100
    rest = Desk(desk.contents, desk.index)
    second = await rest.index_files(*files)
    assert (len(rest.ids()), second.added) == (100, 100 - report.added)


async def test_large_files_make_small_batches():
    files = [file(f"{n}.md", size=1_500_000) for n in range(4)]
    desk = Desk({f.relative: b"Words." for f in files})
    await desk.index_files(*files)
    assert desk.told == [2, 2]


def origin(name: str = "a.md", **more) -> Origin:
    return Origin("docs", name, name, name, name, name, **more)


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (b"x" * (MAX_BYTES + 1), "a.md", "over 10 MiB"),
        (b"\0", "a.md", "not text"),
        (b" \n ", "a.md", "no text"),
    ],
)
def test_a_document_that_cannot_be_indexed_says_why(content, name, told):
    with pytest.raises(UnreadableDocument, match=told):
        read_document(content, origin(name), READERS)


@pytest.mark.parametrize(
    ("content", "name", "title", "chapter"),
    [
        (b"# Top\n\nx", "a.md", "Top", "Top"),
        (b"x", "dir/notes.txt", "notes.txt", "f"),
        (b"x = 1", "a.py", "a.py", "f"),
        (b"<h1>Top</h1>x", "a.html", "Top", "Top"),
        (b"", "a.pdf", "A PDF", "f"),
    ],
)
def test_title_and_chapter_come_from_the_text_or_the_place(content, name, title, chapter):
    document = read_document(content, origin(name, folder="f"), READERS)
    assert (document.passages[0].title, document.passages[0].chapter) == (title, chapter)


def test_a_title_that_was_given_wins_and_no_folder_is_no_chapter():
    (passage,) = read_document(b"x", origin("a.txt", title="Mine"), READERS).passages
    assert (passage.title, passage.chapter) == ("Mine", None)


@pytest.mark.parametrize("name", ["", " ", "*", "a\nb", "x" * 101])
def test_a_collection_needs_a_name(name):
    with pytest.raises(InvalidRequest, match="no name for a collection"):
        check_collection(name)


def test_a_name_is_trimmed():
    assert check_collection(" my docs ") == "my docs"


PAGE = "https://example.org/terms"


async def test_a_web_page_is_its_own_address():
    fetcher = ScriptedFetcher()
    fetcher.page(PAGE, "<h1>Terms</h1><p>x", last_modified="Wed, 01 Jan 2025 10:00:00 GMT")
    content, where = await fetch_page(
        fetcher, PAGE, IndexingOptions("docs", folder="web", tags=("t",))
    )
    document = read_document(content, where, READERS)
    passage = document.passages[0]
    assert (document.document.id, passage.source_url, passage.folder) == (PAGE, PAGE, "web")
    assert (passage.title, passage.tags) == ("Terms", ("t",))
    assert passage.modified == datetime(2025, 1, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize("date", ["", "yesterday", "Wed, 01 Jan 2025 10:00:00 -0000"])
async def test_a_page_may_not_tell_when_it_changed(date):
    fetcher = ScriptedFetcher()
    fetcher.page(PAGE, "x", last_modified=date)
    _, where = await fetch_page(fetcher, PAGE, WISH)
    assert where.modified in {None, datetime(2025, 1, 1, 10, tzinfo=UTC)}


async def test_a_page_that_cannot_be_had_says_why():
    fetcher = ScriptedFetcher({PAGE: NotModified()})
    with pytest.raises(UnreadableDocument, match="know it already"):
        await fetch_page(fetcher, PAGE, WISH)
    fetcher.fail(PAGE, "robots")
    with pytest.raises(UnreadableDocument, match="robots"):
        await fetch_page(fetcher, PAGE, WISH)


def test_addresses_are_told_from_paths():
    assert is_address("HTTPS://x.org")
    assert not is_address("./http/readme.md")
