"""Runs as JSON lines, one sample a line; the last are kept so that two can be compared.

Those of a live run hold figures and names and no word, unless its answers were to be kept.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from judge.errors import ConfigurationError, NotFound
from judge.golden.case_writer import write_output
from judge.golden.scores import Sample
from judge.types.request_fields import in_words

KEPT_REPLAYS = 20
"""Older ones are removed; live runs, which cost money, never are."""

Run = Sequence[Sample]
"""The samples of one run; never empty."""

_SAMPLE = TypeAdapter(Sample)


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
    """*samples* as they are kept, a line each; without their date, two runs can be held equal."""
    dated = (one if is_dated else replace(one, at=None) for one in samples)
    return b"".join(_SAMPLE.dump_json(sample) + b"\n" for sample in dated)


def read_results(path: Path) -> list[Sample]:
    """The samples in *path*; raises ConfigurationError naming the line that is none."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error}.") from error
    return [_sample(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _sample(path: Path, number: int, line: bytes) -> Sample:
    try:
        return _SAMPLE.validate_json(line)
    except ValidationError as error:
        raise ConfigurationError(
            f"{path}, line {number} is no result of `judge golden run`: {in_words(error)}"
        ) from error
