"""Makes a catalog of the sources file, the files it includes and the package's vocabulary.

The tables beside it are what is written in the files; the rest of Judge uses the dataclasses below.
"""

import dataclasses
import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from judge.library.country import DATE_FORMATS, Country, compile_places, plain_name
from judge.library.sources.tables import (
    PACKAGE,
    CountryTable,
    DomainTable,
    HelpTable,
    Mistake,
    PackageTable,
    PatternTable,
    SafetyTable,
    SourcesTable,
    configuration_error,
    read_table,
)
from judge.types.references import RetrievalSettings, SourceSpec
from judge.types.replies import Persona
from judge.types.results import HelpLine
from judge.types.text_files import TextFile

SOURCES_FILE = "sources.toml"
"""The name used in errors for a sources file that is given as text."""

SINGLETONS = ("country", "retrieval", "blocked", "personas")
"""Tables that only one of the files may contain."""


@dataclass(frozen=True, slots=True)
class SubjectWords:
    """The weighted terms and patterns of one subject, and the file that holds them."""

    file: str = ""
    terms: tuple[tuple[str, float], ...] = ()
    patterns: tuple[PatternTable, ...] = ()


NO_WORDS = SubjectWords()
"""For a subject without a data file, or one whose vocabulary is switched off."""

MIN_OWN_NUMBER = 8
"""Characters of a phone number that only one service has, spaces included."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of each subject and the safety rules that come with the package, from *files*."""

    subjects: Mapping[str, SubjectWords] = field(default_factory=dict)
    safety: tuple[SafetyTable, ...] = ()
    files: tuple[TextFile, ...] = ()


NO_VOCABULARY = Vocabulary()


def read_vocabulary(subjects: Mapping[str, TextFile], safety: TextFile) -> Vocabulary:
    """The vocabulary in a file for each of the *subjects*, and one with the *safety* rules."""
    words = {}
    for name, file in subjects.items():
        table = read_table(file, PackageTable, context=PACKAGE)
        words[name] = SubjectWords(file.name, tuple(table.terms.items()), tuple(table.patterns))
    rules = read_table(safety, PackageTable, context=PACKAGE).safety
    return Vocabulary(words, tuple(rules), (*subjects.values(), safety))


@functools.cache
def package_vocabulary() -> Vocabulary:
    """What comes with Judge."""
    names = sorted(entry.name for entry in files("judge.vocabulary").joinpath("domains").iterdir())
    subjects = {
        name.removesuffix(".toml"): _package_file(f"domains/{name}")
        for name in names
        if name.endswith(".toml")
    }
    return read_vocabulary(subjects, _package_file("safety.toml"))


@functools.cache
def package_countries() -> tuple[CountryTable, ...]:
    """The countries that the package knows; a file that names none has the first."""
    file = _package_file("countries.toml")
    return tuple(read_table(file, PackageTable).countries)


def _package_file(name: str) -> TextFile:
    text = files("judge.vocabulary").joinpath(name).read_text("utf-8")
    return TextFile(f"judge/vocabulary/{name}", text)


@dataclass(frozen=True, slots=True)
class DomainSpec:
    """A subject area: the words that detect it and the pages that may be quoted for it.

    `terms` and `patterns` come from the sources file; `vocabulary` holds those of the package. A
    term of the file overrules a term of the package with the same words.
    """

    name: str
    title: str
    terms: tuple[tuple[str, float], ...]
    patterns: tuple[PatternTable, ...]
    examples: tuple[str, ...]
    sources: tuple[SourceSpec, ...]
    not_examples: tuple[str, ...] = ()
    help: tuple[HelpLine, ...] = ()
    vocabulary: SubjectWords = NO_WORDS
    file: str = SOURCES_FILE


@dataclass(frozen=True, slots=True)
class SafetyRule:
    """Terms and patterns that suggest danger, and the help lines to show for them."""

    terms: tuple[str, ...]
    patterns: tuple[str, ...]
    help: tuple[HelpLine, ...]
    harmless: tuple[str, ...] = ()
    """Patterns of phrases that are removed from the text before matching."""
    name: str = ""
    files: tuple[str, ...] = field(default=(), compare=False)
    """The files that define it: the sources file, the package's, or both."""


@dataclass(frozen=True, slots=True)
class SourceCatalog:
    """The validated sources; `digest` identifies the texts that they were made from.

    `files` maps the tables of SINGLETONS to the file that sets them, if one does. `foreign_help`
    are the addresses and numbers of help lines that are known to be another country's.
    """

    country: Country
    retrieval: RetrievalSettings
    domains: tuple[DomainSpec, ...]
    safety: tuple[SafetyRule, ...]
    blocked_help: tuple[HelpLine, ...]
    personas: tuple[Persona, ...]
    digest: str
    files: Mapping[str, str] = field(default_factory=dict, compare=False)
    foreign_help: frozenset[str] = frozenset()

    def domain_help(self, name: str) -> tuple[HelpLine, ...]:
        """The help lines of the domain called *name*; none for `default`."""
        return next((domain.help for domain in self.domains if domain.name == name), ())


_Parsed = Sequence[tuple[TextFile, SourcesTable]]
"""The sources file and those it includes, each with its table."""


def parse_sources(
    main: TextFile | str, *included: TextFile, vocabulary: Vocabulary = NO_VOCABULARY
) -> SourceCatalog:
    """The catalog in the sources file *main* and those it includes, over *vocabulary*.

    Raises ConfigurationError naming the file, line and key of each mistake, and its fix.
    """
    first = main if isinstance(main, TextFile) else TextFile(SOURCES_FILE, main)
    parsed = [(file, read_table(file, SourcesTable)) for file in (first, *included)]
    package = vocabulary if parsed[0][1].vocabulary else NO_VOCABULARY
    holders = {key: one for one in parsed for key in SINGLETONS if key in one[1].model_fields_set}
    table = {key: holders.get(key, parsed[0])[1] for key in SINGLETONS}
    country = _joined_country(table["country"].country)
    if mistakes := [*_misplaced(parsed), *_mistakes_within(parsed, package, country.regions)]:
        raise configuration_error(mistakes)
    texts = "\0".join(file.text for file in (first, *included, *vocabulary.files))
    return SourceCatalog(
        country=_country(country),
        retrieval=RetrievalSettings(**table["retrieval"].retrieval.model_dump()),
        domains=tuple(
            _domain(name, domain, file.name, package)
            for file, own in parsed
            for name, domain in own.domains.items()
        ),
        safety=_safety(parsed, package, country.name),
        blocked_help=_help_lines(table["blocked"].blocked.help),
        personas=tuple(Persona(item.name, item.brief) for item in table["personas"].personas),
        digest=hashlib.sha256(texts.encode(errors="replace")).hexdigest()[:12],
        files={key: file.name for key, (file, _) in holders.items()},
        foreign_help=_foreign_help([own for _, own in parsed], vocabulary, country.name),
    )


def _joined_country(own: CountryTable | None) -> CountryTable:
    """*own* over what the package knows of that country; without one, the package's first."""
    known = package_countries()
    if own is None:
        return known[0]
    base = next((other for other in known if _is_same(other.name, own.name)), None)
    if base is None:
        return own
    said = {key: getattr(own, key) for key in own.model_fields_set}
    for key in ("places", "patterns"):
        ours, theirs = getattr(own, key), getattr(base, key)
        said[key] = {
            region: [*theirs.get(region, ()), *ours.get(region, ())]
            for region in {**theirs, **ours}
        }
    return base.model_copy(update=said)


def _is_same(name: str, other: str) -> bool:
    return plain_name(name) == plain_name(other)


def _country(table: CountryTable) -> Country:
    """*table* compiled, with the places of all other countries that the package knows."""
    others = [other for other in package_countries() if not _is_same(other.name, table.name)]
    return Country(
        name=table.name,
        language=table.language,
        regions=tuple(table.regions),
        assumed=table.assumed or "",
        date_format=DATE_FORMATS[table.dates],
        emergency=_help_lines(table.emergency),
        region_names=(
            *((region.replace("-", " "), (region,)) for region in table.regions),
            *((name.casefold(), tuple(regions)) for name, regions in table.groups.items()),
        ),
        places=compile_places(table, others),
    )


def _foreign_help(
    tables: Iterable[SourcesTable], vocabulary: Vocabulary, country: str
) -> frozenset[str]:
    """The addresses and numbers of lines that say that they are another country's.

    Short numbers are left out: emergency numbers are the same in many countries.
    """
    lines = [line for rule in vocabulary.safety for line in rule.help]
    for table in tables:
        lines += [line for rule in table.safety for line in rule.help]
        lines += [line for domain in table.domains.values() for line in domain.help]
        lines += table.blocked.help
    abroad = [line for line in lines if line.country and not _is_same(line.country, country)]
    phones = (line.phone for line in abroad if len(line.phone) >= MIN_OWN_NUMBER)
    return frozenset([*(line.url for line in abroad), *phones])


def _misplaced(parsed: _Parsed) -> Iterator[Mistake]:
    """Tables and keys that stand in more than one file or in the wrong one, or nowhere."""
    seen: dict[tuple[str, ...], str] = {}
    main = parsed[0][0]
    for file, table in parsed:
        keys = table.model_fields_set
        names = [("domains", name) for name in table.domains]
        for path in [*((key,) for key in SINGLETONS if key in keys), *names]:
            if path in seen:
                yield Mistake(file, path, f"is in {seen[path]} too; keep it in one file")
            seen.setdefault(path, file.name)
        for key in ("include", "vocabulary"):
            if file is not main and key in keys:
                yield Mistake(file, (key,), f"belongs in {main.name}; move it")
    if not any(table.domains for _, table in parsed):
        yield Mistake(main, ("domains",), "add at least one, as in [domains.tenancy]")


def _mistakes_within(
    parsed: _Parsed, package: Vocabulary, regions: Sequence[str]
) -> Iterator[Mistake]:
    """Duplicates in a list, regions that `[country]` does not list, rules that cannot match."""
    fix = f"must be one of {', '.join(regions)}"
    fix = fix if regions else "needs regions in [country], which lists none"
    package_rules = sorted(rule.name for rule in package.safety if rule.name)
    for file, table in parsed:
        yield from _duplicates(file, ("personas",), "name", [p.name for p in table.personas])
        if table.country and table.country.assumed not in {None, *regions}:
            yield Mistake(file, ("country", "assumed"), fix)
        for name, domain in table.domains.items():
            path = ("domains", name, "sources")
            yield from _duplicates(file, path, "url", [page.url for page in domain.sources])
            for index, page in enumerate(domain.sources):
                for at in (n for n, region in enumerate(page.nations) if region not in regions):
                    yield Mistake(file, (*path, index, "nations", at), fix)
        for index, rule in enumerate(table.safety):
            if not rule.terms and not rule.patterns and rule.name not in package_rules:
                valid = ", ".join(package_rules) or "none here"
                needs = f"needs terms or patterns, or the name of a rule of the package ({valid})"
                yield Mistake(file, ("safety", index), needs)


def _duplicates(
    file: TextFile, path: tuple[str, ...], key: str, values: Sequence[str]
) -> Iterator[Mistake]:
    """A mistake for each of *values*, in the list at *path*, that occurs earlier in it."""
    for index, value in enumerate(values):
        if value in values[:index]:
            first = values.index(value) + 1
            fix = f"{value!r} is number {first} of the list too; remove one"
            yield Mistake(file, (*path, index, key), fix)


def _domain(name: str, table: DomainTable, file: str, vocabulary: Vocabulary) -> DomainSpec:
    words = vocabulary.subjects.get(name, NO_WORDS)
    return DomainSpec(
        name=name,
        title=table.title or name.replace("_", " ").replace("-", " ").capitalize(),
        terms=tuple(table.terms.items()),
        patterns=tuple(table.patterns),
        examples=tuple(example.text for example in table.examples),
        sources=tuple(
            SourceSpec(page.url, page.title, tuple(page.topics), tuple(page.nations), page.selector)
            for page in table.sources
        ),
        not_examples=tuple(example.text for example in table.not_examples),
        help=_help_lines(table.help),
        vocabulary=words if table.vocabulary else NO_WORDS,
        file=file,
    )


def _safety(parsed: _Parsed, package: Vocabulary, country: str) -> tuple[SafetyRule, ...]:
    """The rules of the sources files, then those of the package that have no rule of their name.

    A rule with the name of one of the package's extends it and overrules its help lines; with
    `vocabulary = false` it replaces it. The package's help lines count only in the country that
    they name.
    """
    base = {table.name: _rule(table, package.files[-1].name, country) for table in package.safety}
    rules = []
    for file, sources in parsed:
        for table in sources.safety:
            rule, known = _rule(table, file.name), base.pop(table.name, None)
            rules.append(_joined(known, rule) if known and table.vocabulary else rule)
    # A rule that only switches off one of the package's has nothing to match.
    return tuple(rule for rule in (*rules, *base.values()) if rule.terms or rule.patterns)


def _joined(base: SafetyRule, more: SafetyRule) -> SafetyRule:
    keys = ("terms", "patterns", "harmless", "files")
    both: dict[str, Any] = {key: (*getattr(base, key), *getattr(more, key)) for key in keys}
    return dataclasses.replace(base, help=more.help or base.help, **both)


def _rule(table: SafetyTable, file: str, country: str = "") -> SafetyRule:
    """The rule in *table*; with a *country*, only with the help lines of that country."""
    lines = [line for line in table.help if not country or _is_same(line.country, country)]
    terms, patterns, harmless = map(tuple, (table.terms, table.patterns, table.harmless))
    return SafetyRule(terms, patterns, _help_lines(lines), harmless, table.name or "", (file,))


def _help_lines(lines: Iterable[HelpTable]) -> tuple[HelpLine, ...]:
    return tuple(HelpLine(line.title, line.url, line.phone) for line in lines)
