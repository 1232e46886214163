"""The effective configuration, from the sources file, its includes and the package's vocabulary.

Each value comes with its file and line, so that people know what to edit.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

from judge.judging.domains import term_words
from judge.judging.knowledge import Knowledge
from judge.judging.sources import DomainSpec, SafetyRule, SourceCatalog
from judge.judging.sources_file.toml_lines import TomlPlaces
from judge.types.references import SourceSpec
from judge.types.replies import Persona
from judge.types.results import HelpLine
from judge.types.text_files import TextFile

BUILT_IN = "built in"
"""The place of a default that no file sets."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A file and a line in it, counted from 1; line 0 means the whole file."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """A key of `[retrieval]` with its value."""

    key: str
    value: str | float
    place: FilePlace


@dataclass(frozen=True, slots=True)
class WordsInForce:
    """A term or the regular expression of a pattern; `overruled` is a differing package weight."""

    text: str
    weight: float
    place: FilePlace
    overruled: float | None = None


@dataclass(frozen=True, slots=True)
class PersonaInForce:
    """A persona."""

    persona: Persona
    place: FilePlace


@dataclass(frozen=True, slots=True)
class HelpInForce:
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
class DomainInForce:
    """Everything about one domain."""

    name: str
    title: str
    place: FilePlace
    vocabulary: str
    """The package's vocabulary file for it, or empty."""
    terms: tuple[WordsInForce, ...]
    patterns: tuple[WordsInForce, ...]
    pages: tuple[PageInForce, ...]
    help: tuple[HelpInForce, ...]
    examples: tuple[ExampleInForce, ...]
    not_examples: tuple[ExampleInForce, ...]


@dataclass(frozen=True, slots=True)
class InForce:
    """The whole effective configuration."""

    retrieval: tuple[EffectiveSetting, ...]
    personas: tuple[EffectivePersona, ...]
    blocked_help: tuple[EffectiveHelp, ...]
    safety: tuple[SafetyRule, ...]
    domains: tuple[EffectiveDomain, ...]


class Places:
    """Finds the lines of keys in *files*, each of which is parsed once, at first use."""

    def __init__(self, files: Iterable[TextFile]) -> None:
        self._files = {file.name: file for file in files}
        self._places: dict[str, TomlPlaces] = {}

    def of(self, file: str, *path: int | str) -> FilePlace:
        """The place of *path* in the *file* of this name, else of the nearest table around it."""
        return FilePlace(file, self._in(file).nearest(path) or 0)

    def line(self, file: str, *path: int | str) -> int:
        """The line of *path* itself, or 0 when the file does not have it."""
        return self._in(file).lines.get(path, 0)

    def _in(self, file: str) -> TomlPlaces:
        if file not in self._places:
            self._places[file] = TomlPlaces(self._files[file].text if file in self._files else "")
        return self._places[file]


def in_force(knowledge: Knowledge, files: Sequence[TextFile]) -> InForce:
    """The contents of *knowledge* with their places in *files*, the package's files among them."""
    places, catalog = Places(files), knowledge.catalog
    return InForce(
        retrieval=tuple(_retrieval(catalog, places)),
        personas=tuple(
            PersonaInForce(persona, _setting(catalog, places, "personas", index))
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


def _terms(domain: DomainSpec, places: Places) -> Iterator[WordsInForce]:
    """The terms of the sources file and those of the package it does not overrule, by weight."""
    package = {term_words(text): (text, weight) for text, weight in domain.vocabulary.terms}
    terms = []
    for text, weight in domain.terms:
        _, overruled = package.pop(term_words(text), ("", None))
        place = places.of(domain.file, "domains", domain.name, "terms", text)
        terms.append(WordsInForce(text, weight, place, overruled if overruled != weight else None))
    file = domain.vocabulary.file
    terms += [WordsInForce(t, w, places.of(file, "terms", t)) for t, w in package.values()]
    yield from sorted(terms, key=lambda term: -abs(term.weight))


def _patterns(domain: DomainSpec, places: Places) -> Iterator[EffectiveTerm]:
    for index, item in enumerate(domain.patterns):
        place = places.of(domain.file, "domains", domain.name, "patterns", index)
        yield EffectiveTerm(item.regex, item.weight, place)
    for index, item in enumerate(domain.vocabulary.patterns):
        place = places.of(domain.vocabulary.file, "patterns", index)
        yield EffectiveTerm(item.regex, item.weight, place)
