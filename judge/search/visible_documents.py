"""The index as one viewer sees it: the shared collections and its own, and no trace of others.

Everything that a door shows of documents comes through here, so that no door can forget it.
"""

from dataclasses import replace

from judge.ports import Catalogue, Clock, NameKind, SearchIndex
from judge.search.scopes import join
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

FRESH_S = 1.0
"""For so many seconds it is not asked again what there is."""


class VisibleDocuments:
    """A SearchIndex and Catalogue of what *viewer* may see.

    The collections that may be searched are listed in every scope: one that is added meanwhile is
    not seen before it is known whose it is.
    """

    def __init__(
        self, index: SearchIndex, catalogue: Catalogue, clock: Clock, viewer: Viewer
    ) -> None:
        self._index = index
        self._catalogue = catalogue
        self._clock = clock
        self._viewer = viewer
        self._seen: Scope | None = None
        self._counted = EVERYWHERE
        self._fresh_until = 0.0

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        """See `SearchIndex.search`."""
        visible = await self._visible()
        if visible is None:
            return SearchResults()
        query = replace(query, counted=self._counted)
        return await self._index.search(query, join(visible, scope), limit=limit, offset=offset)

    async def around(
        self, passage_id: str, *, before: int = 0, after: int = 0
    ) -> tuple[Passage, ...]:
        """See `Catalogue.around`."""
        found = await self._catalogue.around(passage_id, before=before, after=after)
        seen = tuple(passage for passage in found if self._viewer.sees(passage.collection))
        is_there = any(fold_name(passage.id) == fold_name(passage_id) for passage in seen)
        return seen if is_there else ()

    async def ping(self) -> None:
        """See `Catalogue.ping`."""
        await self._catalogue.ping()

    async def collections(self) -> tuple[CollectionStats, ...]:
        """See `Catalogue.collections`."""
        found = await self._catalogue.collections()
        seen = tuple(stats for stats in found if self._viewer.sees(stats.name))
        names = tuple(stats.name for stats in seen)
        self._seen = Scope((Clause("collection", names),)) if names else None
        # Counting words in a scope takes longer, and is the same where all is visible.
        self._counted = self._seen if self._seen and len(seen) < len(found) else EVERYWHERE
        self._fresh_until = self._clock.monotonic() + FRESH_S
        return seen

    async def documents(self, collection: str) -> tuple[IndexedDocument, ...]:
        """See `Catalogue.documents`."""
        return await self._catalogue.documents(collection) if self._viewer.sees(collection) else ()

    async def names(self, kind: NameKind, scope: Scope = EVERYWHERE) -> tuple[str, ...]:
        """See `Catalogue.names`."""
        visible = await self._visible()
        return () if visible is None else await self._catalogue.names(kind, join(visible, scope))

    async def contains(self, scope: Scope) -> bool:
        """See `Catalogue.contains`."""
        visible = await self._visible()
        if visible and await self._catalogue.contains(join(visible, scope)):
            return True
        await self.collections()  # One of them may be new.
        return self._seen is not None and await self._catalogue.contains(join(self._seen, scope))

    async def _visible(self) -> Scope | None:
        """The scope of all that may be seen, as it was lately; None where nothing may."""
        if self._clock.monotonic() >= self._fresh_until:
            await self.collections()
        return self._seen
