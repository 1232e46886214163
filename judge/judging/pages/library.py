"""All approved pages as they were last read, indexed for ranking; one library a process.

learn (words are counted) -> indexed (compiled); both in a thread, so that no request is held up.
A page that was not read yet is known by its title and topics.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from judge.judging.pages.candidate_index import CandidateIndex, compile_candidates
from judge.judging.pages.page_records import PageContent, PageKey, PageRecord, SnippetRequest
from judge.judging.pages.page_terms import CandidatePage, PageTerms, count_terms
from judge.judging.sources import SourceCatalog
from judge.vocabulary.thesaurus import Thesaurus

ReadRecord = tuple[SnippetRequest, PageRecord, PageContent]


@dataclass(frozen=True, slots=True)
class LibraryPage:
    """A page as it is ranked, where it says it applies, and the digest of what was read.

    The digest is empty for a page that was not read.
    """

    terms: PageTerms
    nations: frozenset[str] = frozenset()
    is_withdrawn: bool = False
    digest: str = ""

    @property
    def is_read(self) -> bool:
        """Whether its text is known."""
        return bool(self.digest)


class UsablePages(NamedTuple):
    """The places of pages in an index: those whose text is known, in order, and the others."""

    read: Sequence[int]
    unread: Sequence[int]


@dataclass(frozen=True, slots=True)
class IndexedPages:
    """The pages of a catalogue as they were known at one moment, and the index over them."""

    catalog: SourceCatalog
    pages: tuple[tuple[SnippetRequest, LibraryPage], ...]
    by_key: Mapping[PageKey, tuple[SnippetRequest, LibraryPage]]
    index: CandidateIndex
    usable: dict[tuple[str, frozenset[str]], UsablePages] = field(default_factory=dict)
    """Which pages may be offered in a domain and some nations, once that was asked."""


class PageLibrary:
    """What is known of each approved page."""

    def __init__(self, thesaurus: Thesaurus) -> None:
        self._thesaurus = thesaurus
        self._pages: dict[PageKey, LibraryPage] = {}
        self._generation = 0
        self._indexed: tuple[str, int, IndexedPages] | None = None
        """For which catalogue and after which generation it was compiled, and the index."""
        self._indexing = asyncio.Lock()

    async def learn(self, read: Sequence[ReadRecord]) -> None:
        """Rank pages by what they say from now on."""
        self._pages |= await asyncio.to_thread(_count_all, read)
        self._generation += 1

    def page(self, request: SnippetRequest, lead: str = "") -> LibraryPage:
        """What is known of the page: of one that was not read its title, topics and *lead*."""
        return _as_configured(request, self._pages.get(request.key), lead)

    def holds(self, request: SnippetRequest, record: PageRecord) -> bool:
        """Whether the page is known as *record* has it."""
        page = self._pages.get(request.key)
        return page is not None and page.digest == record.digest

    async def indexed(self, catalog: SourceCatalog) -> IndexedPages:
        """All pages of *catalog* as they are known now; compiled once for all who ask.

        What is learned while somebody waits need not be in it, or while pages are read each who
        asks would wait for an index of his own.
        """
        wanted = self._generation
        async with self._indexing:
            digest, generation, indexed = self._indexed or ("", 0, None)
            if indexed is None or digest != catalog.digest or generation < wanted:
                generation, pages = self._generation, dict(self._pages)
                indexed = await asyncio.to_thread(self._compile, catalog, pages)
                self._indexed = catalog.digest, generation, indexed
            return indexed

    def compiled(self, pages: Sequence[LibraryPage]) -> CandidateIndex:
        """An index over these *pages* alone, for what was read just now."""
        return compile_candidates([page.terms for page in pages], self._thesaurus)

    def _compile(self, catalog: SourceCatalog, pages: dict[PageKey, LibraryPage]) -> IndexedPages:
        known = tuple(
            (request, _as_configured(request, pages.get(request.key)))
            for request in requests_of(catalog)
        )
        by_key = {request.key: (request, page) for request, page in known}
        return IndexedPages(catalog, known, by_key, self.compiled([page for _, page in known]))


def requests_of(catalog: SourceCatalog) -> list[SnippetRequest]:
    """A request for every page of *catalog*, in the order of the file."""
    return [
        SnippetRequest(domain.name, source, catalog.retrieval)
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
    """*page* under the title and topics that are configured now."""
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
