"""All approved pages as last read, indexed for ranking; one library per process."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from judge.library.pages.page_records import PageKey, PageRecord, SnippetRequest
from judge.library.rank.candidate_index import (
    CandidateIndex,
    CandidatePage,
    PageTerms,
    compile_candidates,
    count_terms,
)
from judge.library.sources.catalog import SourceCatalog
from judge.vocabulary.thesaurus import Thesaurus


@dataclass(frozen=True, slots=True)
class LibraryPage:
    """A page with its term counts and its record, which is None if it was not read yet."""

    terms: PageTerms
    record: PageRecord | None = None
    nations: frozenset[str] = frozenset()
    """Where it applies, as is configured and as it says itself; empty means everywhere."""

    @property
    def digest(self) -> str:
        """Identifies its text, "" while that is unknown."""
        return self.record.digest if self.record else ""

    @property
    def is_withdrawn(self) -> bool:
        """Whether its publisher has withdrawn it."""
        return self.record is not None and self.record.is_withdrawn


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
        self._updating, self._indexing = asyncio.Lock(), asyncio.Lock()

    async def update(self, read: Iterable[tuple[SnippetRequest, PageRecord]]) -> None:
        """Count the words of those pages *read* that say something new, and rank by them."""
        read = [*read]
        if not self._news(read):
            return
        async with self._updating:
            if news := self._news(read):  # nobody else has counted them meanwhile
                self._pages |= await asyncio.to_thread(_counted, news)
                self._is_outdated = True

    def _news(
        self, read: Sequence[tuple[SnippetRequest, PageRecord]]
    ) -> list[tuple[SnippetRequest, PageRecord]]:
        return [
            (request, page)
            for request, page in read
            if not (known := self._pages.get(request.key)) or known.digest != page.digest
        ]

    def page(self, request: SnippetRequest, lead: str = "") -> LibraryPage:
        """The page, ranked by its title, topics and *lead* alone if it was not read yet."""
        return _as_configured(request, self._pages.get(request.key), lead)

    def has_twin(self, request: SnippetRequest, record: PageRecord) -> bool:
        """Whether another address of the host says the very same, as errors do."""
        own = urlsplit(request.source.url)
        return any(
            page.digest == record.digest
            and page.terms.page.title != request.source.title
            and (other := urlsplit(url)).netloc == own.netloc
            and (other.path, other.query) != (own.path, own.query)
            for (_, url), page in self._pages.items()
        )

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


def _counted(read: Sequence[tuple[SnippetRequest, PageRecord]]) -> dict[PageKey, LibraryPage]:
    terms = (count_terms(_candidate(one, page.text, page.passages)) for one, page in read)
    return {one.key: LibraryPage(counts, page) for (one, page), counts in zip(read, terms)}


def _as_configured(
    request: SnippetRequest, page: LibraryPage | None, lead: str = ""
) -> LibraryPage:
    """*page* with the title, topics and nations that are configured now."""
    source = request.source
    configured = frozenset(source.nations)
    if page is None:
        return LibraryPage(count_terms(_candidate(request, lead, ())), nations=configured)
    nations = configured.union(page.record.nations if page.record else ())
    ranked = page.terms.page
    if (ranked.title, ranked.topics) == (source.title, source.topics):
        return replace(page, nations=nations)
    retitled = replace(ranked, title=source.title, topics=source.topics)
    return replace(page, terms=count_terms(retitled), nations=nations)


def _candidate(
    request: SnippetRequest, lead: str, passages: tuple[tuple[str, str], ...]
) -> CandidatePage:
    source = request.source
    return CandidatePage(source.url, source.title, lead, passages, source.topics, request.domain)
