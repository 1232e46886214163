"""What we know: the text of `sources.toml` becomes a SourceCatalog, or an error that helps.

The tables of the file are pydantic models, since people write it by hand; what the rest of
Judge sees are the frozen dataclasses below.
"""

import difflib
import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from judge.errors import ConfigurationError
from judge.text.regex_limits import checked_regex
from judge.types.judgements import (
    DEFAULT_DOMAIN,
    HelpLine,
    Persona,
    RetrievalSettings,
    SourceSpec,
)

NATIONS = ("england", "scotland", "wales", "northern-ireland")
"""The values that `nations` may hold."""

MAX_CHARACTERS = 1024 * 1024
"""A file longer than this is a mistake; ours has about 40,000 characters."""

MAX_PROBLEMS = 20
"""Problems told at once; the rest is counted."""


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
    harmless: tuple[str, ...] = ()
    """Patterns of phrases that are taken out before anything is looked for."""


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
    file = _validated(_toml(text))
    return SourceCatalog(
        retrieval=RetrievalSettings(**file.retrieval.model_dump()),
        domains=tuple(table.spec(name) for name, table in file.domains.items()),
        safety=tuple(
            SafetyRule(
                tuple(rule.terms),
                tuple(rule.patterns),
                _help_lines(rule.help),
                tuple(rule.harmless),
            )
            for rule in file.safety
        ),
        blocked_help=_help_lines(file.blocked.help),
        personas=tuple(Persona(persona.name, persona.brief) for persona in file.personas),
        digest=hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12],
    )


def _toml(text: str) -> dict[str, Any]:
    """The tables in *text*."""
    if len(text) > MAX_CHARACTERS:
        message = f"The sources file has {len(text)} characters; keep it under {MAX_CHARACTERS}."
        raise ConfigurationError(message)
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"The sources file is not valid TOML: {error}.") from None
    except RecursionError:
        message = "The sources file nests brackets too deeply; keep lists and tables flat."
        raise ConfigurationError(message) from None


def _validated(tables: dict[str, Any]) -> "_File":
    """The typed file; raises ConfigurationError with a line for each problem."""
    try:
        return _File.model_validate(tables)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False)
        lines = [
            f"{_key(problem['loc'])}: {_fix(problem['loc'], problem['type'], problem['msg'])}"
            for problem in problems[:MAX_PROBLEMS]
        ]
        if len(problems) > MAX_PROBLEMS:
            lines.append(f"and {len(problems) - MAX_PROBLEMS} more")
        raise ConfigurationError(
            "The sources file cannot be used:\n  " + "\n  ".join(lines)
        ) from None


def _key(loc: Sequence[int | str]) -> str:
    """`("domains", "tenancy", "sources", 1)` as `domains.tenancy.sources[1]`."""
    path = ""
    for part in loc:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part != "[key]":
            is_bare = re.fullmatch(r"[\w-]+", part)
            path += f".{part}" if is_bare else f".{json.dumps(part, ensure_ascii=False)}"
    return path.removeprefix(".") or "the file"


def _fix(loc: Sequence[int | str], kind: str, message: str) -> str:
    """What to do about one problem."""
    if kind == "missing":
        return "is missing; add it"
    if kind in {"model_type", "dict_type"}:
        return "must be a table, as in [domains.tenancy]"
    if kind != "extra_forbidden":
        return message.removeprefix("Value error, ").removeprefix("Input ")
    valid = list(_table_at(loc[:-1]).model_fields)
    near = difflib.get_close_matches(str(loc[-1]), valid, n=1)
    if near:
        return f"unknown key; did you mean {near[0]}?"
    return f"unknown key; valid are {', '.join(valid)}"


def _table_at(loc: Sequence[int | str]) -> type[BaseModel]:
    """The model of the table that stands at *loc*."""
    if len(loc) == 2 and loc[0] == "domains":
        return _Domain
    names = [part for part in loc if isinstance(part, str)]
    return _TABLES[names[-1]] if names else _File


def _help_lines(lines: "Iterable[_Help]") -> tuple[HelpLine, ...]:
    return tuple(HelpLine(line.title, line.url, line.phone) for line in lines)


def _line(value: str) -> str:
    """*value* trimmed; refused when empty or when it is more than one printable line."""
    value = value.strip()
    if not value or not value.isprintable():
        raise ValueError("must be one line of text")
    return value


def _http_url(value: str) -> str:
    """*value*, if it is an address that can be fetched."""
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ValueError("must have no spaces or special characters; percent-encode them")
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"}:
        raise ValueError("must be http or https, as in https://www.gov.uk/private-renting")
    if not parts.hostname or parts.username is not None:
        raise ValueError("must have a host and no user name, as in https://www.gov.uk/")
    _ = parts.port  # raises ValueError when it is no port
    return value


def _header_text(value: str) -> str:
    """*value*, if it can stand in an HTTP header."""
    if not value.isascii() or (value and not value.isprintable()):
        raise ValueError("must be one line of plain ASCII, since it is sent as a header")
    return value.strip()


def _nation(value: object) -> object:
    """*value* in our spelling, if it is a nation of the United Kingdom."""
    nation = "-".join(value.lower().split()) if isinstance(value, str) else value
    if nation not in NATIONS:
        raise ValueError(f"must be one of {', '.join(NATIONS)}")
    return nation


def _term(value: str) -> str:
    if not any(character.isalnum() for character in value):
        raise ValueError("a term needs at least one letter or digit")
    return value


def _domain_name(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,39}", value):
        raise ValueError("must be at most 40 of a-z, 0-9, - and _, as in [domains.tenancy]")
    if value == DEFAULT_DOMAIN:
        raise ValueError(f"{value!r} means that no domain was found; choose another name")
    return value


def _unique(what: str, values: Iterable[str]) -> None:
    """Refuse a list that holds something twice."""
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise ValueError(f"has the {what} {value!r} twice; remove one")
        seen.add(value)


def _of_at_most(length: int, check: Callable[[str], str]) -> Any:
    """The checks of a text of at most *length* characters."""
    return Field(max_length=length), AfterValidator(check)


_Line = Annotated[str, *_of_at_most(200, _line)]
_Url = Annotated[str, *_of_at_most(2048, _http_url)]
_Term = Annotated[str, *_of_at_most(80, _term)]
_Regex = Annotated[str, *_of_at_most(300, checked_regex)]
_LongRegex = Annotated[str, *_of_at_most(500, checked_regex)]
_Contact = Annotated[str, *_of_at_most(200, _header_text)]
_Nation = Annotated[str, BeforeValidator(_nation)]
_Weight = Annotated[float, Field(ge=-10, le=10)]
_Phone = Annotated[str, Field(max_length=40, pattern=r"^[0-9A-Za-z +()-]*$")]
_DomainName = Annotated[str, AfterValidator(_domain_name)]


class _Table(BaseModel):
    """A table of the file: unknown keys and values of another type are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class _Retrieval(_Table):
    ttl_hours: float = Field(RetrievalSettings().ttl_hours, gt=0, le=24 * 30)
    sources_per_domain: int = Field(RetrievalSettings().sources_per_domain, ge=1, le=10)
    passages_per_scope: int = Field(RetrievalSettings().passages_per_scope, ge=1, le=10)
    max_words: int = Field(RetrievalSettings().max_words, ge=10, le=1000)
    fetch_timeout_s: float = Field(RetrievalSettings().fetch_timeout_s, gt=0, le=60)
    failure_ttl_s: int = Field(RetrievalSettings().failure_ttl_s, ge=1, le=24 * 3600)
    stale_days: int = Field(RetrievalSettings().stale_days, ge=1, le=365)
    contact: _Contact = RetrievalSettings().contact


class _Help(_Table):
    title: _Line
    url: _Url
    phone: _Phone = ""


class _Blocked(_Table):
    help: list[_Help] = Field(default_factory=list, max_length=20)


class _Persona(_Table):
    name: Annotated[str, *_of_at_most(40, _line)]
    brief: str = Field(min_length=1, max_length=2000)


class _Safety(_Table):
    terms: list[_Term] = Field(default_factory=list)
    patterns: list[_LongRegex] = Field(default_factory=list, max_length=100)
    harmless: list[_LongRegex] = Field(default_factory=list, max_length=100)
    help: list[_Help] = Field(default_factory=list, max_length=20)

    @model_validator(mode="after")
    def _has_a_trigger(self) -> "_Safety":
        if not self.terms and not self.patterns:
            raise ValueError("needs terms or patterns; add at least one term")
        return self


class _Pattern(_Table):
    regex: _Regex
    weight: _Weight


class _Source(_Table):
    url: _Url
    title: _Line
    topics: list[_Line] = Field(default_factory=list)
    nations: list[_Nation] = Field(default_factory=list)
    selector: str = Field("", max_length=500)

    def spec(self) -> SourceSpec:
        return SourceSpec(
            url=self.url,
            title=self.title,
            topics=tuple(self.topics),
            nations=tuple(self.nations),
            selector=self.selector.strip(),
        )


class _Example(_Table):
    text: _Line


class _Domain(_Table):
    title: _Line | None = None
    patterns: list[_Pattern] = Field(default_factory=list, max_length=100)
    terms: dict[_Term, _Weight] = Field(default_factory=dict)
    sources: list[_Source] = Field(default_factory=list)
    examples: list[_Example] = Field(default_factory=list)

    @field_validator("sources")
    @classmethod
    def _each_page_once(cls, value: list[_Source]) -> list[_Source]:
        _unique("url", (source.url for source in value))
        return value

    def spec(self, name: str) -> DomainSpec:
        return DomainSpec(
            name=name,
            title=self.title or name.replace("_", " ").replace("-", " ").capitalize(),
            terms=tuple(self.terms.items()),
            patterns=tuple(Pattern(item.regex, item.weight) for item in self.patterns),
            examples=tuple(example.text for example in self.examples),
            sources=tuple(source.spec() for source in self.sources),
        )


class _File(_Table):
    retrieval: _Retrieval = _Retrieval()
    blocked: _Blocked = _Blocked()
    personas: list[_Persona] = Field(default_factory=list, max_length=10)
    safety: list[_Safety] = Field(default_factory=list)
    domains: dict[_DomainName, _Domain]

    @field_validator("personas")
    @classmethod
    def _each_persona_once(cls, value: list[_Persona]) -> list[_Persona]:
        _unique("name", (persona.name for persona in value))
        return value

    @field_validator("domains")
    @classmethod
    def _at_least_one(cls, value: dict[str, _Domain]) -> dict[str, _Domain]:
        if not value:
            raise ValueError("needs at least one domain, as in [domains.tenancy]")
        return value


_TABLES: dict[str, type[BaseModel]] = {
    "retrieval": _Retrieval,
    "blocked": _Blocked,
    "help": _Help,
    "personas": _Persona,
    "safety": _Safety,
    "patterns": _Pattern,
    "sources": _Source,
    "examples": _Example,
}
"""The table that each key of the file holds; a domain's own table has its name as the key."""
