"""The block at the top of a Markdown file that tells of it: YAML between `---`, TOML between `+++`.

Of YAML what front matter is made of: `key: value`, lists in brackets or a dash each, quotes. What
looks otherwise is text, so that nothing is lost.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from judge.search.periods import parse_moment

MAX_LINES = 200
_FIELD = re.compile(r"([A-Za-z_][\w .-]*?)\s*:(?:\s+(.*))?")
_ITEM = re.compile(r"\s*-\s+(.+)")
_ENDS = {"---": ("---", "..."), "+++": ("+++",)}


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a document says of itself, and the line behind it (0 when it says nothing)."""

    end: int = 0
    title: str | None = None
    tags: tuple[str, ...] = ()
    date: datetime | None = None


def read_front_matter(lines: Sequence[str]) -> FrontMatter:
    """The front matter at the top of *lines*."""
    rule = lines[0].rstrip()
    ends = _ENDS.get(rule)
    if not ends:
        return FrontMatter()
    held = lines[1:MAX_LINES]
    end = next((at for at, line in enumerate(held) if line.rstrip() in ends), None)
    if end is None:
        return FrontMatter()
    fields = _toml(held[:end]) if rule == "+++" else _yaml(held[:end])
    if not fields:
        return FrontMatter()
    known = {name.lower(): value for name, value in fields.items()}
    tags = ",".join(_texts(known.get("tags"))).split(",")
    return FrontMatter(
        end + 2,
        title=next(iter(_texts(known.get("title"))), None),
        tags=tuple(dict.fromkeys(filter(None, map(str.strip, tags)))),
        date=_moment(known.get("date")),
    )


def _toml(lines: Sequence[str]) -> Mapping[str, object]:
    try:
        return tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return {}


def _yaml(lines: Sequence[str]) -> Mapping[str, object]:
    """The fields of *lines*; none when a line at the margin is neither field, item nor comment."""
    fields: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        if field := _FIELD.fullmatch(line.rstrip()):
            name = field[1]
            fields[name] = _values(field[2] or "")
        elif (item := _ITEM.fullmatch(line)) and name:
            fields[name].append(_unquoted(item[1]))
        elif line[:1] not in {"", " ", "\t", "#"}:
            return {}
    return fields


def _values(text: str) -> list[str]:
    plain = text.strip()
    if plain.startswith("[") and plain.endswith("]"):
        return [_unquoted(item) for item in plain[1:-1].split(",") if item.strip()]
    return [_unquoted(plain)] if plain else []


def _unquoted(text: str) -> str:
    plain = text.strip()
    is_quoted = len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "'\""
    return plain[1:-1] if is_quoted else plain


def _texts(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str) and text]


def _moment(value: object) -> datetime | None:
    """The time that *value* names, UTC where it does not say; None when it names none."""
    text = value.isoformat() if isinstance(value, date) else next(iter(_texts(value)), "")
    try:
        return parse_moment(text)
    except (ValueError, OverflowError):
        return None
