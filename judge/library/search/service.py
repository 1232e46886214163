"""The steps of a search, the same for every entrypoint.

mentions and filters -> scope -> do its collections exist? -> query -> index -> hint if empty
"""
# ruff: noqa: D102 - judge/ports.py says what VisibleDocuments does

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from typing import get_args

from judge.errors import BadScope, InvalidRequest, MissingValue
from judge.library.scopes.grammar import extract_scope, read_context
from judge.library.scopes.scopes import (
    KINDS,
    PERIOD_FORMS,
    SearchFilters,
    all_of,
    check_size,
    nearest_name,
    scope_of,
    scope_text,
)
from judge.library.search.query import parse_query
from judge.ports import Catalogue, Clock, NameKind, SearchIndex
from judge.text.english import counted, words
from judge.types.references import CitablePassages, Snippet
from judge.types.search import (
    EVERYWHERE,
    Clause,
    CollectionStats,
    IndexedDocument,
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
"""Characters of a query that are searched; the question of a dispute may have as many."""

MAX_RESULTS = 50
"""Passages in one answer, at every entrypoint."""

NOTHING_INDEXED = "Nothing is indexed yet. `judge index add PATH` does that."

MAX_HINTED = 5
"""Unknown names listed in a hint."""

MAX_VALID = 50
"""Documents, folders or tags listed in an error; there may be thousands."""


class EmptyQuery(InvalidRequest):
    """There is nothing to look for."""

    field = "query"

    def __init__(self) -> None:
        super().__init__("Query cannot be empty")


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """A query, which may contain @mentions, and where to search.

    `context` holds only mentions; `filters` come from other fields. `default_collection` is
    searched when there is no scope at all; it need not exist while nothing is indexed.
    """

    query: str
    context: str | None = None
    filters: Scope | SearchFilters = EVERYWHERE
    default_collection: str | None = None
    limit: int = 10
    offset: int = 0


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The results, with the query and scope as parsed; `hint` tells why there are none."""

    query: SearchQuery
    scope: Scope
    results: SearchResults
    hint: str | None
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class DocumentSearch:
    """Searches the indexed documents."""

    index: SearchIndex
    catalogue: Catalogue
    _clock: Clock

    def visible_to(self, viewer: Viewer) -> "DocumentSearch":
        """The same search over what *viewer* may see."""
        if viewer.sees_all:
            return self
        documents = VisibleDocuments(self.index, self.catalogue, viewer)
        return DocumentSearch(documents, documents, self._clock)

    async def search(self, parameters: SearchParameters) -> SearchOutcome:
        """The relevant passages; raises EmptyQuery, BadScope and IndexUnavailable."""
        started = self._clock.monotonic()
        try:
            text, scope = self._parse(parameters)
        except MissingValue as missing:
            raise BadScope(str(missing), await self._valid_values(missing.kind)) from None
        await self._check_collections(scope, optional=parameters.default_collection)
        query = parse_query(text[:MAX_QUERY])
        results = await self.index.search(
            query, scope, limit=parameters.limit, offset=parameters.offset
        )
        hint = await self._hint(query, scope, is_empty=not results.total)
        elapsed_ms = round((self._clock.monotonic() - started) * 1000, 3)
        return SearchOutcome(query, scope, results, hint, elapsed_ms)

    async def is_inside(self, passage: Passage, scope: Scope) -> bool:
        """Whether the document of *passage* is in *scope*; raises BadScope and IndexUnavailable."""
        await self._check_collections(scope)
        collection = Clause("collection", (passage.collection,))
        document = Clause("document", (passage.document_id,))
        inside = all_of(Scope((collection, document)), scope)
        return not scope.clauses or await self.catalogue.contains(inside)

    def _parse(self, parameters: SearchParameters) -> tuple[str, Scope]:
        """The query without its mentions, and the combined scope."""
        now = self._clock.now()
        query = extract_scope(parameters.query, now)
        if not query.text.strip():
            raise EmptyQuery
        context = read_context(parameters.context or "", now)
        filters = parameters.filters
        filters = filters if isinstance(filters, Scope) else scope_of(filters)
        scope = all_of(context.scope, query.scope, filters)
        is_scoped = query.has_mentions or context.has_mentions or bool(scope.clauses)
        if parameters.default_collection and not is_scoped:
            scope = Scope((Clause("collection", (parameters.default_collection,)),))
        check_size(scope)
        return query.text, scope

    async def _check_collections(self, scope: Scope, *, optional: str | None = None) -> None:
        """Raise BadScope for a missing collection; *optional* may miss if all do."""
        for name in _names(scope, "collection"):
            if await self._exists("collection", name):
                continue
            valid = await self._valid_values("collection")
            if valid or name != optional:
                nearest = nearest_name(name, valid)
                told = f": did you mean {nearest!r}?" if nearest else "."
                told += "" if valid else f" {NOTHING_INDEXED}"
                raise BadScope(f"There is no collection {name!r}{told}", valid)

    async def _valid_values(self, kind: str) -> Sequence[str]:
        """The values allowed after `@kind:`; the kinds when there is no such kind."""
        match kind:
            case "collection":
                return [stats.name for stats in await self.catalogue.collections()]
            case "modified":
                return PERIOD_FORMS
            case "document" | "folder" | "tag":
                return [name for name in await self.catalogue.names(kind) if name][:MAX_VALID]
            case _:
                return KINDS

    async def _exists(self, kind: ScopeKind, name: str) -> bool:
        return await self.catalogue.contains(Scope((Clause(kind, (name,)),)))

    async def _hint(self, query: SearchQuery, scope: Scope, *, is_empty: bool) -> str | None:
        if is_empty and not await self.catalogue.contains(EVERYWHERE):
            return NOTHING_INDEXED
        told = await self._unknown_names(scope)
        if is_empty and scope.clauses:
            total = (await self.index.search(query, EVERYWHERE, limit=1)).total
            wider = f"{scope_text(EVERYWHERE)} has {counted(total, 'passage')}."
            told += [f"Nothing in {scope_text(scope)} is relevant; {wider}"] if total else []
        return " ".join(told) or None

    async def _unknown_names(self, scope: Scope) -> list[str]:
        """A sentence for each of the first unknown names in *scope*."""
        told: list[str] = []
        for kind in get_args(NameKind):
            for name in filter(None, _names(scope, kind)):
                if len(told) < MAX_HINTED and not await self._exists(kind, name):
                    # A thread, since finding the nearest of 57,000 names takes 0.4 s.
                    names = await self.catalogue.names(kind)
                    nearest = await asyncio.to_thread(nearest_name, name, names)
                    suggestion = f" Did you mean {nearest!r}?" if nearest else ""
                    told.append(f"No {kind} is called {name!r}.{suggestion}")
        return told


@dataclass(frozen=True, slots=True)
class CitablePassageFinder:
    """Finds passages for a dispute among the indexed documents."""

    _search: DocumentSearch
    _clock: Clock

    async def find(self, dispute: str, scope: str, limit: int) -> CitablePassages:
        """At most *limit* passages in *scope* about *dispute*.

        Raises BadScope, also when nothing at all is indexed, and IndexUnavailable.
        """
        if not await self._search.catalogue.contains(EVERYWHERE):
            raise BadScope("Nothing is indexed here, so a scope cannot be used. Leave it out.")
        # Only words, lest quotation marks, dashes and @ be read as search operators.
        query = " ".join(word.replace("'", " ") for word in words(dispute)) or "-"
        request = SearchParameters(query, context=scope, limit=limit)
        answer = await self._search.search(request)
        warnings = [*answer.results.warnings, *([answer.hint] if answer.hint else [])]
        if not answer.results.hits and not answer.hint:
            warnings.append("No passage of the indexed documents fits this dispute.")
        snippets = [
            Snippet(
                url=hit.passage.path,
                title=hit.passage.title,
                text=_without_headings(hit.passage),
                fetched_at=hit.passage.modified or self._clock.now(),
                kind="passage",
            )
            for hit in answer.results.hits
        ]
        return CitablePassages(tuple(snippets), tuple(warnings))


def _without_headings(passage: Passage) -> str:
    """The text below the first headings, which the title repeats; all of it if nothing follows."""
    if passage.language != "markdown":
        return passage.text
    lines = passage.text.splitlines()
    below = [*dropwhile(lambda line: not line.strip() or line.startswith("#"), lines)]
    return "\n".join(below or lines)


def _names(scope: Scope, kind: str) -> Iterator[str]:
    """The values of all clauses of *kind*, nested ones too."""
    for clause in mentioned(scope):
        if clause.kind == kind:
            yield from clause.values


@dataclass(frozen=True, slots=True)
class VisibleDocuments:
    """A SearchIndex and Catalogue of what *viewer* may see.

    Every scope lists the visible collections by name, so that one that was just added is not
    searched before its owner is known.
    """

    _index: SearchIndex
    _catalogue: Catalogue
    _viewer: Viewer

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        visible = await self._visible()
        if visible is None:
            return SearchResults()
        query = replace(query, idf_scope=visible)
        return await self._index.search(query, all_of(visible, scope), limit=limit, offset=offset)

    async def window(
        self, passage_id: str, *, before: int = 0, after: int = 0
    ) -> tuple[Passage, ...]:
        passages = await self._catalogue.window(passage_id, before=before, after=after)
        visible = tuple(passage for passage in passages if self._viewer.sees(passage.collection))
        is_there = any(fold_name(passage.id) == fold_name(passage_id) for passage in visible)
        return visible if is_there else ()

    async def collections(self) -> tuple[CollectionStats, ...]:
        collections = await self._catalogue.collections()
        return tuple(stats for stats in collections if self._viewer.sees(stats.name))

    async def documents(self, collection: str) -> tuple[IndexedDocument, ...]:
        return await self._catalogue.documents(collection) if self._viewer.sees(collection) else ()

    async def names(self, kind: NameKind, scope: Scope = EVERYWHERE) -> tuple[str, ...]:
        visible = await self._visible()
        return () if visible is None else await self._catalogue.names(kind, all_of(visible, scope))

    async def contains(self, scope: Scope) -> bool:
        visible = await self._visible()
        return visible is not None and await self._catalogue.contains(all_of(visible, scope))

    async def _visible(self) -> Scope | None:
        """The scope of all visible collections; None where there are none."""
        names = tuple(stats.name for stats in await self.collections())
        return Scope((Clause("collection", names),)) if names else None
