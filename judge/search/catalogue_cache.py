"""Which collections, documents, folders and tags there are, remembered for a moment.

Asking the index at each search would take longer than the search.
"""

from typing import Literal

from judge.ports import Catalogue, Clock, NameKind
from judge.types.search import Clause, Scope, fold_name

AnyKind = NameKind | Literal["collection"]

FRESH_S = 1.0
"""Workers miss documents that are gone within so many seconds; new ones are seen at once."""


class CatalogueCache:
    """The names in an index; both methods raise IndexUnavailable."""

    def __init__(self, catalogue: Catalogue, clock: Clock) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._fresh_until: dict[tuple[AnyKind, str], float] = {}
        """Of names that were there."""

    async def has(self, kind: AnyKind, name: str) -> bool:
        """Whether there is a *kind* called *name*, case ignored."""
        key = (kind, fold_name(name))
        if self._clock.monotonic() < self._fresh_until.get(key, 0.0):
            return True
        is_there = await self._catalogue.contains(Scope((Clause(kind, (name,)),)))
        if is_there:
            self._fresh_until[key] = self._clock.monotonic() + FRESH_S
        return is_there

    async def all(self, kind: AnyKind) -> tuple[str, ...]:
        """All there are now."""
        if kind == "collection":
            return tuple(stats.name for stats in await self._catalogue.collections())
        return await self._catalogue.names(kind)
