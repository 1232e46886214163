"""The work of `judge index remove`, `list` and `stats`."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

import click

from judge.bootstrap import Corpus, open_search
from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import counted, format_json, say, show_table
from judge.entrypoints.cli.plain_text import one_line
from judge.entrypoints.cli.terminal_journal import TerminalJournal
from judge.errors import NotFound
from judge.search.indexing.indexer import RemovalReport
from judge.search.service import NOTHING_INDEXED
from judge.settings import Settings
from judge.types.search import CollectionStats, IndexedDocument


class _VectorStats(TypedDict):
    embedder: str
    missing: int


def remove_documents(
    settings: Settings, collection: str, documents: Sequence[str], form: str
) -> int:
    """Remove *documents*, or all without any; the exit code is 1 if some were not there.

    Raises NotFound when there is no such collection.
    """
    report = asyncio.run(_remove(settings, collection, documents))
    for document_id in report.missing:
        say(f"{one_line(document_id)}: there is no such document in {one_line(collection)}.")
    removed = len(report.removed)
    if form == "json":
        click.echo(format_json({"removed": removed, "missing": report.missing}))
    else:
        click.echo(f"{counted(removed, 'document')} removed.")
    return FOUND_SOMETHING if report.missing else 0


def show_documents(settings: Settings, collection: str, form: str) -> None:
    """Print the documents of *collection*; raises NotFound when there is no such collection."""
    documents = asyncio.run(_documents(settings, collection))
    if form == "json":
        click.echo(format_json({"collection": collection, "documents": documents}))
        return
    rows = [(d.id, str(d.passages), _day(d.modified), d.path) for d in documents]
    show_table(("Document", "Passages", "Modified", "Path"), rows)
    say(f"{counted(len(documents), 'document')}.")


def show_stats(settings: Settings, form: str) -> None:
    """Print what each collection holds."""
    collections, vectors = asyncio.run(_stats(settings))
    if form == "json":
        more = {"vectors": vectors} if vectors else {}
        click.echo(format_json({"collections": collections, **more}))
        return
    if not collections:
        say(NOTHING_INDEXED)
    rows = [(c.name, str(c.documents), str(c.passages)) for c in collections]
    show_table(("Collection", "Documents", "Passages"), rows)
    if vectors:
        say(f"{counted(vectors['missing'], 'passage')} without a vector of {vectors['embedder']}.")


async def _remove(settings: Settings, collection: str, documents: Sequence[str]) -> RemovalReport:
    async with open_search(settings, TerminalJournal(is_verbose=False)) as corpus:
        await _check_collection(corpus, collection)
        return await corpus.indexer.remove(collection, documents or None)


async def _documents(settings: Settings, collection: str) -> tuple[IndexedDocument, ...]:
    async with open_search(settings, TerminalJournal(is_verbose=False)) as corpus:
        await _check_collection(corpus, collection)
        return await corpus.catalogue.documents(collection)


async def _stats(settings: Settings) -> tuple[tuple[CollectionStats, ...], _VectorStats | None]:
    async with open_search(settings, TerminalJournal(is_verbose=False)) as corpus:
        collections = await corpus.catalogue.collections()
        if corpus.vectors is None:
            return collections, None
        missing = await corpus.vectors.missing()
        return collections, {"embedder": corpus.vectors.name, "missing": missing}


async def _check_collection(corpus: Corpus, collection: str) -> None:
    names = [stats.name for stats in await corpus.catalogue.collections()]
    if collection.casefold() not in {name.casefold() for name in names}:
        there_are = f"There are: {', '.join(names)}." if names else NOTHING_INDEXED
        raise NotFound(f"There is no collection {collection!r}. {there_are}")


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else "-"
