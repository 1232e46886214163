"""All approved pages as they were last read, indexed for ranking; one library a process.

A page that was not read yet is known by its title and topics.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from judge.judging.pages.candidates import CandidateIndex, compile_candidates
from judge.judging.pages.counted_pages import CandidatePage, CountedPage, count_words
from judge.judging.pages.page_records import PageContent, PageRecord, SnippetRequest
from judge.judging.sources import SourceCatalog
from judge.vocabulary.thesaurus import Thesaurus

PageKey = tuple[str, str]
"""The domain and address that a page is configured with."""

ReadRecord = tuple[SnippetRequest, PageRecord, PageContent]


@dataclass(frozen=True, slots=True)
class LibraryPage:
    """A page as it is ranked, where it applies, and the content that it was counted from."""

    counted: CountedPage
    nations: frozenset[str] = frozenset()
    is_withdrawn: bool = False
    content_digest: str = ""

    @property
    def is_read(self) -> bool:
        """Whether its text is known."""
        return bool(self.content_digest)


class PageLibrary:
    """What is known of each approved page, and the index over it."""

    def __init__(self, thesaurus: Thesaurus) -> None:
        self._thesaurus = thesaurus
        self._pages: dict[PageKey, LibraryPage] = {}
        self._catalog: SourceCatalog | None = None
        self._index: CandidateIndex | None = None
        self._learned = 0

    def index_of(self, catalog: SourceCatalog) -> CandidateIndex:
        """The index over the pages of *catalog*, as far as they were read."""
        if catalog is not self._catalog:
            self._index = None
        if self._index is None:
            self._catalog = catalog
            self._index = compile_candidates(
                [self.page(request).counted for request in requests_of(catalog)], self._thesaurus
            )
        return self._index

    def is_indexed(self, catalog: SourceCatalog) -> bool:
        """Whether the index of *catalog* is there already."""
        return self._index is not None and catalog is self._catalog

    def compiled(self, pages: Sequence[LibraryPage]) -> CandidateIndex:
        """An index over these *pages* alone, for what was read just now."""
        return compile_candidates([page.counted for page in pages], self._thesaurus)

    def page(self, request: SnippetRequest) -> LibraryPage:
        """What is known of the page: of one that was not read, its title and topics."""
        return _known(self._pages, request)

    def page_with_lead(self, request: SnippetRequest, lead: str) -> LibraryPage:
        """The page, known by *lead* at least: somebody else may have stored its snippet."""
        page = self.page(request)
        if page.is_read:
            return page
        return LibraryPage(count_words(_candidate(request, lead, None)))

    def learn(self, request: SnippetRequest, record: PageRecord, content: PageContent) -> None:
        """Rank the page by what it says from now on."""
        self._pages[_key(request)] = _as_read(request, record, content)
        self._index = None
        self._learned += 1

    async def learn_all(self, read: Sequence[ReadRecord], catalog: SourceCatalog) -> None:
        """Learn many pages and index them in a thread, so that requests need not wait."""
        learned = self._learned
        pages = dict(self._pages)

        def compile_all() -> CandidateIndex:
            pages.update({_key(one): _as_read(one, record, c) for one, record, c in read})
            counted = [_known(pages, request).counted for request in requests_of(catalog)]
            return compile_candidates(counted, self._thesaurus)

        index = await asyncio.to_thread(compile_all)
        self._pages |= {_key(one): pages[_key(one)] for one, *_ in read}
        # What a request has learned meanwhile is not in this index.
        self._catalog, self._index = catalog, index if learned == self._learned else None

    def holds(self, request: SnippetRequest, record: PageRecord) -> bool:
        """Whether the page is known as *record* has it."""
        return self.page(request).content_digest == record.content_digest


def requests_of(catalog: SourceCatalog) -> list[SnippetRequest]:
    """A request for every page of *catalog*, in the order of the file."""
    return [
        SnippetRequest(domain.name, source, catalog.retrieval)
        for domain in catalog.domains
        for source in domain.sources
    ]


def _known(pages: dict[PageKey, LibraryPage], request: SnippetRequest) -> LibraryPage:
    """The page in *pages*, put there by its title and topics where it was not read yet."""
    page = pages.get(_key(request))
    if page is None or not _is_of(page, request):
        page = pages[_key(request)] = LibraryPage(count_words(_candidate(request, "", None)))
    return page


def _as_read(request: SnippetRequest, record: PageRecord, content: PageContent) -> LibraryPage:
    return LibraryPage(
        count_words(_candidate(request, record.text, content)),
        frozenset(record.nations),
        record.is_withdrawn,
        record.content_digest,
    )


def _key(request: SnippetRequest) -> PageKey:
    return request.domain, request.source.url


def _is_of(page: LibraryPage, request: SnippetRequest) -> bool:
    """Whether *page* has the title and topics that are configured now."""
    ranked = page.counted.page
    return ranked.title == request.source.title and ranked.topics == request.source.topics


def _candidate(request: SnippetRequest, lead: str, content: PageContent | None) -> CandidatePage:
    passages = content.passages if content else ()
    return CandidatePage(
        url=request.source.url,
        title=request.source.title,
        lead=lead,
        passages=tuple((passage.heading, passage.text) for passage in passages),
        topics=request.source.topics,
        domain=request.domain,
    )
