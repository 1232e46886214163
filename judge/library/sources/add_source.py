"""Adds a page to the text of a sources file and keeps every other character."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from judge.errors import ConfigurationError
from judge.library.sources.toml_lines import KeyPath, TomlPlaces
from judge.types.references import SourceSpec

INDENT = "  "

_COMMENT = re.compile(r"#[^\n]*")


def format_source(source: SourceSpec) -> str:
    """*source* as an inline table, without empty keys."""
    return "{ " + ", ".join(f"{key} = {value}" for key, value in _keys(source)) + " }"


def with_source(text: str, domain: str, source: SourceSpec) -> str:
    """The valid sources file *text* with *source* as the last page of its *domain*.

    Raises ConfigurationError when the layout of the file is one that this cannot extend.
    """
    written = _added(text, domain, source)
    expected = tomllib.loads(text)
    table = expected["domains"][domain]
    table["sources"] = [
        *table.get("sources", ()),
        tomllib.loads(f"s = {format_source(source)}")["s"],
    ]
    if _parsed(written) != expected:
        raise ConfigurationError(
            f"The page was not written, since [domains.{domain}] is put down in a way that only a "
            f"person can add to. Add it to its sources: {format_source(source)}"
        )
    return written


def _keys(source: SourceSpec) -> list[tuple[str, str]]:
    values = {
        "url": source.url,
        "title": source.title,
        "topics": list(source.topics),
        "nations": list(source.nations),
        "selector": source.selector,
    }
    # JSON strings and lists are valid TOML.
    return [(key, json.dumps(value, ensure_ascii=False)) for key, value in values.items() if value]


def _parsed(text: str) -> Mapping[str, Any] | None:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None


def _added(text: str, domain: str, source: SourceSpec) -> str:
    """*text* with *source* added in the layout that the domain already has."""
    newline = "\r\n" if "\r\n" in text else "\n"
    layout = TomlPlaces(text)
    table: KeyPath = ("domains", domain)
    array = (*table, "sources")
    row = format_source(source)
    if array in layout.ends:
        return _in_list(layout, array, row, newline)
    if (*array, 0) in layout.lines or table not in layout.ends:
        ends = [end for path, end in layout.ends.items() if path[:3] == array]
        keys = newline.join(f"{key} = {value}" for key, value in _keys(source))
        at = _line_end(text, max(ends, default=len(text)))
        return (
            f"{text[:at]}{newline}[[domains.{domain}.sources]]{newline}{keys}{newline}{text[at:]}"
        )
    at = _line_end(text, layout.ends[table])
    before = "" if text.endswith("\n", 0, at) else newline
    return f"{text[:at]}{before}sources = [{newline}{INDENT}{row},{newline}]{newline}{text[at:]}"


def _in_list(layout: TomlPlaces, array: KeyPath, row: str, newline: str) -> str:
    """The text with *row* as the last element of the list at the path *array*."""
    text, lines, ends = layout.text, layout.lines, layout.ends
    close = ends[array] - 1
    count = sum(path[:-1] == array and isinstance(path[-1], int) for path in lines)
    begin = text.rfind("\n", 0, close) + 1
    if not count:
        has_own_line = not text[begin:close].strip()
        at, before = (begin, "") if has_own_line else (close, newline)
        return f"{text[:at]}{before}{INDENT}{row},{newline}{text[at:]}"
    last = ends[*array, count - 1]
    comma = "" if "," in _COMMENT.sub("", text[last:close]) else ","
    if "\n" not in text[last:close]:
        kept = text[last:close].rstrip()
        return f"{text[:last]}{kept}{comma} {row}{text[last + len(kept) :]}"
    line = text.split("\n")[lines[*array, count - 1] - 1]
    indent = line[: len(line) - len(line.lstrip())]
    if text[begin:close].strip():
        return (
            f"{text[:last]}{comma}{text[last:close]}{newline}{indent}{row},{newline}{text[close:]}"
        )
    return f"{text[:last]}{comma}{text[last:begin]}{indent}{row},{newline}{text[begin:]}"


def _line_end(text: str, at: int) -> int:
    """The index after the line that contains *at*."""
    end = text.find("\n", at)
    return end + 1 if end >= 0 else len(text)
