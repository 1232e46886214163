"""All approved pages as last read, indexed for ranking; one library per process.

update (counts words) -> indexed (compiles an index); both in a thread, so that no request waits.
A page that was not read yet is ranked by its title and topics.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from judge.library.pages.page_records import PageContent, PageKey, PageRecord, SnippetRequest
from judge.library.rank.candidate_index import (
    CandidateIndex,
    CandidatePage,
    PageTerms,
    compile_candidates,
    count_terms,
)
from judge.library.sources.catalog import SourceCatalog
from judge.vocabulary.thesaurus import Thesaurus

ReadRecord = tuple[SnippetRequest, PageRecord, PageContent]


@dataclass(frozen=True, slots=True)
class LibraryPage:
    """A page with its term counts, the nations it says it applies to, and the digest of its text.

    The digest is empty for a page that was not read yet.
    """

    terms: PageTerms
    nations: frozenset[str] = frozenset()
    is_withdrawn: bool = False
    digest: str = ""

    @property
    def is_read(self) -> bool:
        """Whether its text is known."""
        return bool(self.digest)


@dataclass(frozen=True, slots=True)
class IndexedPages:
    """A snapshot of the pages of a catalogue, and the index over them."""

    catalog: SourceCatalog
    pages: tuple[tuple[SnippetRequest, LibraryPage], ...]
    by_key: Mapping[PageKey, tuple[SnippetRequest, LibraryPage]]
    index: CandidateIndex


class PageLibrary:
    """Holds the term counts of each approved page, and compiles them to an index."""

    def __init__(self, thesaurus: Thesaurus) -> None:
        self._thesaurus = thesaurus
        self._pages: dict[PageKey, LibraryPage] = {}
        self._indexed: IndexedPages | None = None
        self._is_outdated = False
        self._indexing = asyncio.Lock()

    async def update(self, read: Sequence[ReadRecord]) -> None:
        """Count the words of pages just read, and rank by them from now on."""
        self._pages |= await asyncio.to_thread(_count_all, read)
        self._is_outdated = True

    def page(self, request: SnippetRequest, lead: str = "") -> LibraryPage:
        """The page, ranked by its title, topics and *lead* alone if it was not read yet."""
        return _as_configured(request, self._pages.get(request.key), lead)

    def has_twin(self, request: SnippetRequest, record: PageRecord) -> bool:
        """Whether another address of the host, titled otherwise, says the very same.

        So does what a site sends for every address that it does not have.
        """
        own = urlsplit(request.source.url)
        return any(
            page.digest == record.digest
            and page.terms.page.title != request.source.title
            and (other := urlsplit(url)).netloc == own.netloc
            and (other.path, other.query) != (own.path, own.query)
            for (_, url), page in self._pages.items()
        )

    def is_current(self, request: SnippetRequest, record: PageRecord) -> bool:
        """Whether the library has the page with the text that *record* describes."""
        page = self._pages.get(request.key)
        return page is not None and page.digest == record.digest

    async def indexed(self, catalog: SourceCatalog) -> IndexedPages:
        """The index of all pages of *catalog*; callers who wait together share one compilation."""
        async with self._indexing:
            known = self._indexed
            if known is None or self._is_outdated or known.catalog.digest != catalog.digest:
                self._is_outdated = False  # until something is learned, even while compiling
                known = await asyncio.to_thread(self._compile, catalog, dict(self._pages))
                self._indexed = known
            return known

    def compiled(self, pages: Sequence[LibraryPage]) -> CandidateIndex:
        """An index over these *pages* alone, such as those read during a request."""
        return compile_candidates([page.terms for page in pages], self._thesaurus)

    def _compile(self, catalog: SourceCatalog, pages: dict[PageKey, LibraryPage]) -> IndexedPages:
        known = tuple(
            (request, _as_configured(request, pages.get(request.key)))
            for request in requests_of(catalog)
        )
        by_key = {request.key: (request, page) for request, page in known}
        return IndexedPages(catalog, known, by_key, self.compiled([page for _, page in known]))


def requests_of(catalog: SourceCatalog) -> list[SnippetRequest]:
    """A request for every page of *catalog*, in the order of the sources file."""
    return [
        SnippetRequest(domain.name, source, catalog.retrieval, catalog.country.region_names)
        for domain in catalog.domains
        for source in domain.sources
    ]


def _count_all(read: Sequence[ReadRecord]) -> dict[PageKey, LibraryPage]:
    return {
        request.key: LibraryPage(
            count_terms(_candidate(request, record.text, content)),
            frozenset(record.nations),
            record.is_withdrawn,
            record.digest,
        )
        for request, record, content in read
    }


def _as_configured(
    request: SnippetRequest, page: LibraryPage | None, lead: str = ""
) -> LibraryPage:
    """*page* with the title and topics that are configured now."""
    if page is None:
        return LibraryPage(count_terms(_candidate(request, lead, PageContent("", ()))))
    ranked, source = page.terms.page, request.source
    if (ranked.title, ranked.topics) == (source.title, source.topics):
        return page
    retitled = replace(ranked, title=source.title, topics=source.topics)
    return replace(page, terms=count_terms(retitled))


def _candidate(request: SnippetRequest, lead: str, content: PageContent) -> CandidatePage:
    return CandidatePage(
        url=request.source.url,
        title=request.source.title,
        lead=lead,
        passages=tuple((passage.heading, passage.text) for passage in content.passages),
        topics=request.source.topics,
        domain=request.domain,
    )
