"""Opens the sources file and compiles it for the pipeline."""

import functools
from pathlib import Path

from judge.adapters.files.watched_file import LastGood, WatchedFile, read_text_files
from judge.adapters.memory import SystemClock
from judge.judging.care import compile_safety
from judge.judging.domains import compile_detector
from judge.judging.prompts import DEFAULT_PERSONAS, prompt_digest
from judge.judging.results import Knowledge
from judge.library.sources.catalog import package_vocabulary, parse_sources
from judge.library.sources.tables import included_files
from judge.ports import Journal
from judge.settings import Settings
from judge.types.results import Versions
from judge.types.text_files import TextFile


@functools.lru_cache(maxsize=4)
def compile_knowledge(main: TextFile | str, *included: TextFile) -> Knowledge:
    """The compiled sources file *main* and those it includes, over the package's vocabulary.

    The last ones are kept: golden cases that were recorded together have the same sources. Raises
    ConfigurationError that names file, line and key.
    """
    catalog = parse_sources(main, *included, vocabulary=package_vocabulary())
    personas = catalog.personas or DEFAULT_PERSONAS
    return Knowledge(
        catalog=catalog,
        detector=compile_detector(catalog),
        safety=compile_safety(catalog.safety, catalog.country.emergency),
        personas=personas,
        versions=Versions(prompt=prompt_digest(personas, catalog.country), sources=catalog.digest),
    )


def read_sources(path: Path) -> tuple[TextFile, ...]:
    """The sources file at *path* and those it includes; raises ConfigurationError."""
    return read_text_files(path, included_files)


def open_sources(
    settings: Settings, journal: Journal, last_good: LastGood | None = None
) -> WatchedFile[Knowledge]:
    """The sources file, watched for changes; raises ConfigurationError when it is invalid."""
    return WatchedFile(
        Path(settings.sources),
        compile_knowledge,
        SystemClock(),
        journal,
        included=included_files,
        last_good=last_good,
    )
