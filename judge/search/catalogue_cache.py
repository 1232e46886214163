"""Which collections, documents, folders and tags there are, remembered for a moment.

Asking the index at each search would take longer than the search.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from judge.ports import Catalogue, Clock, NameKind

FILTER_KINDS: tuple[NameKind, ...] = get_args(NameKind)

AnyKind = NameKind | Literal["collection"]

FRESH_S = 1.0
"""Workers see new documents within so many seconds; an unknown name is looked up at once."""


@dataclass(frozen=True, slots=True)
class _CachedNames:
    by_folded: Mapping[str, str]
    fresh_until: float


class CatalogueCache:
    """The names in an index; both methods raise IndexUnavailable."""

    def __init__(self, catalogue: Catalogue, clock: Clock) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._cached: dict[AnyKind, _CachedNames] = {}

    async def has(self, kind: AnyKind, name: str) -> bool:
        """Whether there is a *kind* called *name*, case ignored."""
        folded = name.casefold()
        cached = self._cached.get(kind)
        if cached and self._clock.monotonic() < cached.fresh_until and folded in cached.by_folded:
            return True
        return folded in (await self._ask(kind)).by_folded

    async def all(self, kind: AnyKind) -> tuple[str, ...]:
        """The names as they were when one was looked up last."""
        cached = self._cached.get(kind) or await self._ask(kind)
        return tuple(cached.by_folded.values())

    async def _ask(self, kind: AnyKind) -> _CachedNames:
        if kind == "collection":
            names = tuple(stats.name for stats in await self._catalogue.collections())
        else:
            names = await self._catalogue.names(kind)
        by_folded = {name.casefold(): name for name in names}
        cached = _CachedNames(by_folded, self._clock.monotonic() + FRESH_S)
        self._cached[kind] = cached
        return cached
