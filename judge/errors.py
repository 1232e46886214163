"""All errors of the core, each below the class that it is a special case of.

No error has an HTTP status or an exit code; its class's name is its kind in `judge/problems.py`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge.types.replies import Defect
    from judge.types.results import HelpLine


class JudgeError(Exception):
    """The base class of our errors; its text may be shown to the caller."""

    help_lines: "tuple[HelpLine, ...]" = ()
    """Whom to turn to; set where a dispute was read and not judged."""
    retry_after_s: float | None = None
    """When trying again may help."""


class ConfigurationError(JudgeError):
    """A setting is missing or wrong; the text names the key and the fix."""


class MissingKey(ConfigurationError):
    """A service is configured by name, and the setting for its key is empty."""


class InvalidAddress(ConfigurationError):
    """The setting for a server holds no valid address."""


class InvalidRequest(JudgeError):
    """The request is invalid; `field` names the part that is wrong."""

    field = "body"


class UnknownDomain(InvalidRequest):
    """The request names a domain that is not configured."""

    def __init__(self, name: str, valid: Sequence[str]) -> None:
        super().__init__(f"There is no domain {name!r}. Valid are: {', '.join(valid)}.")
        self.valid = tuple(valid)


class BadScope(InvalidRequest):
    """A scope has an unknown kind, an empty value or an unknown collection."""

    def __init__(self, message: str, valid: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.valid = tuple(valid)


class MissingValue(BadScope):
    """A mention of *kind* has no value; the index knows the valid ones."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class UnreadableDocument(InvalidRequest):
    """A document cannot be indexed; the text says why: too large, broken, encrypted or empty."""


class NotFound(InvalidRequest):
    """The document, passage or symbol that was named does not exist."""


class Ambiguous(InvalidRequest):
    """Several definitions of the code have the name; *candidates* are their full names."""

    def __init__(self, message: str, candidates: Sequence[str]) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


class UnknownRepository(NotFound):
    """JUDGE_CODE_ROOTS has no repository *name*, or several and none was named; *valid* are all."""

    def __init__(self, name: str | None, valid: Sequence[str]) -> None:
        names = ", ".join(valid)
        if not valid:
            text = "No repository may be asked about: set JUDGE_CODE_ROOTS=name=path."
        elif name is None:
            text = f"There are several repositories; name one of: {names}."
        else:
            text = f"There is no repository {name[:64]!r}. Valid are: {names}."
        super().__init__(text)
        self.valid = tuple(valid)


class FetchError(JudgeError):
    """A page could not be fetched, for *reason*, a stable word; *status* is the reply's."""

    def __init__(self, reason: str, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.reason = reason
        self.status = status


class CacheUnavailable(JudgeError):
    """The shared cache did not answer in time."""


class IndexUnavailable(JudgeError):
    """The search index did not answer."""

    retry_after_s = 5.0


class IndexLocked(IndexUnavailable):
    """Another process is writing to the index; *holder* names it, as far as it is known."""

    def __init__(self, holder: str) -> None:
        super().__init__(
            f"The index is being written to by {holder}. Try again when it has finished."
        )


class EmbedderUnavailable(JudgeError):
    """The embedding service did not answer; the text says why."""


class ModelUnavailable(JudgeError):
    """The model cannot answer now; *hint* tells whoever runs the service what to check."""

    def __init__(self, message: str, retry_after_s: float = 5.0, hint: str = "") -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.hint = hint


class BudgetSpent(ModelUnavailable):
    """The tokens of this day are spent; no model was called."""


class ContentBlocked(JudgeError):
    """The model's safety filter refused the dispute, after *tokens* were used."""

    def __init__(
        self, reason: str, help_lines: "Sequence[HelpLine]" = (), *, tokens: int = 0
    ) -> None:
        advice = " If somebody is in danger, please use one of the help lines."
        super().__init__(
            f"The model's safety filter did not accept this dispute.{advice if help_lines else ''}"
        )
        self.reason = reason
        self.help_lines = tuple(help_lines)
        self.tokens = tokens


class InvalidReply(JudgeError):
    """Each reply of the model broke a hard rule; *attempts* are the defects of each, in order."""

    def __init__(self, *attempts: "Sequence[Defect]") -> None:
        super().__init__(
            f"The model's reply broke our rules {len(attempts)} times, so it is not shown. "
            "Please try again."
        )
        self.by_attempt = attempts
        self.defects = tuple(defect for defects in attempts for defect in defects)
        self.attempts = len(attempts)


class Overloaded(JudgeError):
    """More judgements are running than this process can finish in time; try again later."""

    retry_after_s = 5.0

    def __init__(self) -> None:
        super().__init__("Too many disputes are being judged just now. Please try again shortly.")


class DeadlineExceeded(JudgeError):
    """The request took longer than the deadline allows."""

    def __init__(self, deadline_s: float) -> None:
        super().__init__(f"No verdict was ready within {deadline_s:g} seconds. Please try again.")
