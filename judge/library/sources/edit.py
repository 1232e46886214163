"""Adds a page to the text of a sources file and keeps what people wrote in it."""

import json
import tomllib
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT

from judge.errors import ConfigurationError
from judge.types.references import SourceSpec


def format_source(source: SourceSpec) -> str:
    """*source* as an inline table, without empty keys."""
    # JSON strings and lists are valid TOML.
    values = ((key, json.dumps(value, ensure_ascii=False)) for key, value in _set_keys(source))
    return "{ " + ", ".join(f"{key} = {value}" for key, value in values) + " }"


def with_source(text: str, domain: str, source: SourceSpec) -> str:
    """The valid sources file *text* with *source* as the last page of its *domain*.

    Raises ConfigurationError when the layout of the file is one that this cannot extend.
    """
    expected = tomllib.loads(text)
    sources = expected["domains"][domain].setdefault("sources", [])
    sources.append(dict(_set_keys(source)))
    try:
        written = _extended(text, domain, source)
        is_as_expected = tomllib.loads(written) == expected
    except (ValueError, TOMLKitError):  # tomlkit does not read every layout that TOML allows.
        written, is_as_expected = "", False
    if not is_as_expected:
        raise ConfigurationError(
            f"The page was not written, since [domains.{domain}] is put down in a way that only a "
            f"person can add to. Add it to its sources: {format_source(source)}"
        )
    return written


def _extended(text: str, domain: str, source: SourceSpec) -> str:
    """*text* with *source* added in the layout that the domain's sources have."""
    document: Any = tomlkit.parse(text)
    table = document["domains"][domain]
    if "sources" not in table:
        table.append("sources", tomlkit.array().multiline(True))
    sources = table["sources"]
    if isinstance(sources, AoT):
        item = tomlkit.table()
        item.update(dict(_set_keys(source)))
        sources.append(item)
    else:
        sources.append(tomlkit.value(format_source(source)))
    return tomlkit.dumps(document)


def _set_keys(source: SourceSpec) -> list[tuple[str, str | list[str]]]:
    """The keys of *source* that are not empty, with their values."""
    values: dict[str, str | list[str]] = {
        "url": source.url,
        "title": source.title,
        "topics": list(source.topics),
        "nations": list(source.nations),
        "selector": source.selector,
    }
    return [(key, value) for key, value in values.items() if value]
