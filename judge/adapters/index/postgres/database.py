"""The connections to PostgreSQL, the tables, and how their errors are told."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, LiteralString

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from judge.errors import IndexUnavailable, InvalidAddress

Connection = AsyncConnection[TupleRow]

CONNECT_S = 3
"""To connect to one address; the next of several is tried after it."""

WAIT_S = 5
"""For a connection of the pool, and for a search: longer is no answer to a person."""

WRITE_S = 600
"""For one statement of a writer, such as the removal of a large collection."""

MAX_CONNECTIONS = 8
"""Of one process; PostgreSQL takes 100 in all unless it is told otherwise."""

_LOCK = 0x6A75646765
"""The advisory lock of whoever changes the tables: "judge" in ASCII."""

MIGRATIONS = ("version_1.sql",)
"""What each version of the tables adds to the one before; the first is version 1.

`terms` has the BM25 weight of each term of a passage, but for its IDF, which comes with the query.
`passages` holds the texts apart, since whoever counts hits in a scope reads only the rest of a row.
A trigger keeps `terms` in step: to check a foreign key for each term was half the time of indexing.
"""


@dataclass(frozen=True, slots=True)
class Database:
    """A pool of connections, which connects at first use; *address* names it in messages."""

    pool: AsyncConnectionPool[Connection] = field(repr=False)
    address: str

    @asynccontextmanager
    async def connection(self, *, statement_s: int = WAIT_S) -> AsyncIterator[Connection]:
        """A connection in a transaction, committed at the end; raises IndexUnavailable."""
        try:
            await self.pool.open()
            async with self.pool.connection() as connection:
                await rows(connection, "SET statement_timeout = {}", f"{statement_s}s")
                yield connection
        except psycopg.errors.DeadlockDetected as error:
            raise IndexUnavailable(
                "Another writer changed the same documents at the same time. Run it again."
            ) from error
        except (psycopg.Error, PoolTimeout) as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            raise IndexUnavailable(f"PostgreSQL at {self.address}: {reason[0]}") from error

    async def version(self, connection: Connection) -> int:
        """The version of the tables; 0 without any. Raises IndexUnavailable for a newer one."""
        # A query and not to_regclass, which may not see yet what another session has just made.
        if not await rows(
            connection,
            "SELECT 1 FROM pg_tables WHERE schemaname = 'judge' AND tablename = 'version'",
        ):
            return 0
        [(version,)] = await rows(connection, "SELECT number FROM judge.version")
        if version > len(MIGRATIONS):
            raise IndexUnavailable(
                f"The index in PostgreSQL at {self.address} was made by a newer version of Judge. "
                "Update this one."
            )
        return int(version)

    async def migrate(self, connection: Connection) -> None:
        """Create or update the tables; whoever comes second waits and finds it done."""
        if await self.version(connection) == len(MIGRATIONS):
            return
        await rows(connection, "SELECT pg_advisory_xact_lock({})", _LOCK)
        version = await self.version(connection)
        if not version:
            await rows(connection, "CREATE SCHEMA IF NOT EXISTS judge")
            await rows(connection, "CREATE TABLE judge.version (number int NOT NULL)")
            await rows(connection, "INSERT INTO judge.version VALUES (0)")
        for name in MIGRATIONS[version:]:
            await rows(connection, files(__package__).joinpath(name).read_text("utf-8"))
        await rows(connection, "UPDATE judge.version SET number = {}", len(MIGRATIONS))

    async def aclose(self) -> None:
        """Close all connections."""
        await self.pool.close()


def open_database(url: str) -> Database:
    """The database at *url*; raises InvalidAddress, whose message does not repeat it.

    *url* may have several hosts, of which libpq takes the first that allows writing.
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        raise InvalidAddress(
            "JUDGE_DATABASE_URL is no address. Write it as in postgresql://judge@db.internal/judge."
        ) from None
    pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
        url,
        min_size=0,
        max_size=MAX_CONNECTIONS,
        open=False,
        timeout=WAIT_S,
        max_idle=60,
        reconnect_timeout=CONNECT_S,
        # A connection that a restart of the server broke is replaced, not used.
        check=AsyncConnectionPool.check_connection,
        kwargs={"connect_timeout": CONNECT_S, "application_name": "judge"},
    )
    return Database(pool, f"{parts.get('host') or 'localhost'}/{parts.get('dbname') or ''}")


async def rows(connection: Connection, statement: LiteralString, *values: Any) -> list[TupleRow]:
    """The rows of *statement*, in which each `{}` stands for one of *values*, quoted."""
    cursor = await connection.execute(sql.SQL(statement).format(*values))
    return await cursor.fetchall() if cursor.description else []
