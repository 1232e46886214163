"""Server-sent events as a test reads them, by the rules of the HTML standard's parser."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Told:
    """The events in order, as (name, data), and the comments."""

    events: list[tuple[str, Any]]
    comments: list[str]

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.events]

    def data_of(self, name: str) -> Any:
        """What the only event of this name says."""
        [data] = [data for one, data in self.events if one == name]
        return data


def parse_events(text: str) -> Told:
    """The whole of *text*; it must end with a complete event or comment."""
    told = Told([], [])
    *blocks, rest = text.split("\n\n")
    assert rest == "", f"an unfinished event: {rest!r}"
    for block in blocks:
        if block.startswith(":"):
            told.comments.append(block[1:].strip())
            continue
        lines = block.split("\n")
        assert [line.partition(": ")[0] for line in lines] == ["event", "data"]
        name, data = (line.partition(": ")[2] for line in lines)
        told.events.append((name, json.loads(data)))
    return told
