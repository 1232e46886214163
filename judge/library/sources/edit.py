"""Proposes a page as a source, and adds it to the text of a sources file.

What people wrote in the file is kept.
"""

import json
import tomllib
from collections import Counter
from contextlib import suppress
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT

from judge.errors import ConfigurationError
from judge.library.pages.page_records import PageRecord
from judge.library.sources.catalog import SourceCatalog
from judge.text.english import STOP_WORDS, stems, words
from judge.types.references import SourceSpec


def format_source(source: SourceSpec) -> str:
    """*source* as an inline table, without empty keys."""
    # JSON strings and lists are valid TOML.
    keys = _set_keys(source).items()
    pairs = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in keys)
    return f"{{ {', '.join(pairs)} }}"


def with_source(text: str, domain: str, source: SourceSpec) -> str:
    """The valid sources file *text* with *source* as the last page of its *domain*.

    Raises ConfigurationError when the layout of the file is one that this cannot extend.
    """
    expected = tomllib.loads(text)
    sources = expected["domains"][domain].setdefault("sources", [])
    sources.append(_set_keys(source))
    with suppress(ValueError, TOMLKitError):  # tomlkit does not read every layout of TOML
        written = _extended(text, domain, source)
        if tomllib.loads(written) == expected:
            return written
    raise ConfigurationError(
        f"The page was not written, since [domains.{domain}] is put down in a way that only a "
        f"person can add to. Add it to its sources: {format_source(source)}"
    )


def _extended(text: str, domain: str, source: SourceSpec) -> str:
    """*text* with *source* added in the layout and with the line ends that it has."""
    if "\r\n" in text and text.count("\n") == text.count("\r\n"):
        return _extended(text.replace("\r\n", "\n"), domain, source).replace("\n", "\r\n")
    document: Any = tomlkit.parse(text)
    table = document["domains"][domain]
    sources = table.setdefault("sources", tomlkit.array().multiline(True))
    if isinstance(sources, AoT):
        item = tomlkit.table()
        item.update(_set_keys(source))
        sources.append(item)
    else:
        sources.append(tomlkit.value(format_source(source)))
    return tomlkit.dumps(document)


def _set_keys(source: SourceSpec) -> dict[str, Any]:
    """The keys of *source* that are not empty, with their values."""
    values = asdict(source).items()
    return {key: list(v) if isinstance(v, tuple) else v for key, v in values if v}


MAX_TOPICS = 8


def propose_source(url: str, record: PageRecord, catalog: SourceCatalog) -> SourceSpec:
    """A source for the page at *url*, which was read as *record*.

    Its topics are its most frequent words, except those of the title, which are searched anyway.
    """
    title = record.title or urlsplit(url).path.strip("/").rpartition("/")[2].replace("-", " ")
    return SourceSpec(
        url=url,
        title=(title or url)[:200],
        topics=tuple(_topics(title, record)[:MAX_TOPICS]),
        nations=() if set(record.nations) >= set(catalog.country.regions) else record.nations,
        selector="",
    )


def _topics(title: str, record: PageRecord) -> list[str]:
    """The words that the page uses, the most frequent first, without those of its title."""
    texts = [record.text, *(f"{part.heading}. {part.text}" for part in record.passages)]
    found = [
        word
        for word in words("\n".join(texts))
        if word.isalpha() and len(word) > 3 and word not in STOP_WORDS
    ]
    stemmed, in_title = stems(found), set(stems(words(title)))
    spelling = dict(zip(reversed(stemmed), reversed(found)))
    return [spelling[stem] for stem, _ in Counter(stemmed).most_common() if stem not in in_title]
