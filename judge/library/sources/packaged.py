"""The vocabulary and safety rules that come with the package, parsed from its data files."""

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from judge.library.sources.read_table import read_table
from judge.library.sources.tables import (
    PatternTable,
    SafetyFileTable,
    SafetyTable,
    VocabularyTable,
)
from judge.types.text_files import TextFile


@dataclass(frozen=True, slots=True)
class SubjectWords:
    """The weighted terms and patterns of one subject, and the file that holds them."""

    file: str = ""
    terms: tuple[tuple[str, float], ...] = ()
    patterns: tuple[PatternTable, ...] = ()


NO_WORDS = SubjectWords()
"""For a subject without a data file, or one whose vocabulary is switched off."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The data files of the package: one per subject, and one with the safety rules."""

    subjects: Mapping[str, TextFile] = field(default_factory=dict)
    safety_file: TextFile | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The contents of all files, for `texts_digest`."""
        files = [*self.subjects.values(), *([self.safety_file] if self.safety_file else [])]
        return tuple(file.text for file in files)

    def words(self, subject: str) -> SubjectWords:
        """The words of *subject*; none when the package does not know it."""
        file = self.subjects.get(subject)
        return _subject_words(file) if file else NO_WORDS

    def safety(self) -> tuple[SafetyTable, ...]:
        """The safety rules."""
        return _safety_tables(self.safety_file) if self.safety_file else ()


NO_VOCABULARY = Vocabulary()


@functools.lru_cache(maxsize=32)
def _subject_words(file: TextFile) -> SubjectWords:
    """Cached: the package's data stays the same while the sources file is edited."""
    table = read_table(file, VocabularyTable)
    return SubjectWords(file.name, tuple(table.terms.items()), tuple(table.patterns))


@functools.lru_cache(maxsize=4)
def _safety_tables(file: TextFile) -> tuple[SafetyTable, ...]:
    return tuple(read_table(file, SafetyFileTable).safety)


def texts_digest(texts: tuple[str, ...]) -> str:
    """Twelve hexadecimal digits of the SHA-256 of *texts*."""
    joined = "\0".join(texts)
    return hashlib.sha256(joined.encode(errors="replace")).hexdigest()[:12]
