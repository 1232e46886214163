"""The event log: JSON lines, and a journal that passes events on to several others.

A line holds the event's name, its fields and, inside `within_request`, the request id. Of what
libraries log only the place is kept: their messages may quote what a person wrote.
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

MERGED_EVENTS: Final = frozenset({"model.replied", "judgement.finished"})
"""Within a request their fields are added to the request's own line, often its only one."""

EventFields = dict[str, str | float | bool]

_REQUEST: ContextVar[tuple[str, EventFields] | None] = ContextVar("request", default=None)
"""The request id, and the fields of other events that the request's own line will hold."""


class LogJournal:
    """Writes each event to *stream* as one line of JSON."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = Lock()

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Write one line; a closed stream must not fail a judgement."""
        request_id, merged = _REQUEST.get() or ("", None)
        if merged is not None and event in MERGED_EVENTS:
            for name, value in fields.items():  # the tokens of several replies are summed
                is_sum = name.endswith("_tokens") and name in merged
                merged[name] = float(merged[name]) + float(value) if is_sum else value
            return
        tags = {"request_id": request_id} if request_id else {}
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        line = {**tags, **fields, "event": event, "timestamp": now}
        try:
            text = msgspec.json.encode(line).decode()
            with self._lock:
                self._stream.write(f"{text}\n")
                self._stream.flush()
        except (OSError, ValueError):
            return


class Journals:
    """A Journal that passes every event on to *journals*."""

    def __init__(self, *journals: Journal) -> None:
        self._journals = journals

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Note the event in each journal."""
        for journal in self._journals:
            journal.note(event, **fields)


@contextmanager
def within_request(request_id: str) -> Iterator[EventFields]:
    """Add the request id to every line that this task or its children write in the block.

    Yields the fields of merged events, which the caller adds to the request's own line.
    """
    merged: EventFields = {}
    token = _REQUEST.set((request_id, merged))
    try:
        yield merged
    finally:
        _REQUEST.reset(token)


class LibraryHandler(logging.Handler):
    """Notes what libraries log as the event `library.log`: place and level, not the message."""

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
