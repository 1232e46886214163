"""The work of `judge index add`: find, plan, read and write, with a summary at the end."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

import click

from judge.adapters.files.document_files import Scan, read_file, scan
from judge.bootstrap import Corpus, open_search
from judge.entrypoints.cli.index.progress import index_bar, stop_on_interrupt
from judge.entrypoints.cli.main import INTERRUPTED
from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import format_json, look_at_terminal, say
from judge.entrypoints.cli.plain_text import one_line
from judge.errors import EmbedderUnavailable, InvalidRequest, UnreadableDocument
from judge.ports import IndexWriter, Journal, VectorStorage
from judge.search.indexing.document_reader import (
    MAX_BYTES,
    check_collection,
    hash_of,
    read_document,
)
from judge.search.indexing.indexer import Indexer, IndexingReport
from judge.search.indexing.plan import (
    IndexingOptions,
    IndexingPlan,
    SkippedDocument,
    gone,
    plan_indexing,
)
from judge.search.indexing.web_pages import fetch_page, is_address
from judge.settings import Settings
from judge.types.search import IndexedDocument


@dataclass(frozen=True, slots=True)
class Adding:
    """What was typed."""

    wish: IndexingOptions
    places: tuple[str, ...]
    globs: tuple[str, ...] = ()
    prunes: bool = False
    replaces: bool = False

    @property
    def addresses(self) -> list[str]:
        """The web pages among the places."""
        return [place for place in self.places if is_address(place)]

    @property
    def paths(self) -> list[str]:
        """The files and folders among the places."""
        return [place for place in self.places if not is_address(place)]


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of the command, with what it works on."""

    adding: Adding
    corpus: Corpus
    known: Sequence[IndexedDocument]
    found: Scan
    plan: IndexingPlan
    report: IndexingReport
    should_stop: Callable[[], bool]


def add_documents(settings: Settings, adding: Adding, form: str, journal: Journal) -> int:
    """Add what was named and tell what came of it; the exit code.

    Raises InvalidRequest, IndexLocked and IndexUnavailable.
    """
    wish = replace(adding.wish, collection=check_collection(adding.wish.collection))
    report, elapsed_s = asyncio.run(_add(settings, replace(adding, wish=wish), journal))
    for problem in report.problems:
        say(one_line(f"{problem.path}: {problem.reason}"))
    if form == "json":
        click.echo(format_json(asdict(report) | {"elapsed_s": round(elapsed_s, 2)}))
    else:
        click.echo(_summary(report, elapsed_s))
    if report.is_interrupted:
        say("Stopped. What is counted above is indexed; the same command does the rest.")
        return INTERRUPTED
    return FOUND_SOMETHING if report.problems else 0


async def _add(
    settings: Settings, adding: Adding, journal: Journal
) -> tuple[IndexingReport, float]:
    """What was done, and in how many seconds."""
    async with open_search(settings, journal) as corpus:
        started = corpus.clock.monotonic()
        with stop_on_interrupt() as should_stop:
            run = await _prepare(adding, corpus, should_stop)
            if run.plan.work or adding.addresses or adding.prunes or adding.replaces:
                async with corpus.store.writing() as writer:
                    await _write(run, writer)
            if corpus.vectors and not run.report.is_interrupted:
                await _complete(corpus.vectors, run)
        return run.report, corpus.clock.monotonic() - started


async def _prepare(adding: Adding, corpus: Corpus, should_stop: Callable[[], bool]) -> _Run:
    found = await asyncio.to_thread(scan, adding.paths, adding.globs)
    _expect_one(adding, len(found.files) + len(adding.addresses))
    known = await corpus.catalogue.documents(adding.wish.collection)
    plan = plan_indexing(found.files, known, adding.wish, is_there=os.path.lexists)
    unseen = [SkippedDocument(path, reason) for path, reason in found.problems]
    report = IndexingReport(
        unchanged=plan.unchanged, links=found.links, problems=[*unseen, *plan.problems]
    )
    return _Run(adding, corpus, known, found, plan, report, should_stop)


def _expect_one(adding: Adding, count: int) -> None:
    if count > 1 and (adding.wish.document_id or adding.wish.title):
        raise InvalidRequest(
            f"--document and --title are for one document, and there are {count} here."
        )


async def _write(run: _Run, writer: IndexWriter) -> None:
    """Everything that changes the index."""
    total = len(run.plan.work) + len(run.adding.addresses)
    with index_bar(total, look_at_terminal()) as tell:
        shelver = Indexer(
            load=partial(read_file, max_bytes=MAX_BYTES),
            readers=run.corpus.readers,
            writer=writer,
            clock=run.corpus.clock,
            tell=tell,
            should_stop=run.should_stop,
        )
        await shelver.index(run.plan.work, run.report, reads_all=run.adding.replaces)
        if run.adding.addresses and not run.report.is_interrupted:
            await _add_pages(run, writer, tell)
    if not run.report.is_interrupted:
        await _remove_gone(run, writer)
    await writer.commit()


async def _complete(vectors: VectorStorage, run: _Run) -> None:
    """Make the vectors that passages lack, of earlier runs too, and tell how many still do."""
    missing, why = await vectors.missing(), ""
    if not missing:
        return
    try:
        with index_bar(missing, look_at_terminal(), "Embedding") as tell:
            await vectors.complete(tell, run.should_stop)
    except EmbedderUnavailable as error:
        why = f" {error}"
    run.report.is_interrupted = run.should_stop()
    if missing := await vectors.missing():
        told = f"{missing} missing.{why} The same command makes them."
        run.report.problems.append(SkippedDocument("vectors", told))


async def _add_pages(run: _Run, writer: IndexWriter, tell: Callable[[int], None]) -> None:
    """Fetch each web page and write it, unless it is as it was."""
    known = {record.id.casefold(): record for record in run.known}
    async with run.corpus.open_fetcher() as fetcher:
        for url in run.adding.addresses:
            if run.should_stop():
                run.report.is_interrupted = True
                return
            try:
                content, origin = await fetch_page(fetcher, url, run.adding.wish)
                before = known.get(origin.document_id.casefold())
                is_same = before is not None and before.content_hash == hash_of(content, origin)
                if is_same and not run.adding.replaces:
                    run.report.unchanged += 1
                else:
                    document = await asyncio.to_thread(
                        read_document, content, origin, run.corpus.readers
                    )
                    await writer.replace([document])
                    run.report.count(document, is_new=before is None)
            except UnreadableDocument as error:
                run.report.problems.append(SkippedDocument(url, str(error)))
            tell(1)


async def _remove_gone(run: _Run, writer: IndexWriter) -> None:
    """Remove the documents whose files are gone; with --replace, all that were not named."""
    if run.adding.replaces:
        pages = {(run.adding.wish.document_id or url).casefold() for url in run.adding.addresses}
        ids = gone(run.known, run.plan.seen | pages, lambda _: True)
    elif run.adding.prunes:
        ids = gone(run.known, run.plan.seen, run.found.covers)
    else:
        return
    await writer.remove(run.adding.wish.collection, ids)
    run.report.removed += len(ids)


def _summary(report: IndexingReport, elapsed_s: float) -> str:
    done = (
        f"{report.added} added, {report.replaced} replaced, {report.unchanged} unchanged, "
        f"{report.removed} removed; {report.passages} passages in {elapsed_s:.1f} s."
    )
    skipped = {
        "binary": report.binary,
        "empty": report.empty,
        "symbolic links": report.links,
        "with problems": len(report.problems),
    }
    told = ", ".join(f"{count} {why}" for why, count in skipped.items() if count)
    return f"{done}\nSkipped: {told}." if told else done
