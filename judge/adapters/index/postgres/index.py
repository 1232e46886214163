"""The index for several machines in PostgreSQL: words by BM25, meaning by pgvector.

A search is one statement over the terms of the question; the scope is a condition of it, so that it
filters before anything is ranked. `writer.py` writes, `database.py` has the tables.
"""
# ruff: noqa: D102 - judge/ports.py says what each method does

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, LiteralString

from psycopg import sql
from psycopg.rows import TupleRow

from judge.adapters.index.postgres.database import WRITE_S, Connection, Database, rows
from judge.adapters.index.postgres.writer import PostgresWriter
from judge.adapters.index.stored import (
    PASSAGE,
    RECORD,
    TOP_HITS,
    fused,
    query_terms,
    query_vector,
    query_weights,
)
from judge.ports import Embedder, NameKind
from judge.text.index_tokens import PROOF, proof_counts, term_id, terms_of
from judge.types.search import (
    EVERYWHERE,
    AnyOf,
    Clause,
    CollectionStats,
    Hit,
    IndexedDocument,
    Passage,
    Scope,
    SearchQuery,
    SearchResults,
    fold_name,
)

_RANKED = """
    SELECT p.passage, best.score, best.total, best.proof
    FROM (
        SELECT hits.id, hits.score, count(*) OVER () AS total, max(hits.proof) OVER () AS proof
        FROM (
            SELECT t.passage AS id, sum(t.weight * q.weight) AS score, sum(q.proof) AS proof
            FROM judge.terms t
            JOIN unnest({}::bigint[], {}::float8[], {}::int[]) AS q (term, weight, proof)
                ON t.term = q.term
            GROUP BY t.passage
        ) hits
        {}
        ORDER BY hits.score DESC, hits.id
        LIMIT {} OFFSET {}
    ) best
    JOIN judge.passages p ON p.id = best.id
    ORDER BY best.score DESC, p.id
"""

_NAMES = {
    "document": sql.SQL("p.document"),
    "folder": sql.SQL("unnest(p.folders)"),
    "tag": sql.SQL("unnest(p.tags)"),
}


@dataclass(frozen=True, slots=True)
class PostgresIndex:
    """See `SearchIndex`, `Catalogue` and `WritableIndex`; without tables it is empty.

    Several may write at once; of one document the last version stays.
    """

    database: Database
    embedder: Embedder | None = None

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        if query.is_empty:
            return SearchResults()
        async with self.database.connection() as connection:
            if not await self.database.version(connection):
                return SearchResults()
            kept = await _embedders(connection)
        vector, warnings = await query_vector(self.embedder, query, kept)
        allowed = [
            *([_scope(scope)] if scope.clauses else []),
            *(_has_words(phrase) for phrase in query.phrases),
            *(_not(_has_words(words)) for words in query.excluded),
        ]
        async with self.database.connection() as connection:
            if vector is None:
                hits, total = await _by_words(connection, query, allowed, limit, offset)
                return SearchResults(hits, total, warnings)
            wanted = max(limit + offset, TOP_HITS)
            hits, total = await _by_words(connection, query, allowed, wanted, 0)
            near = await self._nearest(connection, _all(*allowed), vector)
        hits = fused(hits, near)
        return SearchResults(hits[offset : offset + limit], max(total, len(hits)), warnings)

    async def collections(self) -> tuple[CollectionStats, ...]:
        found = await self._rows("""
            SELECT max(d.spelling COLLATE "C"), count(*), sum((d.record->>'passages')::int)
            FROM judge.documents d GROUP BY d.collection ORDER BY d.collection COLLATE "C"
        """)
        return tuple(CollectionStats(*row) for row in found)

    async def documents(self, collection: str) -> tuple[IndexedDocument, ...]:
        found = await self._rows(
            'SELECT record FROM judge.documents WHERE collection = {} ORDER BY path COLLATE "C"',
            fold_name(collection),
        )
        return tuple(RECORD.validate_python(record) for (record,) in found)

    async def names(self, kind: NameKind, scope: Scope = EVERYWHERE) -> tuple[str, ...]:
        found = await self._rows(
            "SELECT DISTINCT {} FROM judge.passages p WHERE {}", _NAMES[kind], _scope(scope)
        )
        return tuple(sorted(name for (name,) in found))

    async def contains(self, scope: Scope) -> bool:
        statement = "SELECT 1 FROM judge.passages p WHERE {} LIMIT 1"
        return bool(await self._rows(statement, _scope(scope)))

    async def window(
        self, passage_id: str, *, before: int = 0, after: int = 0
    ) -> tuple[Passage, ...]:
        statement = """
            SELECT p.passage FROM judge.passages p
            JOIN judge.passages this ON this.name = {} AND p.key = this.key
            WHERE p.position BETWEEN this.position - {} AND this.position + {}
            ORDER BY p.position
        """
        found = await self._rows(statement, fold_name(passage_id), before, after)
        return tuple(PASSAGE.validate_python(passage) for (passage,) in found)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[PostgresWriter]:
        async with self.database.connection(statement_s=WRITE_S) as connection:
            await self.database.migrate(connection)
            await connection.commit()
            try:
                yield PostgresWriter(connection, self.embedder)
            finally:
                await connection.rollback()

    async def _rows(self, statement: LiteralString, *values: Any) -> list[TupleRow]:
        async with self.database.connection() as connection:
            has_tables = await self.database.version(connection)
            return await rows(connection, statement, *values) if has_tables else []

    async def _nearest(
        self, connection: Connection, allowed: sql.Composable, vector: Sequence[float]
    ) -> list[Passage]:
        """The passages whose vectors are nearest."""
        statement = """
            SELECT p.passage FROM judge.vectors v JOIN judge.passages p ON p.id = v.passage
            WHERE v.embedder = {} AND {} ORDER BY v.vector <=> {}::vector, p.id LIMIT {}
        """
        name = self.embedder.name if self.embedder else ""
        found = await rows(connection, statement, name, allowed, str(list(vector)), TOP_HITS)
        return [PASSAGE.validate_python(passage) for (passage,) in found]


async def _embedders(connection: Connection) -> list[str]:
    """The names of the embedders that have vectors in the index."""
    if not await rows(connection, "SELECT 1 WHERE to_regclass('judge.vectors') IS NOT NULL"):
        return []
    found = await rows(connection, "SELECT DISTINCT embedder FROM judge.vectors")
    return [name for (name,) in found]


async def _by_words(
    connection: Connection,
    query: SearchQuery,
    allowed: Sequence[sql.Composable],
    limit: int,
    offset: int,
) -> tuple[tuple[Hit, ...], int]:
    """The relevant passages by BM25, and how many there are."""
    terms = query_terms(query)
    total, frequencies = await _frequencies(connection, list(terms), query.idf_scope)
    proof = proof_counts(frequencies, total)
    if query.phrases:  # which the condition demands, and which prove enough
        proof = dict.fromkeys((term for term in terms if frequencies[term]), PROOF)
    if not proof:
        return (), 0
    weights = query_weights({term: terms[term] for term in proof}, frequencies, total)
    asked = list(weights), list(weights.values()), [proof[term] for term in proof]
    # Without a condition no row of a hit is read before the best are known.
    join = _sql("JOIN judge.passages p ON p.id = hits.id WHERE {}", _all(*allowed))
    within = join if allowed else sql.SQL("")
    found = await rows(connection, _RANKED, *asked, within, limit, offset)
    if not found and offset:  # behind the last: only their number is asked for
        return (), (await _by_words(connection, query, allowed, 1, 0))[1]
    if not found or found[0][3] < PROOF:
        return (), 0
    return tuple(Hit(PASSAGE.validate_python(row[0]), row[1]) for row in found), found[0][2]


async def _frequencies(
    connection: Connection, terms: list[str], scope: Scope
) -> tuple[int, dict[str, int]]:
    """The number of passages in *scope*, and in how many of them each of *terms* is."""
    within = _scope(scope)
    [(total,)] = await rows(connection, "SELECT count(*) FROM judge.passages p WHERE {}", within)
    statement = """
        SELECT t.term, count(*) FROM judge.terms t {} WHERE t.term = ANY({}::bigint[]) AND {}
        GROUP BY t.term
    """
    join = sql.SQL("JOIN judge.passages p ON p.id = t.passage" if scope.clauses else "")
    ids = {term: term_id(term) for term in terms}
    found = await rows(connection, statement, join, [*ids.values()], within)
    counts: dict[int, int] = dict(found)
    return total, {term: counts.get(ids[term], 0) for term in terms}


def _sql(text: LiteralString, *values: Any) -> sql.Composable:
    return sql.SQL(text).format(*values)


def _all(*conditions: sql.Composable) -> sql.Composable:
    return sql.SQL(" AND ").join([sql.SQL("TRUE"), *conditions])


def _not(condition: sql.Composable) -> sql.Composable:
    return _sql("NOT ({})", condition)


def _has_words(words: str) -> sql.Composable:
    """The passages with *words* in sequence, by stem; stems hold neither `%` nor `_`."""
    return _sql("p.stems LIKE {}", f"% {' '.join(terms_of(words))} %")


def _scope(scope: Scope) -> sql.Composable:
    """The passages in *scope*, as a condition on `judge.passages p`."""
    clauses = ((_clause(clause), clause.is_excluded) for clause in scope.clauses)
    return _all(*(_not(clause) if is_excluded else clause for clause, is_excluded in clauses))


def _clause(clause: Clause | AnyOf) -> sql.Composable:
    """The passages that fulfil *clause*, whether or not it is excluded."""
    if isinstance(clause, AnyOf):
        scopes = [_sql("({})", _scope(scope)) for scope in clause.scopes]
        return _sql("({})", sql.SQL(" OR ").join(scopes))
    if clause.kind == "modified":
        after, before = clause.after or "-infinity", clause.before or "infinity"
        return _sql("coalesce(p.modified >= {} AND p.modified < {}, FALSE)", after, before)
    values = [fold_name(value) for value in clause.values]
    if clause.kind == "tag":
        return _sql("p.tags && {}::text[]", values)
    if clause.kind != "folder":
        return _sql("p.{} = ANY({}::text[])", sql.Identifier(clause.kind), values)
    if not clause.is_recursive:
        return _sql("p.folder = ANY({}::text[])", values)
    return _sql("TRUE") if "" in values else _sql("p.folders && {}::text[]", values)
