"""The events that every entrypoint logs: verdicts and unexpected errors."""

from pathlib import Path
from traceback import extract_tb

from judge.bootstrap.services import Services
from judge.ports import Journal
from judge.types.results import JudgeResult


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
    """Log an unexpected error: its type and place, never its text, which may quote a person."""
    causes: list[BaseException] = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) and cause not in causes:
        causes.append(cause)
    frames = reversed(extract_tb(error.__traceback__, limit=-8))
    journal.note(
        event,
        error=" <- ".join(type(cause).__name__ for cause in causes),
        place=" < ".join(f"{Path(at.filename).name}:{at.lineno} {at.name}" for at in frames),
    )


async def warm(services: Services, *, event: str = "http.error") -> None:
    """Warm the caches that the first requests would wait for; a failure is only logged."""
    try:
        await services.warm()
    except Exception as error:  # noqa: BLE001 - no reason not to serve
        log_error(services.journal, error, event=event)
