"""A journal that records its events."""

import traceback
from collections.abc import Mapping


class RecordingJournal:
    """Keeps every event with its fields, in order."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, Mapping[str, str | float | bool]]] = []

    def note(self, event: str, **fields: str | float | bool) -> None:
        self.entries.append((event, fields))

    @property
    def events(self) -> list[str]:
        """The names alone, in order."""
        return [event for event, _ in self.entries]

    def fields_of(self, event: str) -> list[Mapping[str, str | float | bool]]:
        """The fields of each *event*, in order."""
        return [fields for name, fields in self.entries if name == event]


def full_report(error: BaseException) -> str:
    """Everything that a log could print of *error* and its causes."""
    told = "".join(traceback.format_exception(error)) + repr(vars(error))
    behind = error.__cause__ or error.__context__
    return told + (full_report(behind) if behind else "")
