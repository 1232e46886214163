"""The story of a search, the same for every entry point.

mentions and filters -> scope -> do its collections exist? -> question -> index -> hint if empty
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from judge.errors import BadScope, InvalidRequest
from judge.ports import Catalogue, Clock, NameKind, SearchIndex
from judge.search.query import parse_query
from judge.search.scopes import (
    ParsedScope,
    check_size,
    join,
    nearest,
    read_context,
    read_query,
    scope_text,
)
from judge.search.visible_documents import FRESH_S, VisibleDocuments
from judge.types.search import (
    EVERYWHERE,
    Clause,
    Passage,
    Scope,
    ScopeKind,
    SearchQuery,
    SearchResults,
    Viewer,
    fold_name,
    mentioned,
)

MAX_QUERY = 1000
"""Characters that are looked for; a question of a judgement may have as many."""

MAX_RESULTS = 50
"""Passages in one answer, at every entrypoint."""

NOTHING_INDEXED = "Nothing is indexed yet. `judge index add PATH` does that."

MAX_HINTED = 5
"""Unknown names that a hint lists, and clauses that are left out in search of a wider scope."""


class EmptyQuery(InvalidRequest):
    """There is nothing to look for."""

    def __init__(self) -> None:
        super().__init__("Query cannot be empty")


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """What a caller wants: a query, in which mentions may stand, and where to look.

    `context` is nothing but mentions, `filters` a scope made otherwise. `default_collection` is
    where to look when there is no scope at all; it need not exist while nothing is indexed.
    """

    query: str
    context: str | None = None
    filters: Scope = EVERYWHERE
    default_collection: str | None = None
    limit: int = 10
    offset: int = 0


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """What came of it; `hint` tells why the answer is empty, and of unknown names.

    It is empty because of the scope, or because nothing is indexed.
    """

    question: SearchQuery
    scope: Scope
    results: SearchResults
    hint: str | None
    elapsed_ms: float


class DocumentSearch:
    """Searches the indexed documents with the given collaborators."""

    def __init__(self, index: SearchIndex, catalogue: Catalogue, clock: Clock) -> None:
        self.index = index
        self.catalogue = catalogue
        self._clock = clock
        self._fresh_until: dict[tuple[ScopeKind, str], float] = {}
        """Of names that were there; asking at each search would take as long as the search."""
        self._views: dict[Viewer, DocumentSearch] = {}

    def seen_by(self, viewer: Viewer) -> "DocumentSearch":
        """The same search over what *viewer* may see; one is kept for each name of a key."""
        if viewer.sees_all:
            return self
        if viewer not in self._views:
            documents = VisibleDocuments(self.index, self.catalogue, self._clock, viewer)
            self._views[viewer] = DocumentSearch(documents, documents, self._clock)
        return self._views[viewer]

    async def search(self, parameters: SearchParameters) -> SearchOutcome:
        """The relevant passages; raises EmptyQuery, BadScope and IndexUnavailable."""
        started = self._clock.monotonic()
        parsed = self._read(parameters)
        await self._check_collections(parsed.scope, optional=parameters.default_collection)
        question = parse_query(parsed.text[:MAX_QUERY])
        results = await self.index.search(
            question, parsed.scope, limit=parameters.limit, offset=parameters.offset
        )
        hint = await self._hint(question, parsed.scope, is_empty=not results.total)
        elapsed_ms = round((self._clock.monotonic() - started) * 1000, 3)
        return SearchOutcome(question, parsed.scope, results, hint, elapsed_ms)

    async def is_inside(self, passage: Passage, scope: Scope) -> bool:
        """Whether the document of *passage* is in *scope*; raises BadScope and IndexUnavailable."""
        await self._check_collections(scope)
        document = Scope(
            (
                Clause("collection", (passage.collection,)),
                Clause("document", (passage.document_id,)),
            )
        )
        return not scope.clauses or await self.catalogue.contains(join(document, scope))

    def _read(self, parameters: SearchParameters) -> ParsedScope:
        """The bare query with the whole scope."""
        now = self._clock.now()
        query = read_query(parameters.query, now)
        if not query.text.strip():
            raise EmptyQuery
        context = read_context(parameters.context or "", now)
        scope = join(context.scope, query.scope, parameters.filters)
        says_where = query.says_where or context.says_where or bool(scope.clauses)
        if parameters.default_collection and not says_where:
            scope = Scope((Clause("collection", (parameters.default_collection,)),))
        check_size(scope)
        return ParsedScope(query.text, scope, says_where)

    async def _check_collections(self, scope: Scope, *, optional: str | None = None) -> None:
        """Raise BadScope when *scope* names a collection that is not there.

        The *optional* one is not missed while there is none at all.
        """
        for name in _named(scope, "collection"):
            if await self._has("collection", name):
                continue
            valid = [stats.name for stats in await self.catalogue.collections()]
            if valid or name != optional:
                raise BadScope(_no_collection(name, valid), valid)

    async def _has(self, kind: ScopeKind, name: str) -> bool:
        """Whether there is a *kind* called *name*, case ignored; or was, within FRESH_S."""
        key, now = (kind, fold_name(name)), self._clock.monotonic()
        if now >= self._fresh_until.get(key, 0.0):
            if not await self.catalogue.contains(Scope((Clause(kind, (name,)),))):
                return False
            self._fresh_until[key] = now + FRESH_S
        return True

    async def _hint(self, question: SearchQuery, scope: Scope, *, is_empty: bool) -> str | None:
        unknown = [sentence async for sentence in self._unknown(scope)][:MAX_HINTED]
        if is_empty and not await self.catalogue.contains(EVERYWHERE):
            return NOTHING_INDEXED
        if not is_empty or not scope.clauses:
            return " ".join(unknown) or None
        wider = await self._wider(question, scope)
        return " ".join([*unknown, wider]).strip() or None

    async def _unknown(self, scope: Scope) -> AsyncIterator[str]:
        """A sentence for each name in *scope* that nothing has, the first MAX_HINTED of a kind."""
        for kind in get_args(NameKind):
            count = 0
            for name in _named(scope, kind):
                if name and count < MAX_HINTED and not await self._has(kind, name):
                    count += 1
                    # Of 57,000 names the nearest takes 0.4 s to find.
                    names = await self.catalogue.names(kind)
                    guess = await asyncio.to_thread(nearest, name, names)
                    meant = f" Did you mean {guess!r}?" if guess else ""
                    yield f"No {kind} is called {name!r}.{meant}"

    async def _wider(self, question: SearchQuery, scope: Scope) -> str:
        """Which wider scope finds something, if the scope is what emptied the answer."""
        for wider in _widenings(scope):
            total = (await self.index.search(question, wider, limit=1)).total
            if total:
                passages = "1 passage" if total == 1 else f"{total} passages"
                return (
                    f"Nothing in {scope_text(scope)} is relevant; {scope_text(wider)} has "
                    f"{passages}."
                )
        return ""


def _widenings(scope: Scope) -> Iterator[Scope]:
    """*scope* without one of its last clauses, the last first; then everywhere."""
    count = len(scope.clauses)
    if count > 1:
        for left_out in reversed(range(max(0, count - MAX_HINTED), count)):
            yield Scope(scope.clauses[:left_out] + scope.clauses[left_out + 1 :])
    yield Scope()


def _named(scope: Scope, kind: str) -> Iterator[str]:
    for clause in mentioned(scope):
        if clause.kind == kind:
            yield from clause.values


def _no_collection(name: str, valid: Sequence[str]) -> str:
    if not valid:
        return f"There is no collection {name!r}. {NOTHING_INDEXED}"
    guess = nearest(name, valid)
    return f"There is no collection {name!r}{f': did you mean {guess!r}?' if guess else '.'}"
