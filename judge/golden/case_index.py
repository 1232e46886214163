"""The indexed documents of a golden case: a small index, gone when the case is over."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from judge.adapters.files.pdf_text import pdf_text
from judge.adapters.tantivy.index import TantivyIndex
from judge.adapters.tantivy.writer import TantivyStore
from judge.ports import Clock, PassageFinder
from judge.search.citable_passages import CitablePassageFinder
from judge.search.indexing.document_reader import Origin, Readers, read_document
from judge.search.indexing.readers.html import HtmlRules
from judge.search.service import DocumentSearch
from judge.text.decoding import decode_html
from judge.text.identifiers import identifier_parts
from judge.text.markup_limits import limit_markup
from judge.text.relevance import requirement

READERS = Readers(HtmlRules(decode_html, limit_markup), pdf_text)


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
        index = TantivyIndex(Path(folder), requirement)
        store = TantivyStore(Path(folder), identifier_parts, clock)
        made = [
            read_document(text.encode(), _origin(name, clock), READERS)
            for name, text in documents.items()
        ]
        async with store.writing() as writer:
            await writer.replace(made)
            await writer.commit()
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
