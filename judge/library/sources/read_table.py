"""Parses a file into a typed table, or raises an error with file, line, key and a fix."""

import difflib
import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from judge.errors import ConfigurationError
from judge.library.sources.tables import TABLES, DomainTable, is_relative_glob
from judge.library.sources.toml_lines import line_of
from judge.types.text_files import Include, TextFile

MAX_CHARACTERS = 1024 * 1024
"""A longer file is refused; the longest of ours has about 40,000 characters."""

MAX_MISTAKES = 20
"""Mistakes listed in one error; the rest is counted."""

TOML_HINTS = {
    "Cannot overwrite a value": "this key stands twice; remove one",
    "Cannot declare": "this table stands twice; put their keys together",
    "Cannot mutate immutable": "this key was written as [ … ] or { … } before; add to that",
    "Expected '=' after a key": "write key = value; a key with spaces needs quotation marks",
    "Illegal character": "is a quotation mark missing in this line?",
    "Expected newline": "write what follows on a line of its own; lines end with LF or CR LF",
    "Invalid statement": "a line holds key = value, [table] or # a remark",
    "Unescaped": "write \\\\ for a backslash, or put the text in 'single' quotation marks",
    "Duplicate inline table key": "this key stands twice; remove one",
    "Invalid value": "text needs quotation marks, and a list before it its closing ]",
    "Expected ']": "write [domains.tenancy] or [[safety]]; other characters need quotation marks",
    'Expected "': "a quotation mark is missing where a text ends",
    "Unterminated": "a quotation mark is missing where a text ends",
    "Invalid initial": "write key = value; a key of other characters needs quotation marks",
    "Unclosed": "a comma or a closing bracket is missing before this place",
}
"""The beginnings of tomllib's messages, and how to fix each."""

TYPE_HINTS = {
    "list_type": "must be a list, as in [ … ], or [[ … ]] for tables",
    "string_type": "must be text in quotation marks",
    "int_type": "must be a whole number, without quotation marks",
    "float_type": "must be a number, without quotation marks",
    "bool_type": "must be true or false, without quotation marks",
}
"""pydantic's error types for a value of the wrong type, and what to write instead."""

_TOO_LONG = re.compile(r"""(?:\.["']?[\w-]++["']?){40}|\d{4300}""")
"""A key of forty parts or a number of 4,300 digits, on which the parser is slow or fails."""

RENAMED = {"sources_per_domain": "references"}
"""Keys of older files, and their present names."""

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
    content = _parsed(file)
    try:
        return table.model_validate(content)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False)
        mistakes = [
            Mistake(file, path, _fix(table, path, item["type"], item["msg"]))
            for item in errors
            for path in [tuple(part for part in item["loc"] if part != "[key]")]
        ]
        raise configuration_error(mistakes) from None


def configuration_error(mistakes: Sequence[Mistake]) -> ConfigurationError:
    """The error that lists *mistakes*."""
    lines = [str(mistake) for mistake in mistakes[:MAX_MISTAKES]]
    if len(mistakes) > MAX_MISTAKES:
        lines.append(f"and {len(mistakes) - MAX_MISTAKES} more")
    return ConfigurationError("The sources cannot be used:\n  " + "\n  ".join(lines))


def included_files(text: str) -> tuple[Include, ...]:
    """The globs under `include` in the *text* of a sources file; none when it is not valid."""
    if _TOO_LONG.search(text):
        return ()
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


def key_name(path: Sequence[int | str]) -> str:
    """`("domains", "tenancy", "sources", 1)` as `domains.tenancy.sources[2]`."""
    name = ""
    for part in path:
        if isinstance(part, int):
            name += f"[{part + 1}]"
        else:
            is_bare = re.fullmatch(r"[\w-]+", part)
            name += f".{part}" if is_bare else f".{json.dumps(part, ensure_ascii=False)}"
    return name.removeprefix(".") or "the file"


def _parsed(file: TextFile) -> dict[str, Any]:
    """*file* as a dict; raises ConfigurationError."""
    if len(file.text) > MAX_CHARACTERS:
        raise ConfigurationError(
            f"{file.name} has {len(file.text)} characters; keep it under {MAX_CHARACTERS}."
        )
    if match := _TOO_LONG.search(file.text):
        line = file.text.count("\n", 0, match.start()) + 1
        raise ConfigurationError(
            f"{file.name}, line {line}: {match[0][:20]}…: is too long for a key or a number; "
            "shorten it."
        )
    try:
        return tomllib.loads(file.text)
    except ValueError as error:
        raise ConfigurationError(_syntax_mistake(file, str(error))) from None
    except RecursionError:
        lines = file.text.split("\n")
        deepest = max(range(len(lines)), key=lambda at: lines[at].count("[") + lines[at].count("{"))
        raise ConfigurationError(
            f"{file.name}, line {deepest + 1}: nests brackets too deeply; keep lists and tables "
            "flat."
        ) from None


def _syntax_mistake(file: TextFile, message: str) -> str:
    """The parser's *message* with place and key before it and a fix after it."""
    what, _, place = message.partition(" (at ")
    fixes = (fix for start, fix in TOML_HINTS.items() if what.startswith(start))
    lines, last = file.text.split("\n"), file.text.rstrip().count("\n") + 1
    place = place.removesuffix(")").replace("end of document", f"line {last}")
    line = re.match(r"line (\d+)", place)
    wrong = lines[int(line[1]) - 1] if line else ""
    key = f"{found[1]}: " if (found := re.match(r"\s*([\w.-]{1,80})\s*=", wrong)) else ""
    is_curly = bool(set(wrong) & set("“”„"))
    fix = 'write straight quotation marks, "' if is_curly else next(fixes, "correct it there")
    return f"{file.name}, {place}: {key}is not valid TOML: {what}; {fix}"


def _fix(root: type[BaseModel], path: Sequence[int | str], kind: str, message: str) -> str:
    """How to fix one mistake, given pydantic's error type (*kind*) and *message*."""
    if kind == "missing":
        return "is missing; add it"
    if kind in {"model_type", "dict_type"}:
        return f"must be a table, as in {_example_table(path)}"
    if kind in TYPE_HINTS:
        return TYPE_HINTS[kind]
    if kind != "extra_forbidden":
        fix = re.sub("^(Value error,|Input|String|List|Dictionary) ", "", message)
        return fix.replace(" after validation", "")
    return _unknown_key(str(path[-1]), list(_table_at(root, path[:-1]).model_fields))


def _example_table(path: Sequence[int | str]) -> str:
    """An example of the table at *path*."""
    name = next((part for part in reversed(path) if isinstance(part, str)), "")
    if name == "terms":
        return "{ landlord = 3 }"
    if name not in TABLES or (len(path) == 2 and path[0] == "domains"):
        return "[domains.tenancy]"
    fields = TABLES[name].model_fields.items()
    required = ", ".join(f"{key} = …" for key, field in fields if field.is_required())
    return f"{{ {required} }}" if required else f"[{name}]"


def _unknown_key(key: str, valid: Sequence[str]) -> str:
    """How to fix a *key* that is not one of *valid*."""
    if key in RENAMED:
        return f"is called {RENAMED[key]} now; rename it"
    near = difflib.get_close_matches(key, valid, n=1)
    if near:
        return f"unknown key; did you mean {near[0]}?"
    return f"unknown key; valid are {', '.join(valid)}"


def _table_at(root: type[BaseModel], path: Sequence[int | str]) -> type[BaseModel]:
    """The model of the table at *path*."""
    if len(path) == 2 and path[0] == "domains":
        return DomainTable
    names = [part for part in path if isinstance(part, str)]
    return TABLES[names[-1]] if names else root
