"""The metadata at the top of a Markdown file: YAML between `---`, TOML between `+++`.

Anything else is text, so that nothing is lost.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from json import dumps

from judge.library.scopes.periods import parse_moment

MAX_LINES = 200
MAX_CHARACTERS = 5_000
"""A dotted key of TOML takes memory quadratic in its depth: 40 MB for so many characters."""

_UNQUOTED_COLON = re.compile(r"^(\w[\w -]*: +)([^\s\"'\[{>|&*!#].*: .*)$", re.MULTILINE)
"""An unquoted value that contains a colon."""

_quoted = partial(dumps, ensure_ascii=False)
_ENDS = {"---": ("---", "..."), "+++": ("+++",)}


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The metadata, and the number of lines that it takes (0 when there is none)."""

    end: int = 0
    title: str | None = None
    tags: tuple[str, ...] = ()
    date: datetime | None = None


def read_front_matter(lines: Sequence[str]) -> FrontMatter:
    """The front matter at the top of *lines*."""
    rule = lines[0].rstrip()
    block = lines[1:MAX_LINES]
    ends = (at for at, line in enumerate(block) if line.rstrip() in _ENDS.get(rule, ()))
    end = next(ends, 0)
    fields = _fields("\n".join(block[:end]), is_toml=rule == "+++")
    if not fields:
        return FrontMatter()
    known = {name.lower(): value for name, value in fields.items()}
    tags = known.get("tags")
    named = tags.split(",") if isinstance(tags, str) else _texts(tags)
    return FrontMatter(
        end + 2,
        title=next(iter(_texts(known.get("title"))), None),
        tags=tuple(dict.fromkeys(filter(None, (" ".join(tag.split()) for tag in named)))),
        date=_moment(known.get("date")),
    )


def _fields(text: str, *, is_toml: bool) -> Mapping[str, object]:
    """The fields of *text*; none when it is something else, too long or nested too deep."""
    import yaml  # type: ignore[import-untyped]  # noqa: PLC0415 - most documents have none

    if not text or len(text) > MAX_CHARACTERS:
        return {}
    with suppress(tomllib.TOMLDecodeError, RecursionError):
        if is_toml:
            return tomllib.loads(text)
        # Many write `title: Part 1: The start`, which is not valid YAML.
        quoted = _UNQUOTED_COLON.sub(lambda field: field[1] + _quoted(field[2]), text)
        for attempt in (text, quoted):
            with suppress(yaml.YAMLError):
                # Not libyaml, which crashes the process where lists stand in one another too deep.
                fields = yaml.load(attempt, yaml.BaseLoader)  # noqa: S506 - it makes only text
                return fields if isinstance(fields, dict) else {}
    return {}


def _texts(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str) and text]


def _moment(value: object) -> datetime | None:
    """*value* as a time, in UTC if it names no zone; None when it is not a time."""
    text = value.isoformat() if isinstance(value, date) else next(iter(_texts(value)), "")
    try:
        return parse_moment(text)
    except (ValueError, OverflowError):
        return None
