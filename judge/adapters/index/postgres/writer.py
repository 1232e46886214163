"""Writes to PostgreSQL in transactions: what is not committed is lost whole, and nothing else."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import sql
from psycopg.types.json import Jsonb

from judge.adapters.index.postgres.database import WRITE_S, Connection, Database, one
from judge.adapters.index.stored import PASSAGE, RECORD, embedded_text, searched_text
from judge.errors import ConfigurationError
from judge.ports import Embedder
from judge.text.ranking import passage_vector, terms_of
from judge.types.search import (
    DocumentWithPassages,
    Passage,
    ancestors,
    document_key,
    fold_name,
)

AVERAGE_TERMS = 200
"""Of a passage: about what the splitter makes."""

_PASSAGES = """
    COPY judge.passages (id, name, key, position, collection, document, folder, folders, tags,
    modified, stems, passage) FROM STDIN
"""


@dataclass(frozen=True, slots=True)
class PostgresStore:
    """See `WritableIndex`. Several may write at once; of one document the last version stays."""

    database: Database
    embedder: Embedder | None = None

    @asynccontextmanager
    async def writing(self) -> AsyncIterator["PostgresWriter"]:
        """See `WritableIndex.writing`."""
        async with self.database.connection(statement_s=WRITE_S) as connection:
            await self.database.migrate(connection)
            await connection.commit()
            try:
                yield PostgresWriter(connection, self.embedder)
            finally:
                await connection.rollback()


@dataclass(frozen=True, slots=True)
class PostgresWriter:
    """See `IndexWriter`: one connection in a transaction."""

    connection: Connection
    embedder: Embedder | None = None

    async def replace(self, documents: Sequence[DocumentWithPassages]) -> None:
        """See `IndexWriter.replace`; raises EmbedderUnavailable and ConfigurationError too."""
        passages = [passage for item in documents for passage in item.passages]
        if not passages:
            return
        vectors: list[list[float]] = []
        if self.embedder:
            vectors = await self.embedder.embed_passages([embedded_text(p) for p in passages])
        latest = {document_key(d.document.collection, d.document.id): d for d in documents}
        # In one order, so that two writers of the same documents wait and do not deadlock.
        await self.connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(key, 0)) FROM "
            "(SELECT unnest(%s::text[]) AS key ORDER BY 1) keys",
            [list(latest)],
        )
        await self.connection.execute(
            "DELETE FROM judge.documents WHERE key = ANY(%s)", [list(latest)]
        )
        await self._copy_documents(latest)
        ids = await self._copy_passages([p for item in latest.values() for p in item.passages])
        if vectors:
            chosen = {fold_name(p.id): vector for p, vector in zip(passages, vectors, strict=True)}
            await self._copy_vectors({number: chosen[name] for name, number in ids.items()})

    async def remove(self, collection: str, document_ids: Sequence[str] | None = None) -> None:
        """See `IndexWriter.remove`."""
        if document_ids is None:
            where, value = sql.SQL("collection = %s"), fold_name(collection)
            await self.connection.execute(
                sql.SQL("DELETE FROM judge.documents WHERE {}").format(where), [value]
            )
        else:
            keys = [document_key(collection, document_id) for document_id in document_ids]
            await self.connection.execute("DELETE FROM judge.documents WHERE key = ANY(%s)", [keys])

    async def commit(self) -> None:
        """See `IndexWriter.commit`."""
        await self.connection.commit()

    async def _copy_documents(self, documents: dict[str, DocumentWithPassages]) -> None:
        statement = "COPY judge.documents (key, collection, spelling, path, record) FROM STDIN"
        async with self.connection.cursor() as cursor, cursor.copy(statement) as copy:
            for key, item in documents.items():
                record = item.document
                body = Jsonb(RECORD.dump_python(record, mode="json"))
                name = fold_name(record.collection)
                await copy.write_row((key, name, record.collection, record.path, body))

    async def _copy_passages(self, passages: Sequence[Passage]) -> dict[str, int]:
        """Copy *passages* and their terms; their numbers by their names."""
        count = len(passages)
        cursor = await self.connection.execute(
            "SELECT nextval(pg_get_serial_sequence('judge.passages', 'id')) "
            "FROM generate_series(1, %s)",
            [count],
        )
        numbers = [number for (number,) in await cursor.fetchall()]
        terms = [terms_of(searched_text(passage)) for passage in passages]
        async with self.connection.cursor() as rows, rows.copy(_PASSAGES) as copy:
            for number, passage, stems in zip(numbers, passages, terms, strict=True):
                await copy.write_row((number, *_columns(passage, stems)))
        statement = "COPY judge.terms (term, passage, weight) FROM STDIN"
        async with self.connection.cursor() as rows, rows.copy(statement) as copy:
            for number, stems in zip(numbers, terms, strict=True):
                for term, weight in passage_vector(stems, AVERAGE_TERMS).items():
                    await copy.write_row((term, number, weight))
        return {fold_name(p.id): number for p, number in zip(passages, numbers, strict=True)}

    async def _copy_vectors(self, vectors: dict[int, list[float]]) -> None:
        """Copy *vectors*; raises ConfigurationError where pgvector is not installed."""
        (is_there,) = await one(
            self.connection, "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'"
        )
        if not is_there:
            raise ConfigurationError(
                "JUDGE_EMBEDDER is set, but this PostgreSQL has no pgvector: install it there, or "
                "set JUDGE_EMBEDDER=none to search the words alone."
            )
        await self.connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        await self.connection.execute("""
            CREATE TABLE IF NOT EXISTS judge.vectors (
                passage bigint REFERENCES judge.passages ON DELETE CASCADE,
                embedder text NOT NULL, vector vector NOT NULL, PRIMARY KEY (passage, embedder))
        """)
        name = self.embedder.name if self.embedder else ""
        statement = "COPY judge.vectors (passage, embedder, vector) FROM STDIN"
        async with self.connection.cursor() as rows, rows.copy(statement) as copy:
            for number, vector in vectors.items():
                await copy.write_row((number, name, str(vector)))


def _columns(passage: Passage, stems: list[str]) -> tuple[Any, ...]:
    """The row of *passage*, but for its number."""
    return (
        fold_name(passage.id),
        document_key(passage.collection, passage.document_id),
        passage.position,
        fold_name(passage.collection),
        fold_name(passage.document_id),
        fold_name(passage.folder),
        ancestors(passage.folder),
        [fold_name(tag) for tag in passage.tags],
        passage.modified,
        f" {' '.join(stems)} ",
        Jsonb(PASSAGE.dump_python(passage, mode="json")),
    )
