"""`judge search`: check the arguments, search, print, and return the exit code.

Every line of the formats is part of the interface; tests compare them byte for byte.
"""

import asyncio
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

import click

from judge.bootstrap.corpus import open_search
from judge.entrypoints.cli.options import (
    COULD_NOT_ANSWER,
    FOUND_SOMETHING,
    MAX_CHARACTERS_READ,
    read_file,
    require_text,
)
from judge.entrypoints.cli.output import format_json, say
from judge.entrypoints.cli.plain_text import one_line, plain_lines
from judge.errors import (
    BadScope,
    IndexUnavailable,
    InvalidAddress,
    InvalidRequest,
    JudgeError,
    MissingKey,
)
from judge.library.indexing.plan import is_url
from judge.library.scopes.scopes import STAR
from judge.library.search.answer_format import count_sources, format_answer, reply_marks
from judge.library.search.service import MAX_QUERY, EmptyQuery, SearchOutcome, SearchParameters
from judge.ports import Journal
from judge.settings import Settings, load_settings
from judge.text.english import counted
from judge.types.search import AnyOf, Clause, Hit, Scope

MIN_K, MAX_K = 3, 8  # the bounds of --k
NOTHING = "No matching content found in the knowledge base."
_DOUBLE, _SINGLE = "=" * 50, "-" * 50


@dataclass(frozen=True, slots=True)
class Results:
    """The hits of a query, and the collections that were searched."""

    query: str
    collection: str
    hits: tuple[Hit, ...]
    warnings: tuple[str, ...] = ()
    hint: str | None = None

    @property
    def context(self) -> dict[str, Any]:
        """The hits as one context: how many, how long, and their paths, the best hit's first."""
        return {
            "chunk_count": len(self.hits),
            "total_chars": sum(len(hit.passage.text) for hit in self.hits),
            "sources": list(dict.fromkeys(hit.passage.path for hit in self.hits)),
        }


class SearchFailed(JudgeError):
    """There is no answer; `code` is a stable name of the reason."""

    def __init__(self, code: str, message: str, details: str) -> None:
        super().__init__(message)
        self.code, self.message, self.details = code, message, details


def run_search(
    journal: Journal,
    *,
    words: Sequence[str],
    query: Sequence[str],
    k: str,
    collection: Sequence[str],
    context: Sequence[str],
    form: str,
    answer: bool,
    reply: str | None,
) -> int:
    """Print the results, or the error in the same format; the exit code.

    Several collections are alternatives; several contexts all limit. With a *reply*, print instead
    which of its citation marks have no source: among the results, or, without a query, among the
    numbered blocks in the reply itself.
    """
    if len(query) + bool(words) > 1:
        raise click.UsageError("Give the query once: as QUERY or with --query.")
    is_json = form == "json" and not answer
    results = None
    try:
        reply_text = None if reply is None else read_file(reply)
        if words or query or reply is None:
            text = " ".join((*query, *words))
            results = _search(journal, text, k, collection, " ".join(context))
        if reply_text is not None:
            return _check_marks(reply_text, results, is_json=is_json)
    except Exception as error:  # noqa: BLE001 - programs are promised a code for everything
        failure = _failure(error)
        failed = failure_json(failure) if is_json else failure_text(failure)
        click.echo(failed, nl=False, err=not is_json)
        return COULD_NOT_ANSWER
    assert results is not None
    _tell(results)
    if answer:
        click.echo(plain_lines(format_answer(results.hits)), nl=False)
    else:
        click.echo(results_json(results) if is_json else results_text(results), nl=False)
    return FOUND_SOMETHING if results.warnings else 0


def _tell(results: Results) -> None:
    for warning in results.warnings:
        say(f"Warning: {one_line(warning)}")
    if results.hint:
        say(f"Hint: {one_line(results.hint)}")


def _check_marks(reply: str, results: Results | None, *, is_json: bool) -> int:
    """Print the marks of *reply* without a source among the *results*, or else its own blocks."""
    if len(reply) > MAX_CHARACTERS_READ:
        raise InvalidRequest(
            f"The reply is over {MAX_CHARACTERS_READ:,} characters. Give it in parts."
        )
    sources = count_sources(reply) if results is None else len(results.hits)
    if sources is None:
        message = "The number of sources is unknown, since the reply has no numbered blocks."
        raise SearchFailed("EMPTY_QUERY", message, "Give the query as well, and --k if you gave it")
    marks = reply_marks(reply, sources)
    bad = [mark for mark in marks if not mark.in_range]
    warnings = list(results.warnings) if results else []
    if results:
        _tell(results)
    if is_json:
        body = {"status": "success", "source_count": sources, "marks": [asdict(m) for m in marks]}
        click.echo(format_json(body | ({"warnings": warnings} if warnings else {})))
    else:
        there_are = f"there {'is' if sources == 1 else 'are'} {sources}"
        for mark in bad:
            click.echo(f"line {mark.line}: {one_line(mark.text)} has no source; {there_are}.")
    say(f"{counted(len(marks), 'citation mark')}, {len(bad)} without a source.")
    return FOUND_SOMETHING if warnings or bad else 0


def _search(
    journal: Journal, query: str, k: str, collections: Sequence[str], context: str
) -> Results:
    require_text(query, context, *collections)
    query = query.strip()
    if not query:
        raise EmptyQuery
    warnings: list[str] = []
    limit = _limit(k, warnings)
    if len(query) > MAX_QUERY:
        warnings.append(f"The query has {len(query)} characters; it was cut to {MAX_QUERY}.")
    settings = load_settings()
    parameters = SearchParameters(query, context, limit=limit)
    names = tuple(name.strip() for name in collections)
    if not names:
        parameters = replace(parameters, default_collection=settings.collection)
    elif STAR not in names:
        parameters = replace(parameters, filters=Scope((Clause("collection", names),)))
    outcome = asyncio.run(_run_query(settings, parameters, journal))
    searched = names or dict.fromkeys(_collections_of(outcome.scope))
    return Results(
        query[:MAX_QUERY],
        ", ".join(searched) or STAR,
        outcome.results.hits,
        (*warnings, *outcome.results.warnings),
        outcome.hint,
    )


async def _run_query(
    settings: Settings, parameters: SearchParameters, journal: Journal
) -> SearchOutcome:
    try:
        async with open_search(settings, journal) as corpus:
            return await corpus.search.search(parameters)
    except (IndexUnavailable, InvalidAddress) as error:
        message, details = "Cannot use PostgreSQL", str(error)
        if settings.qdrant_url is not None:
            scheme, sign, rest = settings.qdrant_url.partition("://")
            address = f"{scheme}{sign}{rest.rpartition('@')[2]}"  # without a password
            message = f"Cannot connect to Qdrant at {address}"
            details = details.removeprefix(f"{message}: ")
        elif settings.database_url is None:
            raise
        raise SearchFailed("CONNECTION_ERROR", message, details) from error


def _limit(k: str, warnings: list[str]) -> int:
    """The number of results to show: *k*, clamped to its bounds with a warning."""
    try:
        number = int(k)
    except ValueError:
        details = f"Give a number from {MIN_K} to {MAX_K}"
        raise SearchFailed("INVALID_K", "K must be an integer", details) from None
    limit = min(max(number, MIN_K), MAX_K)
    if limit != number:
        warnings.append(f"k must be from {MIN_K} to {MAX_K}; {limit} is used instead of {number}.")
    return limit


def _collections_of(scope: Scope) -> list[str]:
    """The collections that *scope* is limited to; empty if it is not limited to any."""
    names: list[str] = []
    for clause in scope.clauses:
        if isinstance(clause, AnyOf) and not clause.is_excluded:
            alternatives = [_collections_of(alternative) for alternative in clause.scopes]
            names += chain.from_iterable(alternatives) if all(alternatives) else ()
        elif isinstance(clause, Clause) and clause.kind == "collection" and not clause.is_excluded:
            names += clause.values
    return names


def _failure(error: Exception) -> SearchFailed:
    """*error* with its stable code, and a detail that helps to go on."""
    code, details = "INTERNAL_ERROR", "Nothing was searched"
    match error:
        case SearchFailed():
            return error
        case EmptyQuery():
            code, details = "EMPTY_QUERY", "Give a query: judge search TEXT"
        case BadScope():
            valid = f"Valid are: {', '.join(error.valid)}" if error.valid else ""
            code, details = "BAD_SCOPE", valid or "Scopes are explained in docs/scopes.md"
        case MissingKey():
            code = "MISSING_KEY"
        case JudgeError():
            pass
        case _:  # the text of an unexpected error may quote what a person wrote
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{type(error).__name__} in {place.filename}, line {place.lineno}"
            return SearchFailed(code, "Something went wrong that should not have", where)
    return SearchFailed(code, str(error), details)


def _headed(heading: str, *lines: str) -> str:
    return "\n".join((_DOUBLE, heading, _DOUBLE, *lines, _DOUBLE, ""))


def results_text(results: Results) -> str:
    """For people; ends with a line end."""
    lines = [
        f'Query: "{one_line(results.query)}"',
        f"Collection: {one_line(results.collection)}",
        f"Results: {len(results.hits)}",
        "",
    ]
    if not results.hits:
        return _headed("Search Results", *lines, NOTHING)
    lines += [_DOUBLE, ""]
    for rank, hit in enumerate(results.hits, start=1):
        passage = hit.passage
        where = "" if is_url(passage.path) else f":{passage.start_line}-{passage.end_line}"
        lines += [
            f"[{rank}] Score: {hit.score:.3f}",
            f"Source: {one_line(passage.path)}{where}",
            f"Chapter: {one_line(passage.chapter or '-')}",
            f"Section: {one_line(passage.section or '-')}",
            "---",
            plain_lines(passage.text.strip("\n")),
            "",
            _SINGLE,
            "",
        ]
    count, characters, sources = results.context.values()
    lines += [_DOUBLE, f"Context assembled: {count} chunks, {characters} characters"]
    return _headed("Search Results", *lines, f"Sources: {len(sources)} unique pages")


def results_json(results: Results) -> str:
    """For programs; ends with a line end."""
    body = {
        "status": "success",
        "query": results.query,
        "collection": results.collection,
        "count": len(results.hits),
        "chunks": [_chunk(rank, hit) for rank, hit in enumerate(results.hits, start=1)],
        **({"context": results.context} if results.hits else {"message": NOTHING}),
    }
    more = {"hint": results.hint, "warnings": results.warnings}
    return format_json(body | {key: value for key, value in more.items() if value}) + "\n"


def failure_text(failure: SearchFailed) -> str:
    """For people; ends with a line end."""
    return _headed(
        "Error",
        f"Code: {failure.code}",
        f"Message: {one_line(failure.message)}",
        f"Details: {one_line(failure.details)}",
        "",
        f"Exit code: {COULD_NOT_ANSWER}",
    )


def failure_json(failure: SearchFailed) -> str:
    """For programs; ends with a line end."""
    return format_json({"status": "error", **vars(failure)}) + "\n"


def _chunk(rank: int, hit: Hit) -> dict[str, Any]:
    passage = hit.passage
    return {
        "rank": rank,
        "score": round(hit.score, 3),
        "source_url": passage.path,
        "chapter": passage.chapter,
        "section": passage.section,
        "title": passage.title,
        "chunk_index": passage.position,
        "chunk_id": passage.id,
        "text": passage.text,
    }
