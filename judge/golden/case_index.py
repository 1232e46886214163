"""The indexed documents of a golden case: a small index, gone when the case is over."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from judge.adapters.files.document_files import LocalFiles
from judge.adapters.files.pdf_text import pdf_text
from judge.adapters.tantivy.index import TantivyIndex
from judge.adapters.tantivy.writer import TantivyStore
from judge.golden.replay import ReplayFetcher
from judge.ports import Clock, PassageFinder
from judge.search.citable_passages import CitablePassageFinder
from judge.search.indexing.document_reader import Origin
from judge.search.indexing.indexer import DocumentIndexer
from judge.search.service import DocumentSearch


@asynccontextmanager
async def open_documents(
    documents: Mapping[str, str], clock: Clock
) -> AsyncIterator[PassageFinder | None]:
    """Index *documents*, texts by `collection/id`; None where a case has none.

    Their time is that of *clock*, so that a replay gives the same bytes every time.
    """
    if not documents:
        yield None
        return
    with TemporaryDirectory(prefix="judge-golden-") as folder:
        index = TantivyIndex(Path(folder))
        indexer = DocumentIndexer(
            store=TantivyStore(Path(folder), clock),
            catalogue=index,
            files=LocalFiles(),
            read_pdf=pdf_text,
            open_fetcher=lambda: nullcontext(ReplayFetcher({})),
            clock=clock,
        )
        await indexer.add_documents(
            [(text.encode(), _origin(name, clock)) for name, text in documents.items()]
        )
        yield CitablePassageFinder(DocumentSearch(index, index, clock), clock)


def _origin(name: str, clock: Clock) -> Origin:
    collection, _, document_id = name.partition("/")
    return Origin(
        collection=collection,
        document_id=document_id,
        name=document_id,
        path=document_id,
        source_url=document_id,
        indexed_path=document_id,
        folder=document_id.rpartition("/")[0],
        modified=clock.now(),
    )
