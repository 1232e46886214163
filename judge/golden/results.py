"""Results as JSON lines, one sample a line.

Those of a live run hold figures and names and no word, unless its answers were to be kept.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from judge.errors import ConfigurationError
from judge.golden.case_writer import write_output
from judge.golden.scores import Sample
from judge.types.request_fields import in_words

_SAMPLE = TypeAdapter(Sample)


def write_results(path: Path, samples: Iterable[Sample]) -> None:
    """Write *samples* to *path*, a line each; raises ConfigurationError when that fails."""
    write_output(path, as_lines(samples))


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
