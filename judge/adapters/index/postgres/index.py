"""The index for several machines in PostgreSQL: words by BM25, meaning by pgvector.

A search is one statement over the terms of the question; the scope is a condition of it, so that it
filters before anything is ranked. `writer.py` writes, `database.py` has the tables.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from judge.adapters.index.postgres.database import Connection, Database, one
from judge.adapters.index.stored import PASSAGE, RECORD, UNUSED_VECTORS, WORDS_ONLY, fused
from judge.errors import EmbedderUnavailable
from judge.ports import Embedder, NameKind
from judge.text.ranking import PROOF, idf, proof_counts, query_term_weight, term_id, terms_of
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

CANDIDATES = 100
"""At least so many hits of each kind are fused by rank."""

_COLUMN = {"collection": "collection", "document": "document"}

_RANKED = """
    SELECT p.passage, best.score, best.total, best.proof
    FROM (
        SELECT p.id, hits.score, count(*) OVER () AS total, max(hits.proof) OVER () AS proof
        FROM (
            SELECT t.passage AS id, sum(t.weight * q.weight) AS score, sum(q.proof) AS proof
            FROM judge.terms t
            JOIN unnest(%s::bigint[], %s::float8[], %s::int[]) AS q (term, weight, proof)
                ON t.term = q.term
            GROUP BY t.passage
        ) hits
        JOIN judge.passages p ON p.id = hits.id
        WHERE {}
        ORDER BY hits.score DESC, p.id
        LIMIT %s OFFSET %s
    ) best
    JOIN judge.passages p ON p.id = best.id
    ORDER BY best.score DESC, p.id
"""

_NAMES = {
    "collection": "SELECT DISTINCT p.collection FROM judge.passages p WHERE {}",
    "document": "SELECT DISTINCT p.document FROM judge.passages p WHERE {}",
    "folder": "SELECT DISTINCT unnest(p.folders) FROM judge.passages p WHERE {}",
    "tag": "SELECT DISTINCT unnest(p.tags) FROM judge.passages p WHERE {}",
}


@dataclass(frozen=True, slots=True)
class PostgresIndex:
    """See `SearchIndex` and `Catalogue`; without tables it is empty."""

    database: Database
    embedder: Embedder | None = None

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        """See `SearchIndex.search`."""
        if query.is_empty:
            return SearchResults()
        vector, warnings = await self._query_vector(query)
        condition = Condition.of(scope).narrowed(query)
        async with self.database.connection() as connection:
            if not await self.database.version(connection):
                return SearchResults()
            if vector is None:
                hits, total = await _by_words(connection, query, condition, limit, offset)
                if self.embedder is None and (name := await _embedder_of(connection)):
                    warnings = (WORDS_ONLY.format(reason=UNUSED_VECTORS.format(name=name)),)
                return SearchResults(hits, total, warnings)
            wanted = max(limit + offset, CANDIDATES)
            hits, total = await _by_words(connection, query, condition, wanted, 0)
            near, reason = await self._nearest(connection, condition, vector)
        if reason:
            warnings = (WORDS_ONLY.format(reason=reason),)
        hits = fused(hits, near)
        return SearchResults(hits[offset : offset + limit], max(total, len(hits)), warnings)

    async def collections(self) -> tuple[CollectionStats, ...]:
        """See `Catalogue.collections`."""
        statement = """
            SELECT max(d.spelling COLLATE "C"), count(*), sum((d.record->>'passages')::int)
            FROM judge.documents d GROUP BY d.collection ORDER BY d.collection COLLATE "C"
        """
        rows = await self._rows(sql.SQL(statement))
        return tuple(CollectionStats(*row) for row in rows)

    async def documents(self, collection: str) -> tuple[IndexedDocument, ...]:
        """See `Catalogue.documents`."""
        statement = """
            SELECT record FROM judge.documents WHERE collection = %s ORDER BY path COLLATE "C"
        """
        rows = await self._rows(sql.SQL(statement), fold_name(collection))
        return tuple(RECORD.validate_python(record) for (record,) in rows)

    async def names(self, kind: NameKind, scope: Scope = EVERYWHERE) -> tuple[str, ...]:
        """See `Catalogue.names`."""
        condition = Condition.of(scope)
        rows = await self._rows(sql.SQL(_NAMES[kind]).format(condition.text), *condition.values)
        return tuple(sorted(name for (name,) in rows))

    async def contains(self, scope: Scope) -> bool:
        """See `Catalogue.contains`."""
        condition = Condition.of(scope)
        statement = sql.SQL("SELECT 1 FROM judge.passages p WHERE {} LIMIT 1")
        return bool(await self._rows(statement.format(condition.text), *condition.values))

    async def around(
        self, passage_id: str, *, before: int = 0, after: int = 0
    ) -> tuple[Passage, ...]:
        """See `Catalogue.around`."""
        statement = """
            SELECT p.passage FROM judge.passages p
            JOIN judge.passages this ON this.name = %s AND p.key = this.key
            WHERE p.position BETWEEN this.position - %s AND this.position + %s
            ORDER BY p.position
        """
        rows = await self._rows(sql.SQL(statement), fold_name(passage_id), before, after)
        return tuple(PASSAGE.validate_python(passage) for (passage,) in rows)

    async def ping(self) -> None:
        """See `Catalogue.ping`."""
        async with self.database.connection() as connection:
            await self.database.version(connection)

    async def _rows(self, statement: sql.SQL | sql.Composed, *values: Any) -> list[Any]:
        async with self.database.connection() as connection:
            if not await self.database.version(connection):
                return []
            cursor = await connection.execute(statement, values)
            return [*await cursor.fetchall()]

    async def _query_vector(self, query: SearchQuery) -> tuple[list[float] | None, tuple[str, ...]]:
        """The query's vector, or None and the warning that only the words are searched."""
        if self.embedder is None:
            return None, ()
        try:
            return await self.embedder.embed_query(query.text), ()
        except EmbedderUnavailable as error:
            return None, (WORDS_ONLY.format(reason=error),)

    async def _nearest(
        self, connection: Connection, condition: "Condition", vector: Sequence[float]
    ) -> tuple[list[Passage], str]:
        """The passages whose vectors are nearest, or why there are none."""
        name = self.embedder.name if self.embedder else ""
        lacking = f"the documents were indexed without vectors of {name}."
        if not await _embedder_of(connection):
            return [], lacking
        statement = sql.SQL("""
            SELECT p.passage FROM judge.vectors v JOIN judge.passages p ON p.id = v.passage
            WHERE v.embedder = %s AND {} ORDER BY v.vector <=> %s::vector, p.id LIMIT %s
        """).format(condition.text)
        values = (name, *condition.values, str(list(vector)), CANDIDATES)
        rows = await (await connection.execute(statement, values)).fetchall()
        if not rows:
            return [], lacking
        return [PASSAGE.validate_python(passage) for (passage,) in rows], ""


async def _embedder_of(connection: Connection) -> str:
    """The name of an embedder that has vectors in the index; empty without any."""
    (has_table,) = await one(connection, "SELECT to_regclass('judge.vectors') IS NOT NULL")
    if not has_table:
        return ""
    (name,) = await one(connection, "SELECT coalesce(max(embedder), '') FROM judge.vectors")
    return str(name)


async def _by_words(
    connection: Connection, query: SearchQuery, condition: "Condition", limit: int, offset: int
) -> tuple[tuple[Hit, ...], int]:
    """The relevant passages by BM25, and how many there are."""
    counts = Counter(terms_of(" ".join(query.words + query.phrases)))
    total, frequencies = await _frequencies(connection, list(counts), query.idf_scope)
    proof = proof_counts(frequencies, total)
    if query.phrases:  # which the condition demands, and which prove enough
        proof = dict.fromkeys((term for term in counts if frequencies[term]), PROOF)
    if not proof:
        return (), 0
    weights = [query_term_weight(counts[t]) * idf(frequencies[t], max(total, 1)) for t in proof]
    question = [list(map(term_id, proof)), weights, list(proof.values())]
    statement = sql.SQL(_RANKED).format(condition.text)
    values = (*question, *condition.values)
    rows = await (await connection.execute(statement, (*values, limit, offset))).fetchall()
    if not rows and offset:  # behind the last: only their number is asked for
        rows = await (await connection.execute(statement, (*values, 1, 0))).fetchall()
        return (), rows[0][2] if rows and rows[0][3] >= PROOF else 0
    if not rows or rows[0][3] < PROOF:
        return (), 0
    return tuple(Hit(PASSAGE.validate_python(row[0]), row[1]) for row in rows), rows[0][2]


async def _frequencies(
    connection: Connection, terms: list[str], scope: Scope
) -> tuple[int, dict[str, int]]:
    """The number of passages in *scope*, and in how many of them each of *terms* is."""
    condition = Condition.of(scope)
    counting = sql.SQL("SELECT count(*) FROM judge.passages p WHERE {}").format(condition.text)
    cursor = await connection.execute(counting, condition.values)
    [(total,)] = await cursor.fetchall()
    statement = sql.SQL("""
        SELECT t.term, count(*) FROM judge.terms t {} WHERE t.term = ANY(%s) AND {} GROUP BY t.term
    """).format(
        sql.SQL("JOIN judge.passages p ON p.id = t.passage" if scope.clauses else ""),
        condition.text,
    )
    ids = {term_id(term): term for term in terms}
    cursor = await connection.execute(statement, (list(ids), *condition.values))
    found = {ids[term]: count for term, count in await cursor.fetchall()}
    return total, {term: found.get(term, 0) for term in terms}


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on `judge.passages p`, with the values of its placeholders."""

    text: sql.Composable
    values: tuple[Any, ...] = ()

    @classmethod
    def of(cls, scope: Scope) -> "Condition":
        """The passages in *scope*."""
        return _all([_clause(clause) for clause in scope.clauses])

    def narrowed(self, query: SearchQuery) -> "Condition":
        """Those with every phrase of *query*, and with none of its excluded words."""
        phrases = [_has(phrase) for phrase in query.phrases]
        return _all([self, *phrases, *(_not(_has(words)) for words in query.excluded)])


def _has(words: str) -> Condition:
    """The passages with *words* in sequence, by stem; stems hold neither `%` nor `_`."""
    return Condition(sql.SQL("p.stems LIKE %s"), (f"% {' '.join(terms_of(words))} %",))


def _all(conditions: Sequence[Condition]) -> Condition:
    return _joined(conditions, " AND ") if conditions else Condition(sql.SQL("TRUE"))


def _joined(conditions: Sequence[Condition], word: str) -> Condition:
    text = sql.SQL(" AND " if word == " AND " else " OR ").join(c.text for c in conditions)
    return Condition(
        sql.SQL("({})").format(text), tuple(value for c in conditions for value in c.values)
    )


def _not(condition: Condition) -> Condition:
    return Condition(sql.SQL("NOT {}").format(condition.text), condition.values)


def _clause(clause: Clause | AnyOf) -> Condition:
    """The passages that *clause* lets through."""
    if isinstance(clause, AnyOf):
        inner = _joined([Condition.of(scope) for scope in clause.scopes], " OR ")
    elif clause.kind == "modified":
        bounds = [
            Condition(sql.SQL(f"coalesce(p.modified {sign} %s, FALSE)"), (moment,))
            for sign, moment in ((">=", clause.after), ("<", clause.before))
            if moment is not None
        ]
        known = Condition(sql.SQL("p.modified IS NOT NULL"))
        inner = _all([known, *bounds])
    else:
        inner = _named(clause)
    return _not(inner) if clause.is_excluded else inner


def _named(clause: Clause) -> Condition:
    values = [fold_name(value) for value in clause.values]
    if clause.kind == "tag":
        return Condition(sql.SQL("p.tags && %s"), (values,))
    if clause.kind != "folder":
        column = sql.Identifier(_COLUMN[clause.kind])
        return Condition(sql.SQL("p.{} = ANY(%s)").format(column), (values,))
    if not clause.is_recursive:
        return Condition(sql.SQL("p.folder = ANY(%s)"), (values,))
    below = Condition(sql.SQL("p.folders && %s"), (values,))
    return Condition(sql.SQL("TRUE")) if "" in values else below
