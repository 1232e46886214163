"""The tables of the sources and vocabulary files, and how a file is read into one.

What is wrong is told with file, line, key and a fix.
"""

import difflib
import functools
import re
import tomllib
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo
from pydantic_core import ErrorDetails
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from judge.errors import ConfigurationError
from judge.library.sources.toml_lines import key_name, line_of
from judge.text.patterns import checked_regex
from judge.text.untrusted import has_tag
from judge.types.references import RetrievalSettings
from judge.types.request_fields import known_fields, message_of
from judge.types.requests import DEFAULT_DOMAIN
from judge.types.text_files import Include, TextFile

PACKAGE = "package"
"""The context in which the files of the package are read."""

MAX_PERSONAS = 6

_URL = re.compile(
    r"https?://(?:(?:[\w-]{1,63}\.)*[\w-]{1,63}\.?|\[[\da-f:.]+\])(?::\d+)?(?:[/?#][!-~]*)?",
    re.ASCII | re.IGNORECASE,
)


Check = Callable[[str], str]
"""The text, perhaps trimmed; raises ValueError with what it must be."""


def _of_at_most(length: int, *checks: Check) -> Any:
    """The metadata of a text field: at most *length* characters, then the *checks* in turn."""
    return Field(max_length=length), *map(AfterValidator, checks)


def _only(is_valid: Callable[[str], object], message: str) -> Check:
    """A check that raises ValueError with *message* unless the text *is_valid*."""

    def check(value: str) -> str:
        if not is_valid(value):
            raise ValueError(message)
        return value

    return check


def _can_be_fetched(url: str) -> bool:
    try:
        return bool(_URL.fullmatch(url)) and urlsplit(url).port != 0
    except ValueError:
        return False


def _is_css(selector: str) -> bool:
    try:
        return not selector or LexborHTMLParser("").css(selector) is not None
    except SelectolaxError:
        return False


def is_relative_glob(glob: str) -> bool:
    """Whether *glob* is relative to the file that includes it, and not recursive."""
    return bool(glob) and not (glob.startswith(("/", "\\", "~")) or ":" in glob or "**" in glob)


def _regex(value: str, info: ValidationInfo) -> str:
    """*value*, checked unless it is the package's, which a test checks: that takes seconds."""
    return value if info.context == PACKAGE else checked_regex(value)


_is_line = _only(lambda value: value and value.isprintable(), "must be one line of text")
_is_readable = _only(
    lambda value: value and all(char.isprintable() or char in "\n\t" for char in value),
    "must be text that can be read",
)
_has_no_tag = _only(
    lambda value: not has_tag(value),
    "must hold no tag such as <REFERENCES>; those are the prompt's own",
)
_has_letter = _only(
    lambda value: any(map(str.isalnum, value)), "a term needs at least one letter or digit"
)
_is_url = _only(
    _can_be_fetched,
    "must be http or https, percent-encoded and without a user name, as in "
    "https://www.example.org/renting",
)
_is_selector = _only(_is_css, 'must be a CSS selector, as in "main p", or left out')
_is_header = _only(
    re.compile(r"[ -~]*").fullmatch, "must be one line of plain ASCII, since it is sent as a header"
)
_is_phone = _only(
    re.compile(r"[0-9A-Za-z +()-]*").fullmatch,
    "must have only letters, digits, spaces and + ( ) -, as in 0800 1111",
)
_is_name = _only(
    re.compile(r"[a-z0-9][a-z0-9_-]{0,39}").fullmatch,
    "must be at most 40 of a-z, 0-9, - and _, as in [domains.tenancy]",
)
_is_not_default = _only(
    lambda value: value != DEFAULT_DOMAIN,
    f"{DEFAULT_DOMAIN!r} means that no domain was found; choose another name",
)
_is_language = _only(
    re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,2}").fullmatch,
    "must be a language tag, as in en-GB",
)
_is_glob = _only(is_relative_glob, 'must be a path relative to this file, as in "domains/*.toml"')

_Line = Annotated[str, *_of_at_most(200, str.strip, _is_line)]
_Name = Annotated[str, *_of_at_most(40, str.strip, _is_line)]
_Url = Annotated[str, *_of_at_most(2048, _is_url)]
_Term = Annotated[str, *_of_at_most(80, _has_letter)]
_Regex = Annotated[str, Field(max_length=300), AfterValidator(_regex)]
_LongRegex = Annotated[str, Field(max_length=500), AfterValidator(_regex)]
_Contact = Annotated[str, *_of_at_most(200, _is_header)]
_Selector = Annotated[str, *_of_at_most(500, str.strip, _is_selector)]
_Glob = Annotated[str, *_of_at_most(200, _is_glob)]
_Region = Annotated[_Name, AfterValidator(lambda value: "-".join(value.lower().split()))]
_Language = Annotated[str, *_of_at_most(20, _is_language)]
_Weight = Annotated[float, Field(ge=-10, le=10)]
_Phone = Annotated[str, *_of_at_most(40, _is_phone)]
_DomainName = Annotated[str, AfterValidator(_is_name), AfterValidator(_is_not_default)]


class _Table(BaseModel):
    """A table of a file: unknown keys and values of the wrong type are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


_DEFAULTS = RetrievalSettings()


class RetrievalTable(_Table):
    """`[retrieval]`: see RetrievalSettings."""

    ttl_hours: float = Field(_DEFAULTS.ttl_hours, gt=0, le=24 * 30)
    references: int = Field(_DEFAULTS.references, ge=1, le=20)
    passages: int = Field(_DEFAULTS.passages, ge=1, le=10)
    passages_per_scope: int = Field(_DEFAULTS.passages_per_scope, ge=1, le=10)
    max_words: int = Field(_DEFAULTS.max_words, ge=10, le=1000)
    fetch_timeout_s: float = Field(_DEFAULTS.fetch_timeout_s, gt=0, le=60)
    failure_ttl_s: int = Field(_DEFAULTS.failure_ttl_s, ge=1, le=24 * 3600)
    stale_days: int = Field(_DEFAULTS.stale_days, ge=1, le=365)
    contact: _Contact = _DEFAULTS.contact


class HelpTable(_Table):
    """A help line; *country* is where it helps, the country of the file when it is left out."""

    title: _Line
    url: _Url
    phone: _Phone = ""
    country: _Name = ""


class BlockedTable(_Table):
    """`[blocked]`: what is shown when the model's safety filter refuses a dispute."""

    help: list[HelpTable] = Field(default_factory=list, max_length=20)


class CountryTable(_Table):
    """`[country]`: where the guidance holds; what is left out comes from the package, if there."""

    name: _Name
    language: _Language = "en"
    dates: Literal["day-month-year", "month-day-year", "year-month-day"] = "day-month-year"
    regions: list[_Region] = Field(default_factory=list, max_length=100)
    assumed: _Region | None = None
    emergency: list[HelpTable] = Field(default_factory=list, max_length=5)
    places: dict[_Region, list[_Term]] = Field(default_factory=dict)
    patterns: dict[_Region, list[_LongRegex]] = Field(default_factory=dict)
    lookalikes: list[_LongRegex] = Field(default_factory=list, max_length=100)
    groups: dict[_Term, list[_Region]] = Field(default_factory=dict)
    names: list[_Term] = Field(default_factory=list)
    short: list[_Term] = Field(default_factory=list)


class PersonaTable(_Table):
    """One of the `[[personas]]`."""

    name: Annotated[_Name, AfterValidator(_has_no_tag)]
    brief: Annotated[str, *_of_at_most(2000, str.strip, _is_readable, _has_no_tag)]


class SafetyTable(_Table):
    """One of the `[[safety]]` rules; the name of a package rule extends or replaces that rule."""

    name: _Name | None = None
    vocabulary: bool = True
    terms: list[_Term] = Field(default_factory=list)
    patterns: list[_LongRegex] = Field(default_factory=list, max_length=100)
    harmless: list[_LongRegex] = Field(default_factory=list, max_length=100)
    help: list[HelpTable] = Field(default_factory=list, max_length=20)


class PatternTable(_Table):
    """A regular expression of a domain (case is ignored) and the weight of a match."""

    regex: _Regex
    weight: _Weight


class SourceTable(_Table):
    """An approved page."""

    url: _Url
    title: _Line
    topics: list[_Line] = Field(default_factory=list)
    nations: list[_Region] = Field(default_factory=list)
    selector: _Selector = ""


class ExampleTable(_Table):
    """A text that must, or must not, get its domain."""

    text: _Line


class DomainTable(_Table):
    """One `[domains.NAME]`."""

    title: _Line | None = None
    vocabulary: bool = True
    patterns: list[PatternTable] = Field(default_factory=list, max_length=100)
    terms: dict[_Term, _Weight] = Field(default_factory=dict)
    sources: list[SourceTable] = Field(default_factory=list)
    examples: list[ExampleTable] = Field(default_factory=list)
    not_examples: list[ExampleTable] = Field(default_factory=list)
    help: list[HelpTable] = Field(default_factory=list, max_length=20)


class SourcesTable(_Table):
    """A whole sources file, or one that it includes."""

    include: list[_Glob] = Field(default_factory=list, max_length=50)
    vocabulary: bool = True
    country: CountryTable | None = None
    retrieval: RetrievalTable = RetrievalTable()
    blocked: BlockedTable = BlockedTable()
    personas: list[PersonaTable] = Field(default_factory=list, max_length=MAX_PERSONAS)
    safety: list[SafetyTable] = Field(default_factory=list)
    domains: dict[_DomainName, DomainTable] = Field(default_factory=dict)


class PackageTable(_Table):
    """A file of the package: the words of a subject, the safety rules or the known countries."""

    version: Literal[1]
    patterns: list[PatternTable] = Field(default_factory=list, max_length=100)
    terms: dict[_Term, _Weight] = Field(default_factory=dict)
    safety: list[SafetyTable] = Field(default_factory=list)
    countries: list[CountryTable] = Field(default_factory=list)


MAX_MISTAKES = 20
"""Mistakes listed in one error; the rest is counted."""

Table = TypeVar("Table", bound=BaseModel)


class Mistake(NamedTuple):
    """Something wrong in a file: its path of keys, and how to fix it."""

    file: TextFile
    path: tuple[int | str, ...]
    fix: str

    def __str__(self) -> str:
        line = line_of(self.file.text, self.path)
        return f"{self.file.name}, line {line}: {key_name(self.path)}: {self.fix}"


def read_table(file: TextFile, table: type[Table], *, context: str = "") -> Table:
    """*file* parsed as *table*; raises ConfigurationError with a line for each mistake.

    With the *context* `PACKAGE` its regular expressions are taken as they are.
    """
    try:
        return table.model_validate(tomllib.loads(file.text), context=context)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        raise configuration_error([_mistake(file, table, detail) for detail in errors]) from None
    except RecursionError:
        raise ConfigurationError(f"{file.name}: nests brackets too deeply.") from None
    except ValueError as error:
        raise ConfigurationError(_syntax_mistake(file, str(error))) from None


def configuration_error(mistakes: Sequence[Mistake]) -> ConfigurationError:
    """The error that lists *mistakes*."""
    lines = [str(mistake) for mistake in mistakes[:MAX_MISTAKES]]
    if len(mistakes) > MAX_MISTAKES:
        lines.append(f"and {len(mistakes) - MAX_MISTAKES} more")
    return ConfigurationError("The sources cannot be used:\n  " + "\n  ".join(lines))


@functools.lru_cache(maxsize=1)  # asked each second, of a file that seldom changes
def included_files(text: str) -> tuple[Include, ...]:
    """The globs under `include` in the *text* of a sources file; none when it is not valid."""
    try:
        patterns = tomllib.loads(text).get("include", [])
    except (ValueError, RecursionError):
        return ()
    return tuple(
        (pattern, line_of(text, ("include", index)))
        for index, pattern in enumerate(patterns if isinstance(patterns, list) else ())
        if isinstance(pattern, str) and is_relative_glob(pattern)
    )


def _syntax_mistake(file: TextFile, message: str) -> str:
    """The parser's *message* with place and key before it."""
    what, _, place = message.partition(" (at ")
    lines = file.text.rstrip().split("\n")
    place = place.removesuffix(")").replace("end of document", f"line {len(lines)}")
    found = re.match(r"line (\d+)", place)
    key = re.match(r"\s*([\w.-]{1,80})\s*=", lines[int(found[1]) - 1]) if found else None
    hint = "; write a text in straight quotation marks" if what == "Invalid value" else ""
    if key and not key[1].isascii():
        hint = "; put a name with letters beyond a to z in quotation marks"
    name = f"{key[1]}: " if key else ""
    return f"{file.name}, {place or 'line 1'}: {name}is not valid TOML: {what}{hint}"


def _mistake(file: TextFile, table: type[BaseModel], detail: ErrorDetails) -> Mistake:
    # Pydantic adds `[key]` to the place of a key that is wrong itself.
    path = tuple(part for part in detail["loc"] if part != "[key]")
    fix = message_of(detail)
    if detail["type"] == "extra_forbidden":
        known = known_fields(table, path[:-1])
        near = difflib.get_close_matches(str(path[-1]), known, n=1)
        valid = f"did you mean {near[0]}?" if near else f"valid are {', '.join(known)}"
        fix = f"unknown key; {valid}"
    elif detail["type"] in {"model_type", "dict_type"}:
        fix = "must be a table, as in [domains.tenancy] or { key = value }"
    return Mistake(file, path, fix)
