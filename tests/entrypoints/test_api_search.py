"""`/api/search` and `/api/documents`, over the real embedded index."""

import asyncio
import gzip
import json
import re
import shutil
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from urllib.parse import quote

import pytest

from judge.bootstrap.corpus import open_search
from judge.errors import IndexLocked
from judge.library.extract.document_reader import MAX_BYTES
from judge.library.search.service import DocumentSearch
from judge.settings import Settings
from tests.entrypoints.api_bench import open_bench
from tests.fakes.clock import FakeClock
from tests.fakes.fetcher import ScriptedFetcher
from tests.fakes.journal import RecordingJournal
from tests.fakes.search_index import FakeIndex

DOCUMENTS = (
    {
        "collection": "leases",
        "document_id": "flat/lease.md",
        "text": "# The lease\n\n## Repairs\n\nThe landlord repairs the boiler within a week.",
        "folder": "flat",
        "tags": ["2025", "signed"],
        "modified": "2025-02-01",
    },
    {"collection": "manuals", "document_id": "boiler.txt", "text": "Turn the boiler on."},
    {"collection": "manuals", "document_id": "oven.txt", "text": "Turn the oven on."},
)
MEMBERS = "query context chunks total_found search_time_ms filters_applied".split()
CHUNK = (
    "id text score document_id document_title collection_id collection_name position highlight "
    "metadata"
).split()


class SearchBench:
    """The app with an index, and shorthands for requests."""

    def __init__(self, bench, fetcher):
        self.client = bench.client
        self.bench = bench
        self.fetcher = fetcher

    async def add(self, **fields):
        return await self.client.post("/api/documents", json=fields)

    async def search(self, query="boiler", **fields):
        return await self.client.post("/api/search", json={"query": query, **fields})

    async def ids(self, query="boiler", **fields):
        body = (await self.search(query, **fields)).json()
        return [chunk["document_id"] for chunk in body["chunks"]]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    """A folder with the documents, indexed through the API."""
    folder = tmp_path_factory.mktemp("indexed")

    async def index():
        async with open_shelf(folder) as shelf:
            for document in DOCUMENTS:
                assert (await shelf.add(**document)).status_code == 201

    asyncio.run(index())
    return folder / "data"


@asynccontextmanager
async def open_shelf(folder):
    fetcher = ScriptedFetcher()
    where = Settings(_env_file=None, JUDGE_DATA_DIR=str(folder / "data"))
    async with (
        open_bench(folder / "sources.toml") as bench,
        open_search(where, RecordingJournal()) as corpus,
    ):
        indexer = replace(corpus.indexer, open_fetcher=lambda: nullcontext(fetcher))
        use(bench, replace(corpus, indexer=indexer))
        yield SearchBench(bench, fetcher)


@pytest.fixture
def shelf(tmp_path, indexed):
    @asynccontextmanager
    async def opening(documents=DOCUMENTS):
        if documents:
            shutil.copytree(indexed, tmp_path / "data")
        async with open_shelf(tmp_path) as shelf:
            yield shelf

    return opening


def use(bench, corpus):
    bench.app.state.services = replace(bench.app.state.services, corpus=corpus)


async def test_a_reply_has_exactly_the_members_of_the_contract(shelf):
    async with shelf() as at:
        reply = await at.search("who repairs boilers", context="@collection:leases")
    body = reply.json()
    assert reply.status_code == 200
    assert reply.headers["cache-control"] == "no-store"
    assert list(body) == MEMBERS
    (chunk,) = body["chunks"]
    assert list(chunk) == CHUNK
    assert chunk == {
        "id": "leases/flat/lease.md:0",
        "text": DOCUMENTS[0]["text"],
        "score": chunk["score"],
        "document_id": "flat/lease.md",
        "document_title": "The lease",
        "collection_id": "leases",
        "collection_name": "leases",
        "position": 0,
        "highlight": chunk["highlight"],
        "metadata": {
            "path": "flat/lease.md",
            "source_url": "flat/lease.md",
            "chapter": "flat",
            "section": "Repairs",
            "folder": "flat",
            "start_line": 1,
            "end_line": 5,
            "language": "markdown",
            "tags": ["2025", "signed"],
            "modified": "2025-02-01T00:00:00Z",
        },
    }
    assert "**repairs** the **boiler**" in chunk["highlight"]
    assert body["query"] == "who repairs boilers"
    assert body["context"] == "@collection:leases"
    assert body["total_found"] == 1
    assert 0 < body["search_time_ms"] < 5000
    assert body["filters_applied"] == {
        "scope": "@collection:leases",
        "clauses": [{"kind": "collection", "values": ["leases"], "excluded": False}],
    }


async def test_scope_and_filters_are_combined(shelf):
    async with shelf() as at:
        for fields, ids in [
            ({}, {"flat/lease.md", "boiler.txt"}),
            ({"query": "boiler @collection:manuals"}, {"boiler.txt"}),
            ({"context": "-@collection:manuals"}, {"flat/lease.md"}),
            ({"context": "@folder:flat @tag:signed,other"}, {"flat/lease.md"}),
            ({"context": "@modified:<2025-03-01"}, {"flat/lease.md"}),
            ({"filters": {"collection_name": "LEASES"}}, {"flat/lease.md"}),
            ({"filters": {"collection_id": ["manuals"]}}, {"boiler.txt"}),
            ({"filters": {"document_id": "boiler.txt", "recursive": False}}, {"boiler.txt"}),
            ({"filters": {"folder_path": "/flat", "tags": "2025"}}, {"flat/lease.md"}),
            (
                {"filters": {"modified_after": "2025-02-01", "modified_before": "2025-02-02"}},
                {"flat/lease.md"},
            ),
            ({"context": "@document:flat/lease.md -@collection:leases"}, set()),
            ({"context": "@collection:leases", "filters": {"collection_name": "manuals"}}, set()),
        ]:
            assert set(await at.ids(**fields)) == ids


async def test_search_by_get(shelf):
    async with shelf() as at:
        params = {"q": "boiler", "context": "@collection:manuals", "limit": "5", "offset": "0"}
        reply = await at.client.get("/api/search", params=params)
        assert [c["document_id"] for c in reply.json()["chunks"]] == ["boiler.txt"]
        params["format"] = "answer"
        answer = await at.client.get("/api/search", params=params)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == (
        "Based on the indexed files, here are the relevant sections:\n\n"
        "[1] boiler.txt:1-1\n```markdown\nTurn the boiler on.\n```\n\n"
        '---\nSources: <cite i="1"/>\n'
    )


async def test_a_query_string_that_is_no_utf_8_is_refused(shelf):
    async with shelf() as at:
        for query in ["q=caf%e9", "q=%ED%A0%80", "q=boiler&context=%ff"]:
            reply = await at.client.get(f"/api/search?{query}")
            assert (reply.status_code, "must be text in UTF-8" in reply.text) == (400, True)


async def test_scope_without_hits_gives_a_hint(shelf):
    async with shelf() as at:
        body = (await at.search("oven", context="@collection:leases")).json()
        unknown = (await at.search("oven", context="@tag:2024")).json()
        nothing = (await at.search("zebra", context="@collection:leases")).json()
    assert "@* has 1 passage" in body["hint"]
    assert "No tag is called '2024'. Did you mean '2025'?" in unknown["hint"]
    assert "hint" not in nothing


async def test_invalid_scope_lists_the_valid_values(shelf):
    async with shelf() as at:
        for context, told, valid in [
            ("@foldr:x", "@foldr: did you mean @folder?", "folder"),
            ("@collection:lease", "did you mean 'leases'?", "leases"),
            ("@collection:", "lacks a value", "leases"),
            ("-@tag:", "lacks a value", "2025"),
            ("@modified:", "lacks a value", "last-week"),
            ("@foldr:", "lacks a value", "folder"),
            ("@modified:2025-02-30", "is no date", "today"),
            ("@modified:2025-02-03..2025-02-01", "before it begins", "today"),
            ("leases", "is no scope", "collection"),
        ]:
            problem = (await at.search(context=context)).json()
            assert problem["type"].endswith("bad-scope")
            assert told in problem["detail"]
            assert valid in problem["valid"]


async def test_a_wrong_field_is_named(shelf):
    async with shelf(()) as at:
        for fields, field in [
            ({"query": " "}, "query"),
            ({"query": "@collection:*"}, "query"),
            ({"query": "x" * 1001}, "query"),
            ({"limit": 0}, "limit"),
            ({"limit": 51}, "limit"),
            ({"offset": -1}, "offset"),
            ({"format": "xml"}, "format"),
            ({"filters": {"colour": "red"}}, "filters.colour"),
            ({"filters": {"tags": 3}}, "filters.tags"),
            ({"page": 2}, "page"),
            ({"include_metadata": "perhaps"}, "include_metadata"),
            ({"include_metadata": "false"}, "include_metadata"),
            ({"limit": "10"}, "limit"),
            ({"limit": True}, "limit"),
        ]:
            problem = (await at.search(**fields)).json()
            assert problem["type"].endswith("invalid-request")
            assert problem["errors"][0]["field"] == field


async def test_unavailable_index_is_503_and_degrades_readiness(shelf):
    async with shelf() as at:
        ready = await at.client.get("/health/ready")
        assert "index" not in ready.json()["degraded"]
        index = FakeIndex()
        index.is_down = True
        corpus = replace(
            at.bench.app.state.services.corpus, search=DocumentSearch(index, index, FakeClock())
        )
        use(at.bench, corpus)
        ready = await at.client.get("/health/ready")
        assert (ready.status_code, ready.json()["degraded"]) == (200, ["index"])
        reply = await at.search()
        assert (reply.status_code, reply.headers["retry-after"]) == (503, "5")


async def test_a_document_is_added_replaced_and_removed(shelf):
    async with shelf(()) as at:
        long = "A sentence about the boiler is here. " * 100
        added = await at.add(collection="c", document_id="a/b.md", text=long)
        assert (added.status_code, added.json()) == (201, {"document_id": "a/b.md", "passages": 4})
        await at.add(collection="C", document_id="A/B.md", text="The oven.")
        assert await at.ids("boiler") == []
        assert await at.ids("oven") == ["A/B.md"]
        gone = await at.client.delete("/api/documents/c/a/b.md")
        assert (gone.status_code, gone.content) == (204, b"")
        assert await at.ids("oven") == []
        again = await at.client.delete("/api/documents/c/a/b.md")
        assert (again.status_code, "no document 'a/b.md' in 'c'" in again.text) == (404, True)


@pytest.mark.parametrize("name", ["https://x.org//a?b=c", "ü é/ä.md", "a%2Fb", "x y"])
async def test_any_id_can_be_removed(shelf, name):
    async with shelf(()) as at:
        await at.add(collection="my c", document_id=name, text="The oven.")
        assert await at.ids("oven") == [name]
        path = f"/api/documents/{quote('my c')}/{quote(name)}"
        assert (await at.client.delete(path)).status_code == 204
        assert await at.ids("oven") == []


async def test_page_is_fetched_by_url(shelf):
    url = "https://example.org/terms"
    async with shelf(()) as at:
        at.fetcher.page(
            url, "<h1>Terms</h1><p>The oven.", last_modified="Wed, 01 Jan 2025 10:00:00 GMT"
        )
        assert (await at.add(collection="c", url=url)).json()["document_id"] == url
        chunk = (await at.search("oven")).json()["chunks"][0]
        assert chunk["metadata"]["source_url"] == url
        assert chunk["metadata"]["modified"] == "2025-01-01T10:00:00Z"
        await at.add(collection="c", url=url, modified="2025-05-05", document_id="t")
        assert (await at.ids("oven @modified:2025-05-05")) == ["t"]
        failed = await at.add(collection="c", url="https://example.org/gone")
        assert (failed.status_code, "Nothing is scripted" in failed.text) == (400, True)


async def test_a_file_may_be_sent_as_a_form(shelf):
    async with shelf(()) as at:
        reply = await at.client.post(
            "/api/documents",
            files={"file": ("C:\\docs\\manual.md", b"# Manual\n\nThe oven.", "text/markdown")},
            data={"collection": "c", "tags": ["a, b", "c"], "folder": " f ", "title": "Mine"},
        )
        assert (reply.status_code, reply.json()["document_id"]) == (201, "manual.md")
        chunk = (await at.search("oven @tag:b @folder:f")).json()["chunks"][0]
        assert chunk["document_title"] == "Mine"
        assert chunk["metadata"]["tags"] == ["a", "b", "c"]
        folder = await at.client.post("/api/documents", files={"f": ("docs/", b"A stove.")})
        assert re.fullmatch(r"doc-[0-9a-f]{12}", folder.json()["document_id"])
        plain = await at.client.post("/api/documents", files={"f": ("x.py", b"oven = 1")})
        assert plain.status_code == 201
        assert (await at.search("oven @collection:default")).json()["chunks"][0]["metadata"][
            "language"
        ] == "python"


FORM = {"content-type": "multipart/form-data; boundary=b"}


def part_named(name: bytes) -> bytes:
    """The body of a form with one file called *name*."""
    disposition = b'Content-Disposition: form-data; name="file"; filename="%s"' % name
    return b"--b\r\n%s\r\n\r\nThe oven.\r\n--b--\r\n" % disposition


@pytest.mark.process
async def test_broken_pdf_is_explained(shelf):
    async with shelf(()) as at:
        reply = await at.client.post("/api/documents", files={"file": ("x.pdf", b"%PDF")})
    assert (reply.status_code, "The PDF is broken" in reply.json()["detail"]) == (400, True)


async def test_invalid_form_is_explained(shelf):
    async with shelf(()) as at:
        for parts, told in [
            ({"files": {"a": ("x", b"1"), "b": ("y", b"2")}}, "must be there once, not 2 times"),
            ({"files": {"file": ("x.md", b"x")}, "data": {"colour": "red"}}, "colour"),
            ({"files": {"file": ("x.md", b"x")}, "data": {"text": "y"}}, "without text and url"),
            ({"files": {"file": ("x.md", b"x")}, "data": {"url": "https://x"}}, "without text and"),
            ({"files": {"file": ("x.gif", b"GIF\0")}}, "not text"),
            ({"files": {"file": ("x.md", b" ")}}, "no text in it"),
            ({"content": b"--b\r\nnonsense", "headers": FORM}, "Invalid multipart"),
            ({"content": part_named(b"\xff.md"), "headers": FORM}, "Invalid multipart"),
            ({"content": part_named(b"a\0.md"), "headers": FORM}, "document_id must not hold NUL"),
            ({"content": part_named(b" "), "headers": FORM}, "document_id must not be empty"),
            (
                {"content": part_named(b"x" * 501), "headers": FORM},
                "must have at most 500 characters",
            ),
            ({"files": {"file": ("x.md", b"x")}, "data": {"title": ["a", "b"]}}, "must be a text"),
            ({"files": {"file": ("x.md", b"x")}, "data": {"title": b"caf\xe9"}}, "text in UTF-8"),
        ]:
            reply = await at.client.post("/api/documents", **parts)
            assert (reply.status_code, told in reply.text) == (400, True)


async def test_invalid_document_is_explained(shelf):
    async with shelf(()) as at:
        for fields, told in [
            ({"text": "x"}, "collection is missing"),
            ({"collection": "c"}, "text or url must be there"),
            ({"collection": "c", "text": "x", "url": "https://x"}, "not both"),
            ({"collection": "*", "text": "x"}, "no name for a collection"),
            ({"collection": "c", "text": "x", "modified": "2025-02-30"}, "must be a date"),
            ({"collection": "c", "text": ""}, "no text"),
            ({"collection": "c", "text": "x", "colour": "red"}, "colour is not known"),
            ({"collection": "c", "text": "x", "tags": ["a", 3]}, "tags.1 must be a text"),
            ({"collection": "c", "text": "x", "tags": ["a"] * 1001}, "tags must have at most 1000"),
        ]:
            reply = await at.add(**fields)
            assert (reply.status_code, told in reply.text) == (400, True)


@pytest.mark.slow
async def test_document_may_have_ten_mebibytes_at_most(shelf):
    async with shelf(()) as at:
        files = {"file": ("x.txt", b"oven " + b"\n" * (MAX_BYTES - 5))}
        assert (await at.client.post("/api/documents", files=files)).status_code == 201
        for extra in (1, 1024 * 1024):
            files = {"file": ("x.txt", b"x" * (MAX_BYTES + extra))}
            reply = await at.client.post("/api/documents", files=files)
            assert (reply.status_code, "10 MiB" in reply.json()["detail"]) == (413, True)


class LockedStore:
    """A store that another process has locked."""

    def writing(self):
        raise IndexLocked("process 7")


async def test_compressed_document_is_refused_and_byte_order_mark_accepted(shelf):
    body = b"\xef\xbb\xbf" + json.dumps({"collection": "c", "text": "oven"}).encode()
    headers = {"content-type": "application/json"}
    async with shelf(()) as at:
        path = "/api/documents"
        added = await at.client.post(path, content=body, headers=headers)
        headers["content-encoding"] = "gzip"
        refused = await at.client.post(path, content=gzip.compress(body), headers=headers)
    assert (added.status_code, refused.status_code) == (201, 415)
    assert "compressed" in refused.json()["detail"]


async def test_locked_index_is_503(shelf):
    async with shelf() as at:
        corpus = at.bench.app.state.services.corpus
        use(at.bench, replace(corpus, indexer=replace(corpus.indexer, store=LockedStore())))
        reply = await at.add(collection="c", text="x")
    assert (reply.status_code, "process 7" in reply.text) == (503, True)
