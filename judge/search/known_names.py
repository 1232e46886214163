"""Which collections, documents, folders and tags there are, remembered for a moment.

Asking the index at each search would take longer than the search.
"""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal

from judge.ports import Catalogue, Clock

NameKind = Literal["collection", "document", "folder", "tag"]
NAMED_KINDS: tuple[Literal["document", "folder", "tag"], ...] = ("document", "folder", "tag")

FRESH_S = 1.0
"""Workers see new documents within so many seconds; a name that is not known is asked at once."""


@dataclass(frozen=True, slots=True)
class _Known:
    names: tuple[str, ...]
    folded: tuple[str, ...]
    """Sorted, for looking up."""
    until: float

    def has(self, folded: str) -> bool:
        at = bisect_left(self.folded, folded)
        return at < len(self.folded) and self.folded[at] == folded


class KnownNames:
    """The names in an index; both methods raise IndexUnavailable."""

    def __init__(self, catalogue: Catalogue, clock: Clock) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._known: dict[NameKind, _Known] = {}

    async def has(self, kind: NameKind, name: str) -> bool:
        """Whether there is a *kind* called *name*, case ignored."""
        folded = name.casefold()
        known = self._known.get(kind)
        if known and self._clock.monotonic() < known.until and known.has(folded):
            return True
        return (await self._ask(kind)).has(folded)

    async def all(self, kind: NameKind) -> tuple[str, ...]:
        """The names as told when one was asked for last."""
        known = self._known.get(kind) or await self._ask(kind)
        return known.names

    async def _ask(self, kind: NameKind) -> _Known:
        if kind == "collection":
            names = tuple(stats.name for stats in await self._catalogue.collections())
        else:
            names = await self._catalogue.names(kind)
        folded = tuple(sorted(name.casefold() for name in names))
        known = _Known(names, folded, self._clock.monotonic() + FRESH_S)
        self._known[kind] = known
        return known
