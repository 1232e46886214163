"""What is in force once files, included files and the package's vocabulary are put together.

Each thing comes with the file and line where it stands, so that people know what to edit.
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
"""Where a default stands that no file sets."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A file and the line in it, from one; 0 where the file as a whole is meant."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """A key of `[retrieval]`."""

    key: str
    value: str | float
    place: FilePlace


@dataclass(frozen=True, slots=True)
class WordsInForce:
    """A term, or the regular expression of a pattern, and the package's weight if it differs."""

    text: str
    weight: float
    place: FilePlace
    overruled: float | None = None


@dataclass(frozen=True, slots=True)
class PersonaInForce:
    """One of the voices."""

    persona: Persona
    place: FilePlace


@dataclass(frozen=True, slots=True)
class HelpInForce:
    """Somebody to turn to."""

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
    """A domain whole."""

    name: str
    title: str
    place: FilePlace
    vocabulary: str
    """The package's file about it; empty for none."""
    terms: tuple[WordsInForce, ...]
    patterns: tuple[WordsInForce, ...]
    pages: tuple[PageInForce, ...]
    help: tuple[HelpInForce, ...]
    examples: tuple[ExampleInForce, ...]
    not_examples: tuple[ExampleInForce, ...]


@dataclass(frozen=True, slots=True)
class InForce:
    """All that Judge knows."""

    retrieval: tuple[EffectiveSetting, ...]
    personas: tuple[EffectivePersona, ...]
    blocked_help: tuple[EffectiveHelp, ...]
    safety: tuple[SafetyRule, ...]
    domains: tuple[EffectiveDomain, ...]


class Places:
    """Finds what stands where in *files*, each of which is read once and when it is asked for."""

    def __init__(self, files: Iterable[TextFile]) -> None:
        self._files = {file.name: file for file in files}
        self._places: dict[str, TomlPlaces] = {}

    def of(self, file: str, *path: int | str) -> FilePlace:
        """Where *path* stands in the *file* of this name, else what holds it."""
        return FilePlace(file, self._in(file).nearest(path) or 0)

    def line(self, file: str, *path: int | str) -> int:
        """The line in which *path* itself stands; 0 when it does not."""
        return self._in(file).lines.get(path, 0)

    def _in(self, file: str) -> TomlPlaces:
        if file not in self._places:
            self._places[file] = TomlPlaces(self._files[file].text if file in self._files else "")
        return self._places[file]


def in_force(known: Knowledge, files: Sequence[TextFile]) -> InForce:
    """What is in force of *known*, which was made from *files*, the package's among them."""
    places, catalog = Places(files), known.catalog
    return InForce(
        retrieval=tuple(_retrieval(catalog, places)),
        personas=tuple(
            PersonaInForce(persona, _setting(catalog, places, "personas", index))
            for index, persona in enumerate(known.personas)
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
    """Ours, with what they overrule, then the package's that are left, by weight."""
    package = {term_words(text): (text, weight) for text, weight in domain.vocabulary.terms}
    found = []
    for text, weight in domain.terms:
        _, overruled = package.pop(term_words(text), ("", None))
        place = places.of(domain.file, "domains", domain.name, "terms", text)
        found.append(WordsInForce(text, weight, place, overruled if overruled != weight else None))
    file = domain.vocabulary.file
    found += [WordsInForce(t, w, places.of(file, "terms", t)) for t, w in package.values()]
    yield from sorted(found, key=lambda term: -abs(term.weight))


def _patterns(domain: DomainSpec, places: Places) -> Iterator[EffectiveTerm]:
    for index, item in enumerate(domain.patterns):
        place = places.of(domain.file, "domains", domain.name, "patterns", index)
        yield EffectiveTerm(item.regex, item.weight, place)
    for index, item in enumerate(domain.vocabulary.patterns):
        place = places.of(domain.vocabulary.file, "patterns", index)
        yield EffectiveTerm(item.regex, item.weight, place)
