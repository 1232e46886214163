"""A journal that records its events."""

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
