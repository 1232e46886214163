"""Parses server-sent events by the rules of the HTML standard."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class EventStream:
    """The events in order, as (name, data), and the comments."""

    events: list[tuple[str, Any]]
    comments: list[str]

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.events]

    def data_of(self, name: str) -> Any:
        """The data of the only event of this name."""
        [data] = [data for event, data in self.events if event == name]
        return data


def parse_events(text: str) -> EventStream:
    """All events of *text*, which must end with a complete event or comment."""
    stream = EventStream([], [])
    *blocks, rest = text.split("\n\n")
    assert rest == "", f"an unfinished event: {rest!r}"
    for block in blocks:
        if block.startswith(":"):
            stream.comments.append(block[1:].strip())
            continue
        lines = block.split("\n")
        assert [line.partition(": ")[0] for line in lines] == ["event", "data"]
        name, data = (line.partition(": ")[2] for line in lines)
        stream.events.append((name, json.loads(data)))
    return stream
