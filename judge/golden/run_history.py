"""Runs as JSON lines, one sample a line; the last are kept so that two can be compared.

Those of a live run hold figures and names and no word, unless its answers were to be kept.
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
from judge.types.request_fields import in_words
from judge.types.results import HelpLine, OtherSide

KEPT_REPLAYS = 20
"""Older ones are removed; live runs, which cost money, never are."""

MAX_LINE = 64 * 1024 * 1024
"""Bytes of a line that are read, far more than an answer has: a device may have no line end."""

Run = Sequence[Sample]
"""The samples of one run; never empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProblemBody:
    """The members of any kept body that are read later; others may be those of an older version."""

    help: tuple[HelpLine, ...] = ()
    defects: tuple[_Rule, ...] = ()
    references: tuple[Reference, ...] = ()
    other_side: OtherSide | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _VerdictBody(_ProblemBody):
    """The further members that are read of a body of status 200."""

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


def keep_run(folder: Path, run: Run) -> Path:
    """Keep *run* in *folder*; raises ConfigurationError when it cannot be written."""
    kind = "live" if run[0].is_live else "replay"
    at = run[0].at.astimezone(UTC) if run[0].at else None
    path = folder / f"{at:%Y%m%dT%H%M%S.%fZ}-{kind}.jsonl"
    write_output(path, as_lines(run))
    for old in sorted(folder.glob("*-replay.jsonl"))[:-KEPT_REPLAYS]:
        old.unlink(missing_ok=True)
    return path


def last_run(folder: Path, *, with_answers: bool = False) -> list[Sample]:
    """The newest run in *folder*, or the newest live one *with_answers*; raises NotFound."""
    for found in _newest_first(folder):
        if not with_answers or (found[0].is_live and any(one.answer for one in found)):
            return found
    how = " --live --keep-answers" if with_answers else ""
    raise NotFound(f"No such run is kept in {folder}. `judge golden run{how}` keeps one.")


def run_before(folder: Path, run: Run) -> list[Sample]:
    """What *run* is best compared with: the newest of its kind in which anything was different.

    If nothing ever was, the newest of its kind; empty without any. Only its own cases are given.
    """
    newest: list[Sample] = []
    names = {sample.case for sample in run}
    for found in _newest_first(folder):
        of_cases = [sample for sample in found if sample.case in names]
        if not _is_comparable(found, run) or {sample.case for sample in of_cases} != names:
            continue
        if as_lines(of_cases, is_dated=False) != as_lines(run, is_dated=False):
            return of_cases
        newest = newest or of_cases
    return newest


def _is_comparable(found: Run, run: Run) -> bool:
    one, other = found[0], run[0]
    is_earlier = one.at is not None and other.at is not None and one.at < other.at
    return is_earlier and (one.is_live, one.sources_file) == (other.is_live, other.sources_file)


def _newest_first(folder: Path) -> Iterator[list[Sample]]:
    for path in sorted(folder.glob("*.jsonl"), reverse=True):
        if samples := read_results(path):
            yield samples


def as_lines(samples: Iterable[Sample], *, is_dated: bool = True) -> bytes:
    """*samples* as they are kept, a line each; without dates, the lines of equal runs are equal."""
    dated = (one if is_dated else replace(one, at=None) for one in samples)
    return b"".join(_SAMPLE.dump_json(sample) + b"\n" for sample in dated)


def read_results(path: Path) -> list[Sample]:
    """The samples in *path*; raises ConfigurationError naming the line that is none."""
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
            f"{path}, line {number} is no result of `judge golden run`: {in_words(error)}"
        ) from error
    return sample
