"""Where events go: JSON lines for people and machines, and whoever else listens.

A line holds the event's name, its fields and, inside `within_request`, the request's id. What other
libraries log is reduced to its place: their messages may quote what a person wrote.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from threading import Lock
from typing import Final, TextIO

import msgspec

from judge.ports import Journal

_ENCODER = msgspec.json.Encoder()

JOINED: Final = frozenset({"model.replied", "judgement.finished"})
"""Within a request what these tell stands in its own line: most requests need no other."""

EventFields = dict[str, str | float | bool]

_REQUEST: ContextVar[tuple[str, EventFields] | None] = ContextVar("request", default=None)
"""The id of the request that is served, and what its own line is to tell beside its fields."""


class LogJournal:
    """Writes each event to *stream* as one line of JSON.

    By hand, since a line is written several times a request: structlog took half a millisecond of
    a request's CPU time where its code was cold.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = Lock()

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Write one line; a stream that is closed is no reason to fail a judgement."""
        request_id, joined = _REQUEST.get() or ("", None)
        if joined is not None and event in JOINED:
            for name, value in fields.items():  # the tokens of several replies are summed
                is_sum = name.endswith("_tokens") and name in joined
                joined[name] = float(joined[name]) + float(value) if is_sum else value
            return
        tags = {"request_id": request_id} if request_id else {}
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        line = {**tags, **fields, "event": event, "timestamp": now}
        try:
            text = _ENCODER.encode(line).decode()
            with self._lock:
                self._stream.write(f"{text}\n")
                self._stream.flush()
        except (OSError, ValueError):
            return


class Journals:
    """Tells every event to each of *journals*."""

    def __init__(self, *journals: Journal) -> None:
        self._journals = journals

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Tell it to all."""
        for journal in self._journals:
            journal.note(event, **fields)


@contextmanager
def within_request(request_id: str) -> Iterator[EventFields]:
    """Within, every line that this task or its children write bears the id.

    Given is what the line of the request is to tell beside its own fields.
    """
    joined: EventFields = {}
    before = _REQUEST.set((request_id, joined))
    try:
        yield joined
    finally:
        _REQUEST.reset(before)


class LibraryHandler(logging.Handler):
    """Notes what libraries log as `library.log`, by place and level and without its message."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(logging.WARNING)
        self._journal = journal

    def emit(self, record: logging.LogRecord) -> None:
        """Note *record*."""
        error = record.exc_info[0] if record.exc_info else None
        self._journal.note(
            "library.log",
            logger=record.name,
            level=record.levelname.lower(),
            place=f"{record.module}:{record.lineno}",
            error=error.__name__ if error else "",
        )
