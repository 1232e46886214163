"""A simple, slow search index in memory."""

from collections.abc import Sequence
from contextlib import asynccontextmanager

from judge.errors import IndexUnavailable
from judge.types.search import (
    EVERYWHERE,
    CollectionStats,
    DocumentWithPassages,
    Hit,
    Scope,
    SearchQuery,
    SearchResults,
)
from tests.fakes.scope_oracle import holds


class FakeIndex:
    """A SearchIndex, Catalogue and WritableIndex; a passage is found by any word of the query.

    `calls` lists calls to the catalogue. With `is_down` nothing answers.
    """

    def __init__(self, *documents: DocumentWithPassages) -> None:
        self.documents_by_key = {_key(item): item for item in documents}
        self.calls: list[str] = []
        self.commits = 0
        self.is_down = False
        self.warnings: tuple[str, ...] = ()

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        self._expect_up()
        passages = [p for item in self.documents_by_key.values() for p in item.passages]
        found = [
            Hit(p, float(score))
            for p in passages
            if (score := sum(word in p.text.lower().split() for word in query.words))
            and holds(scope, p)
        ]
        found.sort(key=lambda hit: -hit.score)
        return SearchResults(tuple(found[offset : offset + limit]), len(found), self.warnings)

    async def window(self, passage_id: str, *, before: int = 0, after: int = 0):
        self._expect_up()
        document, _, position = passage_id.casefold().rpartition(":")
        ids = {f"{document}:{n}" for n in range(int(position) - before, int(position) + after + 1)}
        passages = [p for item in self.documents_by_key.values() for p in item.passages]
        return tuple(p for p in passages if p.id.casefold() in ids)

    async def collections(self) -> tuple[CollectionStats, ...]:
        self._note("collections")
        names = sorted({item.document.collection for item in self.documents_by_key.values()})
        return tuple(CollectionStats(name, 1, 1) for name in names)

    async def documents(self, collection: str):
        self._note("documents")
        return tuple(
            item.document
            for item in self.documents_by_key.values()
            if item.document.collection.casefold() == collection.casefold()
        )

    async def names(self, kind: str, scope: Scope = EVERYWHERE) -> tuple[str, ...]:
        self._note(kind)
        passages = [
            p for item in self.documents_by_key.values() for p in item.passages if holds(scope, p)
        ]
        if kind == "document":
            names = {p.document_id.casefold() for p in passages}
        elif kind == "tag":
            names = {tag.casefold() for p in passages for tag in p.tags}
        else:
            names = {p.folder.casefold() for p in passages if p.folder}
        return tuple(sorted(names))

    async def contains(self, scope: Scope) -> bool:
        self._note("contains")
        return any(
            holds(scope, p) for item in self.documents_by_key.values() for p in item.passages
        )

    @asynccontextmanager
    async def writing(self):
        self._expect_up()
        yield _Writer(self)

    def _note(self, what: str) -> None:
        self._expect_up()
        self.calls.append(what)

    def _expect_up(self) -> None:
        if self.is_down:
            raise IndexUnavailable("The index is down.")


class _Writer:
    """Buffers changes until they are committed."""

    def __init__(self, index: FakeIndex) -> None:
        self._index = index
        self._changed = dict(index.documents_by_key)

    async def replace(self, documents: Sequence[DocumentWithPassages]) -> None:
        self._changed |= {_key(item): item for item in documents}

    async def remove(self, collection: str, document_ids: Sequence[str] | None = None) -> None:
        for key in list(self._changed):
            ids = None if document_ids is None else [i.casefold() for i in document_ids]
            if key[0] == collection.casefold() and (ids is None or key[1] in ids):
                del self._changed[key]

    async def commit(self) -> None:
        self._index.documents_by_key = dict(self._changed)
        self._index.commits += 1


def _key(item: DocumentWithPassages) -> tuple[str, str]:
    return item.document.collection.casefold(), item.document.id.casefold()
