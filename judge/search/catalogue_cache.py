"""Which collections, documents, folders and tags there are, remembered for a moment.

Asking the index at each search would take longer than the search.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from judge.ports import Catalogue, Clock, NameKind
from judge.types.search import fold_name

FILTER_KINDS: tuple[NameKind, ...] = get_args(NameKind)

AnyKind = NameKind | Literal["collection"]

FRESH_S = 1.0
"""Workers see new documents within so many seconds; an unknown name is looked up at once."""


class CatalogueCache:
    """The names in an index; both methods raise IndexUnavailable."""

    def __init__(self, catalogue: Catalogue, clock: Clock) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._cached: dict[AnyKind, tuple[Mapping[str, str], float]] = {}
        """The names by their small letters, and until when they are fresh."""

    async def has(self, kind: AnyKind, name: str) -> bool:
        """Whether there is a *kind* called *name*, case ignored."""
        key = fold_name(name)
        names, fresh_until = self._cached.get(kind, ({}, 0.0))
        is_fresh = self._clock.monotonic() < fresh_until
        return (is_fresh and key in names) or key in await self._ask(kind)

    async def all(self, kind: AnyKind) -> tuple[str, ...]:
        """The names as they were when one was looked up last."""
        names = self._cached[kind][0] if kind in self._cached else await self._ask(kind)
        return tuple(names.values())

    async def _ask(self, kind: AnyKind) -> Mapping[str, str]:
        if kind == "collection":
            names = tuple(stats.name for stats in await self._catalogue.collections())
        else:
            names = await self._catalogue.names(kind)
        by_folded = {fold_name(name): name for name in names}
        self._cached[kind] = (by_folded, self._clock.monotonic() + FRESH_S)
        return by_folded
