"""The effective configuration, merged from the files, their includes and the package's vocabulary.

Each item has the file and line that it comes from, so that people know what to edit.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

from judge.judging.domains import term_words
from judge.judging.knowledge import Knowledge
from judge.library.sources.catalog import DomainSpec, SafetyRule, SourceCatalog
from judge.library.sources.toml_lines import TomlPlaces
from judge.types.references import SourceSpec
from judge.types.replies import Persona
from judge.types.results import HelpLine
from judge.types.text_files import TextFile

BUILT_IN = "built in"
"""The place of a default that no file sets."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A file and a line in it, from 1; 0 means the file as a whole."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """A key of `[retrieval]`."""

    key: str
    value: str | float
    place: FilePlace


@dataclass(frozen=True, slots=True)
class EffectiveTerm:
    """A term, or the regex of a pattern; `overruled` is the package's weight if it differs."""

    text: str
    weight: float
    place: FilePlace
    overruled: float | None = None


@dataclass(frozen=True, slots=True)
class EffectivePersona:
    """A configured persona."""

    persona: Persona
    place: FilePlace


@dataclass(frozen=True, slots=True)
class EffectiveHelp:
    """A help line."""

    line: HelpLine
    place: FilePlace


@dataclass(frozen=True, slots=True)
class EffectivePage:
    """An approved page."""

    source: SourceSpec
    place: FilePlace


@dataclass(frozen=True, slots=True)
class EffectiveExample:
    """A text that must, or must not, get its domain."""

    text: str
    place: FilePlace


@dataclass(frozen=True, slots=True)
class EffectiveDomain:
    """A domain with all that belongs to it."""

    name: str
    title: str
    place: FilePlace
    vocabulary: str
    """The package's file about it; empty for none."""
    terms: tuple[EffectiveTerm, ...]
    patterns: tuple[EffectiveTerm, ...]
    pages: tuple[EffectivePage, ...]
    help: tuple[EffectiveHelp, ...]
    examples: tuple[EffectiveExample, ...]
    not_examples: tuple[EffectiveExample, ...]


@dataclass(frozen=True, slots=True)
class EffectiveSources:
    """The whole effective configuration."""

    retrieval: tuple[EffectiveSetting, ...]
    personas: tuple[EffectivePersona, ...]
    blocked_help: tuple[EffectiveHelp, ...]
    safety: tuple[SafetyRule, ...]
    domains: tuple[EffectiveDomain, ...]


class Places:
    """Finds the lines of keys in *files*, each of which is parsed once, when it is first needed."""

    def __init__(self, files: Iterable[TextFile]) -> None:
        self._files = {file.name: file for file in files}
        self._places: dict[str, TomlPlaces] = {}

    def of(self, file: str, *path: int | str) -> FilePlace:
        """The place of *path* in the *file* of this name, or of its nearest parent there."""
        return FilePlace(file, self._in(file).nearest(path) or 0)

    def line(self, file: str, *path: int | str) -> int:
        """The line of *path* itself; 0 if it is missing."""
        return self._in(file).lines.get(path, 0)

    def _in(self, file: str) -> TomlPlaces:
        if file not in self._places:
            self._places[file] = TomlPlaces(self._files[file].text if file in self._files else "")
        return self._places[file]


def effective_sources(knowledge: Knowledge, files: Sequence[TextFile]) -> EffectiveSources:
    """The effective configuration of *knowledge*, made from *files*, the package's included."""
    places, catalog = Places(files), knowledge.catalog
    return EffectiveSources(
        retrieval=tuple(_retrieval(catalog, places)),
        personas=tuple(
            EffectivePersona(persona, _setting(catalog, places, "personas", index))
            for index, persona in enumerate(knowledge.personas)
        ),
        blocked_help=tuple(
            EffectiveHelp(line, _setting(catalog, places, "blocked", "help", index))
            for index, line in enumerate(catalog.blocked_help)
        ),
        safety=catalog.safety,
        domains=tuple(_domain(domain, places) for domain in catalog.domains),
    )


def _setting(catalog: SourceCatalog, places: Places, key: str, *path: int | str) -> FilePlace:
    file = catalog.files.get(key)
    return places.of(file, key, *path) if file else FilePlace(BUILT_IN)


def _retrieval(catalog: SourceCatalog, places: Places) -> Iterator[EffectiveSetting]:
    file = catalog.files.get("retrieval", "")
    for field in fields(catalog.retrieval):
        line = places.line(file, "retrieval", field.name)
        place = FilePlace(file, line) if line else FilePlace(BUILT_IN)
        yield EffectiveSetting(field.name, getattr(catalog.retrieval, field.name), place)


def _domain(domain: DomainSpec, places: Places) -> EffectiveDomain:
    at = ("domains", domain.name)
    return EffectiveDomain(
        name=domain.name,
        title=domain.title,
        place=places.of(domain.file, *at),
        vocabulary=domain.vocabulary.file,
        terms=tuple(_terms(domain, places)),
        patterns=tuple(_patterns(domain, places)),
        pages=tuple(
            EffectivePage(source, places.of(domain.file, *at, "sources", index))
            for index, source in enumerate(domain.sources)
        ),
        help=tuple(
            EffectiveHelp(line, places.of(domain.file, *at, "help", index))
            for index, line in enumerate(domain.help)
        ),
        examples=examples_of(domain, places, "examples"),
        not_examples=examples_of(domain, places, "not_examples"),
    )


def examples_of(domain: DomainSpec, places: Places, key: str) -> tuple[EffectiveExample, ...]:
    """The texts of *domain* under *key*: `examples` or `not_examples`."""
    texts = domain.examples if key == "examples" else domain.not_examples
    return tuple(
        EffectiveExample(text, places.of(domain.file, "domains", domain.name, key, index, "text"))
        for index, text in enumerate(texts)
    )


def _terms(domain: DomainSpec, places: Places) -> Iterator[EffectiveTerm]:
    """The configured terms and the package's that they do not overrule, by descending weight."""
    package = {term_words(text): (text, weight) for text, weight in domain.vocabulary.terms}
    terms = []
    for text, weight in domain.terms:
        _, overruled = package.pop(term_words(text), ("", None))
        place = places.of(domain.file, "domains", domain.name, "terms", text)
        terms.append(EffectiveTerm(text, weight, place, overruled if overruled != weight else None))
    file = domain.vocabulary.file
    terms += [EffectiveTerm(t, w, places.of(file, "terms", t)) for t, w in package.values()]
    yield from sorted(terms, key=lambda term: -abs(term.weight))


def _patterns(domain: DomainSpec, places: Places) -> Iterator[EffectiveTerm]:
    for index, item in enumerate(domain.patterns):
        place = places.of(domain.file, "domains", domain.name, "patterns", index)
        yield EffectiveTerm(item.regex, item.weight, place)
    for index, item in enumerate(domain.vocabulary.patterns):
        place = places.of(domain.vocabulary.file, "patterns", index)
        yield EffectiveTerm(item.regex, item.weight, place)
