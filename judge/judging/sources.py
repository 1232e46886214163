"""What we know: the sources file, those it includes and the package's vocabulary become a catalog.

What people write by hand is read in sources_file/; what the rest of Judge sees are the frozen
dataclasses below.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from judge.judging.sources_file.read_table import Mistake, read_table, refusal
from judge.judging.sources_file.tables import (
    DomainTable,
    HelpTable,
    PatternTable,
    SafetyTable,
    SourcesTable,
    SourceTable,
)
from judge.judging.vocabulary import (
    NO_VOCABULARY,
    NO_WORDS,
    SubjectWords,
    Vocabulary,
    digest_of,
)
from judge.types.references import RetrievalSettings, SourceSpec
from judge.types.replies import Persona
from judge.types.results import HelpLine
from judge.types.text_files import TextFile

SOURCES_FILE = "sources.toml"
"""What errors call a sources file that is given as text alone."""

ONCE = ("retrieval", "blocked", "personas")
"""What may stand in one of several files only."""


@dataclass(frozen=True, slots=True)
class DomainSpec:
    """A subject area: what its texts look like and which pages may be quoted for it.

    `terms` and `patterns` are those of the sources file; `vocabulary` holds the package's, whose
    terms are overruled by terms of the same words.
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

    @property
    def all_patterns(self) -> tuple[PatternTable, ...]:
        """The patterns in force."""
        return (*self.vocabulary.patterns, *self.patterns)


@dataclass(frozen=True, slots=True)
class SafetyRule:
    """Terms and patterns that call for care, and who can help."""

    terms: tuple[str, ...]
    patterns: tuple[str, ...]
    help: tuple[HelpLine, ...]
    harmless: tuple[str, ...] = ()
    """Patterns of phrases that are taken out before anything is looked for."""
    name: str = ""
    files: tuple[str, ...] = field(default=(), compare=False)
    """Where it stands: our file, the package's, or both."""


@dataclass(frozen=True, slots=True)
class SourceCatalog:
    """Valid sources as a whole; `digest` identifies all that they were made from.

    `files` tells which file holds `retrieval`, `blocked` and `personas`; none by default.
    """

    retrieval: RetrievalSettings
    domains: tuple[DomainSpec, ...]
    safety: tuple[SafetyRule, ...]
    blocked_help: tuple[HelpLine, ...]
    personas: tuple[Persona, ...]
    digest: str
    files: Mapping[str, str] = field(default_factory=dict, compare=False)

    def domain_help(self, name: str) -> tuple[HelpLine, ...]:
        """The help lines of the domain called *name*; none for `default`."""
        return next((domain.help for domain in self.domains if domain.name == name), ())


@dataclass(frozen=True, slots=True)
class _SourcesFile:
    """One file and what stands in it."""

    file: TextFile
    table: SourcesTable

    def has(self, key: str) -> bool:
        return key in self.table.model_fields_set


def parse_sources(
    main: TextFile | str, *included: TextFile, vocabulary: Vocabulary = NO_VOCABULARY
) -> SourceCatalog:
    """The catalog in the sources file *main* and those it includes, over *vocabulary*.

    Raises ConfigurationError naming the file, line and key of each mistake, and its fix.
    """
    first = main if isinstance(main, TextFile) else TextFile(SOURCES_FILE, main)
    files = [_SourcesFile(file, read_table(file, SourcesTable)) for file in (first, *included)]
    known = vocabulary if files[0].table.vocabulary else NO_VOCABULARY
    mistakes = list(_misfits(files, known))
    if mistakes:
        raise refusal(mistakes)
    table = {key: next((f.table for f in files if f.has(key)), files[0].table) for key in ONCE}
    return SourceCatalog(
        retrieval=RetrievalSettings(**table["retrieval"].retrieval.model_dump()),
        domains=tuple(
            _domain(name, domain, one.file.name, known)
            for one in files
            for name, domain in one.table.domains.items()
        ),
        safety=_safety(
            [_rule(rule, one.file.name) for one in files for rule in one.table.safety],
            {rule.name for one in files for rule in one.table.safety if not rule.vocabulary},
            known,
        ),
        blocked_help=_help_lines(table["blocked"].blocked.help),
        personas=tuple(Persona(item.name, item.brief) for item in table["personas"].personas),
        digest=digest_of((*(one.file.text for one in files), *vocabulary.texts)),
        files={key: one.file.name for key in ONCE for one in files if one.has(key)},
    )


def _misfits(files: Sequence[_SourcesFile], vocabulary: Vocabulary) -> Iterator[Mistake]:
    """What is wrong with *files* that no table shows by itself."""
    seen: dict[tuple[str, ...], str] = {}
    for index, one in enumerate(files):
        names = [("domains", name) for name in one.table.domains]
        for path in [*((key,) for key in ONCE if one.has(key)), *names]:
            if path in seen:
                yield Mistake(one.file, path, f"is in {seen[path]} too; keep it in one file")
            seen.setdefault(path, one.file.name)
        for key in ("include", "vocabulary"):
            if index and one.has(key):
                yield Mistake(one.file, (key,), f"belongs in {files[0].file.name}; move it")
        yield from _misfits_within(one, vocabulary)
    if not any(one.table.domains for one in files):
        yield Mistake(files[0].file, ("domains",), "add at least one, as in [domains.tenancy]")


def _misfits_within(one: _SourcesFile, vocabulary: Vocabulary) -> Iterator[Mistake]:
    """Lists of *one* file that hold something twice, and safety rules that nothing can meet."""
    file, table = one.file, one.table
    yield from _repeated(file, ("personas",), "name", [persona.name for persona in table.personas])
    for name, domain in table.domains.items():
        pages = [source.url for source in domain.sources]
        yield from _repeated(file, ("domains", name, "sources"), "url", pages)
    ruled = {rule.name for rule in vocabulary.safety()}
    for index, rule in enumerate(table.safety):
        if not rule.terms and not rule.patterns and rule.name not in ruled:
            yield Mistake(file, ("safety", index), _without_trigger(rule, ruled))


def _repeated(
    file: TextFile, path: tuple[str, ...], key: str, values: Sequence[str]
) -> Iterator[Mistake]:
    """Each of *values*, in the list at *path*, that stood there before."""
    for index, value in enumerate(values):
        if value in values[:index]:
            first = values.index(value) + 1
            fix = f"{value!r} is number {first} of the list too; remove one"
            yield Mistake(file, (*path, index, key), fix)


def _without_trigger(rule: SafetyTable, ruled: Iterable[str | None]) -> str:
    """What a safety rule needs that would never be met."""
    if rule.name is None:
        return "needs terms or patterns; add at least one term"
    valid = ", ".join(sorted(name for name in ruled if name)) or "none here"
    return f"needs terms or patterns, or the name of one of the package's rules ({valid})"


def _domain(name: str, table: DomainTable, file: str, vocabulary: Vocabulary) -> DomainSpec:
    return DomainSpec(
        name=name,
        title=table.title or name.replace("_", " ").replace("-", " ").capitalize(),
        terms=tuple(table.terms.items()),
        patterns=tuple(table.patterns),
        examples=tuple(example.text for example in table.examples),
        sources=tuple(_source(source) for source in table.sources),
        not_examples=tuple(example.text for example in table.not_examples),
        help=_help_lines(table.help),
        vocabulary=vocabulary.words(name) if table.vocabulary else NO_WORDS,
        file=file,
    )


def _source(table: SourceTable) -> SourceSpec:
    topics, nations = tuple(table.topics), tuple(table.nations)
    return SourceSpec(table.url, table.title, topics, nations, table.selector)


def _safety(
    ours: Sequence[SafetyRule], replaced: Iterable[str | None], vocabulary: Vocabulary
) -> tuple[SafetyRule, ...]:
    """The rules of the sources files first, then those of the package that they leave alone.

    A rule with the name of one of the package's adds to it and overrules its help lines, or
    with `vocabulary = false`, which its name is *replaced* for, stands in its place.
    """
    file = vocabulary.safety_file.name if vocabulary.safety_file else ""
    by_name = {rule.name: _rule(rule, file) for rule in vocabulary.safety() if rule.name}
    rules = []
    for rule in ours:
        base = by_name.pop(rule.name, None)
        rules.append(_joined(base, rule) if base and rule.name not in replaced else rule)
    # A rule that was only switched off has nothing left to look for.
    return tuple(rule for rule in (*rules, *by_name.values()) if rule.terms or rule.patterns)


def _joined(base: SafetyRule, more: SafetyRule) -> SafetyRule:
    return dataclasses.replace(
        base,
        terms=(*base.terms, *more.terms),
        patterns=(*base.patterns, *more.patterns),
        harmless=(*base.harmless, *more.harmless),
        help=more.help or base.help,
        files=(*base.files, *more.files),
    )


def _rule(table: SafetyTable, file: str) -> SafetyRule:
    return SafetyRule(
        tuple(table.terms),
        tuple(table.patterns),
        _help_lines(table.help),
        tuple(table.harmless),
        table.name or "",
        (file,),
    )


def _help_lines(lines: Iterable[HelpTable]) -> tuple[HelpLine, ...]:
    return tuple(HelpLine(line.title, line.url, line.phone) for line in lines)
