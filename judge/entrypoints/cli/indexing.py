"""The work of `judge index`: run the indexer and print a report."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

import click

from judge.bootstrap.corpus import Corpus, open_search
from judge.entrypoints.cli.options import FOUND_SOMETHING, require_text
from judge.entrypoints.cli.output import format_table, progress_bar, say, show
from judge.entrypoints.cli.plain_text import one_line
from judge.errors import NotFound
from judge.library.indexing.indexer import IndexingReport
from judge.library.indexing.plan import IndexingOptions
from judge.library.search.service import NOTHING_INDEXED
from judge.ports import Journal
from judge.settings import load_settings
from judge.text.english import counted
from judge.types.search import fold_name


async def add_documents(
    journal: Journal,
    *,
    places: Sequence[str],
    collection: str | None,
    tags: Sequence[str],
    form: str,
    **other_options: Any,
) -> int:
    """Add the documents at *places*, with *other_options* of IndexingOptions; the exit code."""
    settings = load_settings()
    options = IndexingOptions(
        collection=settings.collection if collection is None else collection,
        tags=tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip())),
        **other_options,
    )
    require_text(
        options.collection, *options.tags, options.folder, options.document_id, options.title
    )
    async with open_search(settings, journal) as corpus:
        report = await corpus.indexer.add(places, options, progress_bar)
    for problem in report.problems:
        say(one_line(f"{problem.path}: {problem.reason}"))
    show(form, report, [_summary(report)])
    return FOUND_SOMETHING if report.problems else 0


def _summary(report: IndexingReport) -> str:
    counts = asdict(report) | {"problems": len(report.problems)}
    told = (
        f"{count} {name.removesuffix('s') if count == 1 else name}"
        for name, count in counts.items()
        if (count or name == "added") and name != "elapsed_s"
    )
    return f"{', '.join(told)} in {report.elapsed_s:.1f} s."


async def remove_documents(
    journal: Journal, *, collection: str | None, documents: Sequence[str], is_all: bool, form: str
) -> int:
    """Remove *documents*, or all of the *collection*; the exit code is 1 if some were not there."""
    if bool(documents) == is_all:
        raise click.UsageError("Name the documents to remove, or say --all.")
    require_text(*documents)
    async with _open_collection(journal, collection) as (corpus, name):
        removed, missing = await corpus.indexer.remove(name, documents or None)
    for document_id in missing:
        say(f"{one_line(document_id)}: there is no such document in {one_line(name)}.")
    body = {"removed": len(removed), "missing": missing}
    show(form, body, [f"{counted(len(removed), 'document')} removed."])
    return FOUND_SOMETHING if missing else 0


async def show_documents(journal: Journal, *, collection: str | None, form: str) -> None:
    """Print the documents of the *collection*; raises NotFound when there is none."""
    async with _open_collection(journal, collection) as (corpus, name):
        documents = await corpus.search.catalogue.documents(name)
    rows = [(d.id, d.passages, d.modified and d.modified.date(), d.path) for d in documents]
    table = format_table(("Document", "Passages", "Modified", "Path"), rows)
    show(form, {"collection": name, "documents": documents}, [table])
    if form == "text":
        say(f"{counted(len(documents), 'document')}.")


async def show_stats(journal: Journal, *, form: str) -> None:
    """Print what each collection holds."""
    async with open_search(load_settings(), journal) as corpus:
        collections = await corpus.search.catalogue.collections()
        vectors = corpus.indexer.vectors
        missing = await vectors.missing() if vectors else 0
    if not collections and form == "text":
        say(NOTHING_INDEXED)
    more = {"vectors": {"embedder": vectors.name, "missing": missing}} if vectors else {}
    show(form, {"collections": collections, **more})
    if vectors and form == "text":
        say(f"{counted(missing, 'passage')} without a vector of {vectors.name}.")


@asynccontextmanager
async def _open_collection(journal: Journal, name: str | None) -> AsyncIterator[tuple[Corpus, str]]:
    """The index, and the collection *name* or JUDGE_COLLECTION; raises NotFound if it has none."""
    settings = load_settings()
    # A blank name is a shell variable that is not set, not a wish to remove the default collection.
    collection = settings.collection if name is None else name.strip()
    async with open_search(settings, journal) as corpus:
        names = [stats.name for stats in await corpus.search.catalogue.collections()]
        if fold_name(collection) not in {fold_name(name) for name in names}:
            there_are = f"There are: {', '.join(names)}." if names else NOTHING_INDEXED
            raise NotFound(f"There is no collection {collection!r}. {there_are}")
        yield corpus, collection
