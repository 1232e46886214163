"""What we know: the text of `sources.toml` becomes a SourceCatalog, or an error that helps."""

from dataclasses import dataclass

from judge.types.judging import HelpLine, Persona, RetrievalSettings, SourceSpec


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression (case is ignored) and what a match weighs."""

    regex: str
    weight: float


@dataclass(frozen=True, slots=True)
class DomainSpec:
    """A subject area: what its texts look like and which pages may be quoted for it."""

    name: str
    title: str
    terms: tuple[tuple[str, float], ...]
    patterns: tuple[Pattern, ...]
    examples: tuple[str, ...]
    sources: tuple[SourceSpec, ...]


@dataclass(frozen=True, slots=True)
class SafetyRule:
    """Terms and patterns that call for care, and who can help."""

    terms: tuple[str, ...]
    patterns: tuple[str, ...]
    help: tuple[HelpLine, ...]


@dataclass(frozen=True, slots=True)
class SourceCatalog:
    """A whole, valid sources file; `digest` identifies its text."""

    retrieval: RetrievalSettings
    domains: tuple[DomainSpec, ...]
    safety: tuple[SafetyRule, ...]
    blocked_help: tuple[HelpLine, ...]
    personas: tuple[Persona, ...]
    digest: str


def parse_sources(text: str) -> SourceCatalog:
    """The catalog in *text*; raises ConfigurationError naming each wrong key and its fix."""
    raise NotImplementedError
