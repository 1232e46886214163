"""Updates cases: what they expect exactly becomes what a replay gives now.

Replies and pages stay, and so do the expectations that people wrote: patterns, evaluators, floors.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.errors import JudgeError
from judge.golden.case_reader import StoredCase, load_cases
from judge.golden.case_runner import Outcome, RunConfig, run_case
from judge.golden.case_writer import cases_lock, serialize_case, write_output
from judge.golden.cases import Expected
from judge.golden.differences import Difference, body_differences, differences, found_value, masked

_WRITTEN_BY_PEOPLE = frozenset(
    {"summary_matches", "second_prompt_names", "evaluators", "graded", "floor"}
)


class CannotReplay(JudgeError):
    """A case needs replies or pages that it does not have; the message names them."""


@dataclass(frozen=True, slots=True)
class Update:
    """The update of one case: the fields that changed, and what still is not as expected."""

    name: str
    changed: tuple[Difference, ...]
    remaining: tuple[Difference, ...]


async def update_cases(folder: Path, names: Sequence[str], config: RunConfig) -> list[Update]:
    """Rewrite the cases *names* of *folder*, all or none.

    Raises CannotReplay when a case needs a reply or page that it does not have, CasesLocked while
    another process holds the lock, and what `load_cases` raises.
    """
    load_cases(folder, names)  # Raise their errors before anything is locked.
    with cases_lock(folder):
        cases = load_cases(folder, names)
        updated = [(stored.path, *await _updated(stored, config)) for stored in cases]
        for path, document, _ in updated:
            write_output(path, serialize_case(document).encode())
        return [update for *_, update in updated]


async def _updated(stored: StoredCase, config: RunConfig) -> tuple[dict[str, Any], Update]:
    """The new document of *stored*, and what it changes."""
    outcome = await run_case(stored, config)
    # A case that was written by hand may leave out pages on purpose; a recorded one may not.
    missing = [name for name in outcome.missing if stored.case.recorded or name.startswith("reply")]
    if missing:
        raise CannotReplay(
            f"{stored.name} needs {', '.join(missing)}, which it does not have. Nothing is "
            "invented: record the case anew with `judge golden new`, or write it by hand. "
            "No case was changed."
        )
    document = json.loads(stored.path.read_text(encoding="utf-8-sig"))
    before = document.get("expected", {})
    document["expected"] = {key: _new_value(key, old, outcome) for key, old in before.items()}
    changed = tuple(body_differences(before, document["expected"], is_exact=True))
    remaining = differences(Expected.model_validate(document["expected"]), outcome)
    return document, Update(stored.name, changed, remaining)


def _new_value(key: str, old: Any, outcome: Outcome) -> Any:
    is_left_out = old is None and not key.endswith("Verdict")
    if key in _WRITTEN_BY_PEOPLE or is_left_out:
        return old
    if key == "status":
        return outcome.status
    if key == "body":
        return _projected(old, outcome.body)
    return masked(outcome.body) if key == "exact_body" else found_value(key, outcome)


def _projected(old: Any, found: Any) -> Any:
    """The part of *found* that *old* names."""
    if isinstance(old, Mapping) and isinstance(found, Mapping):
        return {key: _projected(below, found[key]) for key, below in old.items() if key in found}
    if isinstance(old, list) and isinstance(found, list) and len(old) == len(found):
        return [_projected(before, after) for before, after in zip(old, found, strict=True)]
    return found
