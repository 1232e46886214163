"""Where events go: JSON lines for people and machines, and whoever else listens.

A line holds the event's name, its fields and, inside `tagged`, the request's id. What other
libraries log is reduced to its place: their messages may quote what a person wrote.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from threading import Lock
from typing import TextIO

import msgspec

from judge.ports import Journal

_ENCODER = msgspec.json.Encoder()
_NO_TAGS: Mapping[str, str] = {}
_TAGS: ContextVar[Mapping[str, str]] = ContextVar("tags", default=_NO_TAGS)


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
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        line = {**_TAGS.get(), **fields, "event": event, "timestamp": now}
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
def tagged(**tags: str) -> Iterator[None]:
    """Within, every line written by this task or its children bears *tags*."""
    before = _TAGS.set({**_TAGS.get(), **tags})
    try:
        yield
    finally:
        _TAGS.reset(before)


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
