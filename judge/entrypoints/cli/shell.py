"""What every command is handed as click's `obj`: how servers are started, and verbosity."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shell:
    """What a command needs from outside the command line; `judge/__main__.py` has the functions."""

    serve_http: Callable[..., None]
    """Serves with settings on *host*, *port* with *workers*; returns when it is stopped."""
    serve_stdio: Callable[..., None]
    """Serves MCP with settings, *is_structured* or not; returns when stdin ends."""
    is_verbose: bool = False
    """Whether events are shown as they happen."""
