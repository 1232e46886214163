"""Pages as servers in a bad mood send them, fetched and read: the shared cases, where they are."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from judge.adapters.files.pdf_text import pdf_text
from judge.adapters.memory import MemoryCache, MemoryLock
from judge.errors import FetchError
from judge.library.pages.page_records import SnippetRequest
from judge.library.pages.retriever import SnippetRetriever
from judge.types.references import RetrievalSettings, SourceSpec
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.network import fetcher_for
from tests.fakes.site import FakeSite, Reply

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "live"
SETTINGS = RetrievalSettings(fetch_timeout_s=20)


def cases(name: str) -> list[dict[str, Any]]:
    path = CASES / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def reply(case: dict[str, Any]) -> Reply:
    """The reply that *case* describes."""
    body = (CASES / case["file"]).read_bytes() if "file" in case else case.get("body", "").encode()
    headers = {"Content-Type": "text/html; charset=utf-8"} | case.get("headers", {})
    if coding := case.get("coding"):
        packed = gzip.compress(body)
        body = packed[:-8] if coding == "gzip-no-trailer" else packed[: len(packed) // 2]
        headers["Content-Encoding"] = "gzip"
    return Reply(body, case.get("status", 200), tuple(headers.items()))


def retriever_of(fetcher: Any, clock: FakeClock) -> SnippetRetriever:
    cache, lock = MemoryCache(clock), MemoryLock(clock)
    return SnippetRetriever(fetcher, cache, lock, clock, RecordingJournal(), read_pdf=pdf_text)


def request_for(site: FakeSite, path: str, case: dict[str, Any]) -> SnippetRequest:
    source = SourceSpec(site.url(path), case["title"], tuple(case["topics"]))
    return SnippetRequest("tenancy", source, SETTINGS)


@pytest.mark.parametrize("case", cases("pages.jsonl"), ids=lambda case: case["name"])
async def test_page_is_read_or_refused(case: dict[str, Any]):
    async with FakeSite() as site, fetcher_for(site) as fetcher:
        for path, answer in case["site"].items():
            site.script(path, reply(answer))
        clock = FakeClock()
        clock.advance(365 * 86_400)  # to a day after the dates of the pages
        retriever = retriever_of(fetcher, clock)
        request = request_for(site, case["path"], case)
        if case["right"] == "refused":
            with pytest.raises(FetchError):
                await retriever.refresh(request)
            [page] = await retriever.retrieve([request])
            assert page.snippet is None
            return
        record = await retriever.refresh(request)
        [text] = await retriever.full_texts([request])
    assert record.text.startswith(case.get("lead", ""))
    assert all(words in text for words in case.get("has", ()))
    assert not any(words in text for words in case.get("never", ()))
    assert str(record.updated) == case.get("updated", str(record.updated))


@pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not here")
async def test_walls_leave_the_last_good_text_of_yesterday():
    good = {case["name"]: case for case in cases("good.jsonl")}
    async with FakeSite() as site, fetcher_for(site) as fetcher:
        for case in cases("walls.jsonl"):
            clock, yesterday = FakeClock(), good[case["yesterday"]]
            retriever = retriever_of(fetcher, clock)
            path = f"/{case['name']}"
            request = request_for(site, path, yesterday)
            site.script(path, reply(yesterday))
            read = await retriever.refresh(request)
            assert read.text.startswith(yesterday["lead"])
            site.script(path, reply(case))
            clock.advance(request.ttl_s + 1)
            [page] = await retriever.retrieve([request])
            assert (page.snippet.text, page.snippet.is_stale) == (read.text, True), case["name"]
            with pytest.raises(FetchError):
                await retriever.refresh(request)
            assert await retriever.cache.get_many([request.cache_key("snippet")]) == [None]
