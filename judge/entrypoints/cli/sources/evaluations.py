"""The work of `judge sources try`: evaluate labelled disputes and show the figures."""

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from judge.bootstrap.library import open_library
from judge.entrypoints.cli.output import format_table, progress_bar, say, show
from judge.entrypoints.cli.sources.checks import check_pages
from judge.errors import ConfigurationError
from judge.judging.evaluation import (
    EvaluationReport,
    LabelledDispute,
    evaluate_dispute,
    score_evaluation,
)
from judge.ports import Journal
from judge.settings import load_settings
from judge.text.english import counted
from judge.types.request_fields import bad_fields_of
from judge.types.requests import DEFAULT_DOMAIN

MAX_LINES = 8
"""Line numbers shown of each confusion; JSON has them all."""

MAX_BYTES = 64 * 1024 * 1024
"""Of a file, which may be an endless pipe; some 50,000 disputes."""


class _Line(BaseModel):
    """A line of the file; keys of other tools are ignored."""

    model_config = ConfigDict(extra="ignore", strict=True)

    context: str = ""
    query: str = ""
    domain: str
    pages: list[str] = []


async def show_evaluation(journal: Journal, *, file: str, is_offline: bool, form: str) -> None:
    """Print how well the disputes in *file* get their domains and pages.

    If some are labelled with pages, all pages are read first, unless *is_offline*. Raises
    ConfigurationError naming the line that cannot be used.
    """
    async with open_library(load_settings(), journal) as library:
        known = library.sources.current()
        labelled = read_labelled(Path(file), known.detector.domains)
        if any(dispute.pages for dispute in labelled) and not is_offline:
            # So that all are ranked by their text.
            pages = await check_pages(library, "Reading")
            if failed := sum(not page.is_ok for page in pages):
                why = "`judge sources check` says why."
                say(f"{failed} of {len(pages)} pages could not be read; {why}")
        indexed = await library.retriever.indexed(known.catalog)
        with progress_bar("Trying", len(labelled)) as advance:
            evaluated = []
            for dispute in labelled:
                evaluated.append(evaluate_dispute(known, indexed, dispute))
                advance()
    report = score_evaluation(evaluated, known.catalog.retrieval.references)
    show(form, report, _parts(report))
    known_pages = {source.url for domain in known.catalog.domains for source in domain.sources}
    if unknown := {url for dispute in labelled for url in dispute.pages} - known_pages:
        say(f"{len(unknown)} of the labelled pages are not in the sources, and count as missed.")


def read_labelled(path: Path, domains: Sequence[str]) -> list[LabelledDispute]:
    """The disputes in the JSONL file at *path*; raises ConfigurationError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error}.") from None
    if len(data) > MAX_BYTES:
        raise ConfigurationError(f"{path} is longer than {MAX_BYTES} bytes. Give it in parts.")
    # As bytes: `str.splitlines` would split at characters that JSON strings may hold.
    lines = data.removeprefix(BOM_UTF8).splitlines()
    numbered = enumerate(lines, start=1)
    disputes = [_labelled(path, number, line) for number, line in numbered if line.strip()]
    valid = [*domains, DEFAULT_DOMAIN]
    for dispute in disputes:
        if dispute.domain not in valid:
            raise ConfigurationError(
                f"{path}, line {dispute.line}: domain: there is no domain {dispute.domain!r}. "
                f"Valid are {', '.join(valid)}."
            )
    if not disputes:
        raise ConfigurationError(f"{path} holds no dispute; write one JSON object a line.")
    return disputes


def _labelled(path: Path, number: int, line: bytes) -> LabelledDispute:
    place = f"{path}, line {number}"
    try:
        read = _Line.model_validate_json(line)
    except ValidationError as error:
        wrong = str(bad_fields_of(error)).removeprefix("body ")
        raise ConfigurationError(f"{place}: {wrong}") from None
    if not (read.context or read.query):
        raise ConfigurationError(f"{place}: has neither context nor query; add one of them.")
    return LabelledDispute(number, read.context, read.query, read.domain, tuple(read.pages))


def _parts(report: EvaluationReport) -> Iterator[str]:
    rows = [
        (score.domain, score.disputes, *map(_share, (score.precision, score.recall, score.f1)))
        for score in report.domains
    ]
    yield format_table(("Domain", "Disputes", "Precision", "Recall", "F1"), rows)
    yield (
        f"{counted(report.disputes, 'dispute')}: {report.accuracy:.3f} got their domain; the mean "
        f"F1 of the domains is {report.macro_f1:.3f}."
    )
    if report.confusions:
        confused = [
            (pair.labelled, pair.detected, len(pair.lines), _lines(pair.lines))
            for pair in report.confusions
        ]
        yield format_table(("Labelled", "Got", "Times", "Lines"), confused)
    if report.pages:
        yield (
            f"{counted(report.pages.disputes, 'dispute')} with pages: "
            f"hit@2 {report.pages.hit_at_2:.3f}, "
            f"recall@{report.pages.limit} {report.pages.recall:.3f}."
        )


def _lines(lines: Sequence[int]) -> str:
    return ", ".join(map(str, lines[:MAX_LINES])) + (", …" if len(lines) > MAX_LINES else "")


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"
