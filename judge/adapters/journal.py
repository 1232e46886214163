"""Where events go: JSON lines for people and machines, and whoever else listens.

A line holds the event's name, its fields and, inside `tagged`, the request's id. What other
libraries log is reduced to its place: their messages may quote what a person wrote.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TextIO

import msgspec
import structlog

from judge.ports import Journal

_ENCODER = msgspec.json.Encoder()
"""A third of the cost of the standard library's; a log line is written several times a request."""


def _one_line(fields: Mapping[str, object], **_: object) -> str:
    return _ENCODER.encode(fields).decode()


class LogJournal:
    """Writes each event to *stream* as one line of JSON."""

    def __init__(self, stream: TextIO) -> None:
        self._logger = structlog.wrap_logger(
            structlog.WriteLogger(stream),
            processors=[
                structlog.contextvars.merge_contextvars,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.JSONRenderer(serializer=_one_line),
            ],
            wrapper_class=structlog.BoundLogger,
        ).bind()

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Write one line; a stream that is closed is no reason to fail a judgement."""
        with suppress(OSError, ValueError):
            self._logger.info(event, **fields)


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
    with structlog.contextvars.bound_contextvars(**tags):
        yield


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
