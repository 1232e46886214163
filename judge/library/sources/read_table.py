"""Parses a file into a typed table, or raises an error with file, line, key and a fix."""

import difflib
import re
import tomllib
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from judge.errors import ConfigurationError
from judge.library.sources.tables import is_relative_glob
from judge.library.sources.toml_lines import key_name, line_of
from judge.types.request_fields import message_of
from judge.types.text_files import Include, TextFile

MAX_MISTAKES = 20
"""Mistakes listed in one error; the rest is counted."""

Table = TypeVar("Table", bound=BaseModel)


class Mistake(NamedTuple):
    """Something wrong in a file: its path of keys, and how to fix it."""

    file: TextFile
    path: tuple[int | str, ...]
    fix: str

    def __str__(self) -> str:
        line = line_of(self.file.text, self.path) or 1
        return f"{self.file.name}, line {line}: {key_name(self.path)}: {self.fix}"


def read_table(file: TextFile, table: type[Table]) -> Table:
    """*file* parsed as *table*; raises ConfigurationError with a line for each mistake."""
    try:
        return table.model_validate(tomllib.loads(file.text))
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


def included_files(text: str) -> tuple[Include, ...]:
    """The globs under `include` in the *text* of a sources file; none when it is not valid."""
    try:
        patterns = tomllib.loads(text).get("include", [])
    except (ValueError, RecursionError):
        return ()
    if not isinstance(patterns, list):
        return ()
    return tuple(
        Include(pattern, line_of(text, ("include", index)) or 1)
        for index, pattern in enumerate(patterns)
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
    name = f"{key[1]}: " if key else ""
    return f"{file.name}, {place or 'line 1'}: {name}is not valid TOML: {what}{hint}"


def _mistake(file: TextFile, table: type[BaseModel], detail: ErrorDetails) -> Mistake:
    # Pydantic adds `[key]` to the place of a key that is wrong itself.
    path = tuple(part for part in detail["loc"] if part != "[key]")
    if detail["type"] == "extra_forbidden":
        return Mistake(file, path, _unknown_key(str(path[-1]), _table_at(table, path[:-1])))
    if detail["type"] in {"model_type", "dict_type"}:
        return Mistake(file, path, "must be a table, as in [domains.tenancy] or { key = value }")
    return Mistake(file, path, message_of(detail))


def _unknown_key(key: str, table: type[BaseModel]) -> str:
    """How to fix a *key* that *table* does not have."""
    near = difflib.get_close_matches(key, table.model_fields, n=1)
    if near:
        return f"unknown key; did you mean {near[0]}?"
    return f"unknown key; valid are {', '.join(table.model_fields)}"


def _table_at(model: Any, path: Sequence[int | str]) -> type[BaseModel]:
    """The model of the table at *path* in *model*."""
    for part in path:
        fields = getattr(model, "model_fields", None)
        model = fields[part].annotation if fields else get_args(model)[-1]
    found: type[BaseModel] = model
    return found
