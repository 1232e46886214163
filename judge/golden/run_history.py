"""Stores runs as JSON lines, one sample a line, so that two of them can be compared.

Live runs are stored as figures and names without any text, unless `--keep-answers` was given.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from judge.errors import ConfigurationError, NotFound
from judge.golden.case_writer import write_output
from judge.golden.samples import Sample
from judge.types.references import Reference
from judge.types.replies import Citation, Evidence, PersonaVerdict
from judge.types.request_fields import bad_fields_of
from judge.types.results import HelpLine, OtherSide

MAX_STORED_REPLAYS = 20
"""Older replays are removed; live runs, which cost money, never are."""

MAX_LINE = 64 * 1024 * 1024
"""Bytes of a line that are read, far more than an answer has: a device may never end a line."""

Run = Sequence[Sample]
"""The samples of one run; never empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProblemBody:
    """The members of any stored body that are read later; other versions may have others."""

    help: tuple[HelpLine, ...] = ()
    defects: tuple[_Rule, ...] = ()
    references: tuple[Reference, ...] = ()
    other_side: OtherSide | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _VerdictBody(_ProblemBody):
    """The additional members that are read from a body of status 200."""

    paraphrase: str
    summary: str
    personas: tuple[PersonaVerdict, ...]
    references: tuple[Reference, ...]
    citations: tuple[Citation, ...]
    evidence: Evidence
    warnings: tuple[str, ...]


_SAMPLE = TypeAdapter(Sample)
_PROBLEM_BODY = TypeAdapter(_ProblemBody)
_VERDICT_BODY = TypeAdapter(_VerdictBody)


def store_run(folder: Path, run: Run) -> Path:
    """Store *run* in *folder*; raises ConfigurationError when it cannot be written."""
    kind = "live" if run[0].is_live else "replay"
    at = run[0].at.astimezone(UTC) if run[0].at else None
    path = folder / f"{at:%Y%m%dT%H%M%S.%fZ}-{kind}.jsonl"
    write_output(path, as_lines(run))
    for old in sorted(folder.glob("*-replay.jsonl"))[:-MAX_STORED_REPLAYS]:
        old.unlink(missing_ok=True)
    return path


def last_run(folder: Path, *, with_answers: bool = False) -> list[Sample]:
    """The newest run in *folder*, or the newest live one *with_answers*; raises NotFound."""
    for run in _newest_first(folder):
        if not with_answers or (run[0].is_live and any(sample.answer for sample in run)):
            return run
    how = " --live --keep-answers" if with_answers else ""
    raise NotFound(f"No such run is kept in {folder}. `judge golden run{how}` keeps one.")


def find_baseline(folder: Path, run: Run) -> list[Sample]:
    """The baseline for *run*: the newest earlier run of its kind that differs in its cases.

    If all are equal, the newest; empty if there is none. Samples of other cases are left out.
    """
    newest: list[Sample] = []
    names = {sample.case for sample in run}
    for earlier in _newest_first(folder):
        own = [sample for sample in earlier if sample.case in names]
        if not _is_comparable(earlier, run) or {sample.case for sample in own} != names:
            continue
        if as_lines(own, is_dated=False) != as_lines(run, is_dated=False):
            return own
        newest = newest or own
    return newest


def _is_comparable(earlier: Run, run: Run) -> bool:
    old, new = earlier[0], run[0]
    is_earlier = old.at is not None and new.at is not None and old.at < new.at
    return is_earlier and (old.is_live, old.sources_file) == (new.is_live, new.sources_file)


def _newest_first(folder: Path) -> Iterator[list[Sample]]:
    for path in sorted(folder.glob("*.jsonl"), reverse=True):
        if samples := read_results(path):
            yield samples


def as_lines(samples: Iterable[Sample], *, is_dated: bool = True) -> bytes:
    """*samples* as they are stored, a line each; undated, the lines of equal runs are equal."""
    stored = (sample if is_dated else replace(sample, at=None) for sample in samples)
    return b"".join(_SAMPLE.dump_json(sample) + b"\n" for sample in stored)


def read_results(path: Path) -> list[Sample]:
    """The samples in *path*; raises ConfigurationError, which names a line that is invalid."""
    try:
        with path.open("rb") as file:
            lines = enumerate(iter(lambda: file.readline(MAX_LINE), b""), 1)
            return [_sample(path, number, line) for number, line in lines if line.strip()]
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error}.") from error


def _sample(path: Path, number: int, line: bytes) -> Sample:
    try:
        sample = _SAMPLE.validate_json(line)
        if sample.answer:
            shape = _VERDICT_BODY if sample.answer.status == 200 else _PROBLEM_BODY
            shape.validate_python(sample.answer.body)
    except ValidationError as error:
        raise ConfigurationError(
            f"{path}, line {number} is no result of `judge golden run`: {bad_fields_of(error)}"
        ) from error
    return sample
