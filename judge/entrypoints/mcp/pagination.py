"""Sends long answers in parts: what fits into one reply, and a cursor to the rest.

A cursor holds all state, so that any worker can continue and the server stores nothing.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from judge.types.request_fields import BadFields, FieldError

Json = dict[str, Any]

MAX_REPLY = 22_000
"""Bytes of a reply, text and structured content together: under 8,000 tokens. A token of prose or
code has three bytes at least; a thousand bytes are left for the envelope."""

MAX_SUMMARY = 4_000
"""Bytes of the text beside structured content."""

MAX_STRUCTURED = MAX_REPLY - MAX_SUMMARY
"""Bytes of structured content."""

MAX_FRAME = 13_000
"""Bytes of an answer without its lists, which have the rest."""

MAX_ITEMS = 2_000
"""Items that cursors reach; for more, the question has to be narrowed."""

MAX_ENTRIES = 30
"""Of a list that is not paginated, such as the files that changed."""

TEXT_LIMITS = (6_000, 2_000, 500, 100)
"""Characters to which texts are cut, tried in turn, if a single item does not fit."""

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


class BadCursor(BadFields):
    """A cursor is invalid; the message says what to do instead."""

    def __init__(self, problem: str) -> None:
        super().__init__([FieldError("cursor", problem)])


@dataclass(frozen=True, slots=True)
class Cursor:
    """The number of items in earlier parts, and their digest."""

    shown: int = 0
    digest: str = ""


FIRST_PART = Cursor()


def read_cursor(text: object, request: Json) -> Cursor:
    """The cursor that `write_cursor` made for the same *request*; raises BadCursor."""
    if text is None:
        return FIRST_PART
    try:
        shown, digest, check = json.loads(base64.urlsafe_b64decode(str(text).encode()))
        cursor = Cursor(int(shown), str(digest))
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise BadCursor(
            "is none that was given here; pass `next_cursor` of a reply as it is, or leave it out"
        ) from None
    if check != _check(cursor, request) or not 0 < cursor.shown <= MAX_ITEMS:
        raise BadCursor(
            "belongs to another question; pass it with the same arguments, or leave it out"
        )
    return cursor


def write_cursor(cursor: Cursor, request: Json) -> str:
    """*cursor* as an opaque string."""
    parts = [cursor.shown, cursor.digest, _check(cursor, request)]
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode()


def page_of(
    answer: Json, lists: Sequence[str], cursor: Cursor, request: Json, *, more_to_find: bool
) -> Json:
    """The part of *answer* after *cursor* that fits, with `next_cursor` if another part follows.

    *answer* has its *lists* from the first item; *more_to_find* says that they are incomplete. A
    part has at least one item, with texts cut if needed. `truncated` is true if anything follows,
    even if beyond MAX_ITEMS. Raises BadCursor when items of earlier parts have changed.
    """
    items = [(name, item) for name in lists for item in answer[name]]
    if cursor.shown and _digest_of(items[: cursor.shown]) != cursor.digest:
        raise BadCursor("leads into an answer that has changed since; ask again without it")
    rest = items[cursor.shown :]
    frame: Json = bounded({**answer, **{name: [] for name in lists}}, MAX_FRAME)
    fitting = _fitting(rest, MAX_STRUCTURED - size_of(frame))
    for name in lists:
        frame[name] = [item for owner, item in fitting if owner == name]
    shown = cursor.shown + len(fitting)
    is_last = len(fitting) == len(rest)
    frame["truncated"] = answer["truncated"] or not is_last
    if (is_last and not more_to_find) or shown > MAX_ITEMS:
        return frame
    return frame | {"next_cursor": write_cursor(Cursor(shown, _digest_of(items[:shown])), request)}


def bounded(value: Any, room: int) -> Any:
    """*value* with its texts and lists of texts cut, if needed, to take at most *room* bytes."""
    for max_length in TEXT_LIMITS:
        if size_of(value) <= room:
            break
        value = _shortened(value, max_length)
    return value


def size_of(value: Any) -> int:
    """The size of *value* as JSON, in bytes."""
    return len(_ANY.dump_json(value))


def to_jsonable(value: Any) -> Any:
    """*value*, which may hold our dataclasses, as plain JSON types."""
    return _ANY.dump_python(value, mode="json")


def as_json_text(value: Any) -> str:
    """*value* as JSON, without spaces."""
    return _ANY.dump_json(value).decode()


def _fitting(items: Sequence[tuple[str, Any]], room: int) -> list[tuple[str, Any]]:
    fitting: list[tuple[str, Any]] = []
    for name, item in items:
        entry = item if fitting else bounded(item, room)
        room -= size_of(entry) + 1
        if room < 0 and fitting:
            break
        fitting.append((name, entry))
    return fitting


def _shortened(value: Any, max_length: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= max_length else f"{value[: max_length - 1]}…"
    if isinstance(value, Mapping):
        return {name: _shortened(below, max_length) for name, below in value.items()}
    if isinstance(value, list):
        if len(value) > MAX_ENTRIES and all(isinstance(item, str) for item in value):
            value = [*value[:MAX_ENTRIES], f"… and {len(value) - MAX_ENTRIES} more"]
        return [_shortened(item, max_length) for item in value]
    return value


def _digest_of(items: Sequence[tuple[str, Any]]) -> str:
    """A digest of the ids of *items*, since scores may differ between searches."""
    return _digest([item.get("id", item) if isinstance(item, dict) else item for _, item in items])


def _check(cursor: Cursor, request: Json) -> str:
    return _digest([cursor.shown, cursor.digest, request])


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
