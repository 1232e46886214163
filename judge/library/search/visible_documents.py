"""The index as one viewer sees it: the shared collections and its own, and no trace of others.

Every entrypoint reads documents through here, so that none can forget to check the viewer.
"""

from dataclasses import replace

from judge.library.scopes.scopes import all_of
from judge.ports import Catalogue, Clock, NameKind, SearchIndex
from judge.types.search import (
    EVERYWHERE,
    Clause,
    CollectionStats,
    IndexedDocument,
    Passage,
    Scope,
    SearchQuery,
    SearchResults,
    Viewer,
    fold_name,
)

CATALOGUE_TTL_S = 1.0
"""Seconds for which the collections, and the names known to exist, are cached."""


class VisibleDocuments:
    """A SearchIndex and Catalogue of what *viewer* may see.

    Every scope lists the visible collections by name, so that one that was just added is not
    searched before its owner is known.
    """

    def __init__(
        self, index: SearchIndex, catalogue: Catalogue, clock: Clock, viewer: Viewer
    ) -> None:
        self._index = index
        self._catalogue = catalogue
        self._clock = clock
        self._viewer = viewer
        self._visible_scope: Scope | None = None
        self._idf_scope = EVERYWHERE
        self._fresh_until = 0.0

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        """See `SearchIndex.search`."""
        visible = await self._visible()
        if visible is None:
            return SearchResults()
        query = replace(query, idf_scope=self._idf_scope)
        return await self._index.search(query, all_of(visible, scope), limit=limit, offset=offset)

    async def around(
        self, passage_id: str, *, before: int = 0, after: int = 0
    ) -> tuple[Passage, ...]:
        """See `Catalogue.around`."""
        passages = await self._catalogue.around(passage_id, before=before, after=after)
        visible = tuple(passage for passage in passages if self._viewer.sees(passage.collection))
        is_there = any(fold_name(passage.id) == fold_name(passage_id) for passage in visible)
        return visible if is_there else ()

    async def ping(self) -> None:
        """See `Catalogue.ping`."""
        await self._catalogue.ping()

    async def collections(self) -> tuple[CollectionStats, ...]:
        """See `Catalogue.collections`."""
        collections = await self._catalogue.collections()
        visible = tuple(stats for stats in collections if self._viewer.sees(stats.name))
        names = tuple(stats.name for stats in visible)
        self._visible_scope = scope = Scope((Clause("collection", names),)) if names else None
        # Document frequencies take longer to count in a scope, and are the same if all is visible.
        self._idf_scope = scope if scope and len(visible) < len(collections) else EVERYWHERE
        self._fresh_until = self._clock.monotonic() + CATALOGUE_TTL_S
        return visible

    async def documents(self, collection: str) -> tuple[IndexedDocument, ...]:
        """See `Catalogue.documents`."""
        return await self._catalogue.documents(collection) if self._viewer.sees(collection) else ()

    async def names(self, kind: NameKind, scope: Scope = EVERYWHERE) -> tuple[str, ...]:
        """See `Catalogue.names`."""
        visible = await self._visible()
        return () if visible is None else await self._catalogue.names(kind, all_of(visible, scope))

    async def contains(self, scope: Scope) -> bool:
        """See `Catalogue.contains`."""
        visible = await self._visible()
        if visible and await self._catalogue.contains(all_of(visible, scope)):
            return True
        await self.collections()  # A collection may be new.
        visible = self._visible_scope
        return visible is not None and await self._catalogue.contains(all_of(visible, scope))

    async def _visible(self) -> Scope | None:
        """The scope of all visible collections, cached; None where there are none."""
        if self._clock.monotonic() >= self._fresh_until:
            await self.collections()
        return self._visible_scope
