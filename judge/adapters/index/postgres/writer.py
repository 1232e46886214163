"""Writes to PostgreSQL in transactions: what is not committed is lost whole, and nothing else."""
# ruff: noqa: D102 - judge/ports.py says what each method does

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

from psycopg.types.json import Jsonb

from judge.adapters.index.postgres.database import Connection, rows
from judge.adapters.index.stored import PASSAGE, RECORD, embedded_text, passage_terms
from judge.errors import ConfigurationError
from judge.ports import Embedder
from judge.text.index_tokens import passage_vector
from judge.types.search import DocumentWithPassages, Passage, ancestors, document_key, fold_name

_DOCUMENTS = "COPY judge.documents (key, collection, spelling, path, record) FROM STDIN"
_PASSAGES = """
    COPY judge.passages (id, name, key, position, collection, document, folder, folders, tags,
    modified, stems, passage) FROM STDIN
"""
_TERMS = "COPY judge.terms (term, passage, weight) FROM STDIN"
_VECTORS = "COPY judge.vectors (passage, embedder, vector) FROM STDIN"


@dataclass(frozen=True, slots=True)
class PostgresWriter:
    """See `IndexWriter`: one connection in a transaction."""

    connection: Connection
    embedder: Embedder | None = None

    async def replace(self, documents: Sequence[DocumentWithPassages]) -> None:
        """See `IndexWriter.replace`; raises EmbedderUnavailable and ConfigurationError too."""
        latest = {document_key(d.document.collection, d.document.id): d for d in documents}
        passages = [passage for item in latest.values() for passage in item.passages]
        if not passages:
            return
        vectors: list[list[float]] = []
        if self.embedder:
            vectors = await self.embedder.embed_passages([embedded_text(p) for p in passages])
        # In one order, so that two writers of the same documents wait and do not deadlock.
        await rows(
            self.connection,
            "SELECT pg_advisory_xact_lock(hashtextextended(key, 0)) FROM "
            "(SELECT unnest({}::text[]) AS key ORDER BY 1) keys",
            [*latest],
        )
        await self._delete([*latest])
        await self._copy(_DOCUMENTS, (_document_row(*pair) for pair in latest.items()))
        numbers = await rows(
            self.connection,
            "SELECT nextval(pg_get_serial_sequence('judge.passages', 'id')) "
            "FROM generate_series(1, {})",
            len(passages),
        )
        numbered = [(n, p, passage_terms(p)) for (n,), p in zip(numbers, passages, strict=True)]
        average = await self._average_terms([len(terms) for _, _, terms in numbered])
        await self._copy(_PASSAGES, (_passage_row(*each) for each in numbered))
        await self._copy(
            _TERMS,
            (
                (term, number, weight)
                for number, _, terms in numbered
                for term, weight in passage_vector(terms, average).items()
            ),
        )
        if self.embedder:
            await self._prepare_vectors()
            pairs = zip(numbers, vectors, strict=True)
            name = self.embedder.name
            await self._copy(_VECTORS, ((number, name, str(v)) for (number,), v in pairs))

    async def _average_terms(self, lengths: Sequence[int]) -> float:
        """The average number of terms in a passage: *lengths*, and a sample of what is there."""
        [(count, total)] = await rows(
            self.connection,
            "SELECT count(*), coalesce(sum(cardinality(string_to_array(btrim(stems), ' '))), 0) "
            "FROM (SELECT stems FROM judge.passages LIMIT 1000) AS sample",
        )
        return float((total + sum(lengths)) / (count + len(lengths)))

    async def remove(self, collection: str, document_ids: Sequence[str] | None = None) -> None:
        if document_ids is None:
            await rows(
                self.connection,
                "DELETE FROM judge.documents WHERE collection = {}",
                fold_name(collection),
            )
        else:
            await self._delete([document_key(collection, name) for name in document_ids])

    async def commit(self) -> None:
        await self.connection.commit()

    async def _delete(self, keys: list[str]) -> None:
        statement = "DELETE FROM judge.documents WHERE key = ANY({}::text[])"
        await rows(self.connection, statement, keys)

    async def _copy(self, statement: LiteralString, values: Iterable[tuple[Any, ...]]) -> None:
        async with self.connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in values:
                await copy.write_row(row)

    async def _prepare_vectors(self) -> None:
        """Create the table of vectors; raises ConfigurationError where there is no pgvector."""
        if not await rows(
            self.connection, "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
        ):
            raise ConfigurationError(
                "JUDGE_EMBEDDER is set, but this PostgreSQL has no pgvector: install it there, or "
                "set JUDGE_EMBEDDER=none to search the words alone."
            )
        await rows(self.connection, "CREATE EXTENSION IF NOT EXISTS vector")
        await rows(
            self.connection,
            """
            CREATE TABLE IF NOT EXISTS judge.vectors (
                passage bigint REFERENCES judge.passages ON DELETE CASCADE,
                embedder text NOT NULL, vector vector NOT NULL, PRIMARY KEY (passage, embedder))
            """,
        )


def _document_row(key: str, item: DocumentWithPassages) -> tuple[Any, ...]:
    record = item.document
    body = Jsonb(RECORD.dump_python(record, mode="json"))
    return key, fold_name(record.collection), record.collection, record.path, body


def _passage_row(number: int, passage: Passage, terms: list[str]) -> tuple[Any, ...]:
    return (
        number,
        fold_name(passage.id),
        document_key(passage.collection, passage.document_id),
        passage.position,
        fold_name(passage.collection),
        fold_name(passage.document_id),
        fold_name(passage.folder),
        ancestors(passage.folder),
        [fold_name(tag) for tag in passage.tags],
        passage.modified,
        f" {' '.join(terms)} ",
        Jsonb(PASSAGE.dump_python(passage, mode="json")),
    )
