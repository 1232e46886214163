"""The last runs, kept so that two can be compared without naming a file."""

from collections.abc import Iterator, Sequence
from datetime import UTC
from pathlib import Path

from judge.errors import NotFound
from judge.golden.results import as_lines, read_results, write_results
from judge.golden.scores import Sample

KEPT_REPLAYS = 20
"""Older ones are removed; live runs, which cost money, never are."""

Run = Sequence[Sample]
"""The samples of one run; never empty."""


def keep_run(folder: Path, run: Run) -> Path:
    """Keep *run* in *folder*; raises ConfigurationError when it cannot be written."""
    kind = "live" if run[0].is_live else "replay"
    at = run[0].at.astimezone(UTC) if run[0].at else None
    path = folder / f"{at:%Y%m%dT%H%M%S.%fZ}-{kind}.jsonl"
    write_results(path, run)
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
