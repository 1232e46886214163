"""What every command is handed as click's `obj`: the other doors, and how talkative to be."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from judge.settings import Settings


class ServeHttp(Protocol):
    """Opens the HTTP door and returns when it is closed again."""

    def __call__(self, settings: "Settings", *, host: str, port: int, workers: int) -> None:
        """Serve; raises ConfigurationError when that cannot begin."""
        ...


class ServeStdio(Protocol):
    """Opens the MCP door on stdin and stdout and returns when stdin ends."""

    def __call__(self, settings: "Settings") -> None:
        """Serve; raises ConfigurationError when that cannot begin."""
        ...


@dataclass(frozen=True, slots=True)
class Shell:
    """What a command needs from outside the command line."""

    serve_http: ServeHttp
    serve_stdio: ServeStdio
    is_verbose: bool = False
    """Whether events are shown as they happen."""
