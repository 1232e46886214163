"""The events that every entrypoint logs: verdicts and unexpected errors."""

from collections.abc import Iterator
from pathlib import Path
from traceback import extract_tb
from types import TracebackType
from typing import TYPE_CHECKING

from judge.ports import Journal
from judge.types.results import JudgeResult

if TYPE_CHECKING:
    from judge.bootstrap.services import Services


MAX_PLACES = 8
"""Places of a traceback in one line of the log."""


def log_judgement(journal: Journal, result: JudgeResult) -> None:
    """Log facts about a verdict for operators, and none of its words."""
    journal.note(
        "judgement.finished",
        domain=result.domain,
        evidence=result.evidence,
        degraded=result.degraded,
        attempts=result.attempts,
        references=len(result.references),
        references_ms=result.timings_ms.references,
        model_ms=result.timings_ms.model,
    )


def log_error(journal: Journal, error: Exception, *, event: str = "http.error") -> None:
    """Log an unexpected error: its type and place, never its text.

    The text of an exception may quote what a person wrote.
    """
    journal.note(
        event,
        error=" <- ".join(type(cause).__name__ for cause in _chain(error)),
        place=" < ".join(_places(error.__traceback__)),
    )


async def warm(services: "Services", *, event: str = "http.error") -> None:
    """Warm the caches that the first requests would wait for; a failure is only logged."""
    try:
        await services.warm()
    except Exception as error:  # noqa: BLE001 - no reason not to serve
        log_error(services.journal, error, event=event)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """*error*, its cause or context, that one's, and so on."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _places(traceback: TracebackType | None) -> list[str]:
    """The innermost places of *traceback*, the innermost first."""
    frames = reversed(extract_tb(traceback, limit=-MAX_PLACES))
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
