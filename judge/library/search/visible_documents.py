"""The index as one viewer sees it: the shared collections and its own, and no trace of others.

Every entrypoint reads documents through here, so that none can forget to check the viewer.
"""

from dataclasses import replace

from judge.library.scopes.scopes import all_of
from judge.ports import Catalogue, NameKind, SearchIndex
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


class VisibleDocuments:
    """A SearchIndex and Catalogue of what *viewer* may see.

    Every scope lists the visible collections by name, so that one that was just added is not
    searched before its owner is known.
    """

    def __init__(self, index: SearchIndex, catalogue: Catalogue, viewer: Viewer) -> None:
        self._index = index
        self._catalogue = catalogue
        self._viewer = viewer

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        """See `SearchIndex.search`."""
        visible = await self._visible()
        if visible is None:
            return SearchResults()
        query = replace(query, idf_scope=visible)
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
        return tuple(stats for stats in collections if self._viewer.sees(stats.name))

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
        return visible is not None and await self._catalogue.contains(all_of(visible, scope))

    async def _visible(self) -> Scope | None:
        """The scope of all visible collections; None where there are none."""
        names = tuple(stats.name for stats in await self.collections())
        return Scope((Clause("collection", names),)) if names else None
