"""Bring named cases up to date: what is exact in them becomes what a replay gives now.

Replies and pages stay as they are, and so does what people meant: patterns, evaluators, floors.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.errors import JudgeError
from judge.golden.case_reader import StoredCase, load_cases
from judge.golden.case_runner import Outcome, RunConfig, run_case
from judge.golden.case_writer import as_text, write_output, writing_to
from judge.golden.cases import Expected
from judge.golden.differences import Difference, body_differences, differences, found_value, masked

_WRITTEN_BY_PEOPLE = frozenset(
    {"summary_matches", "second_prompt_names", "evaluators", "floor", "body", "exact_body"}
)


class CannotReplay(JudgeError):
    """A case needs replies or pages that it does not have; the text names them."""


@dataclass(frozen=True, slots=True)
class Update:
    """What became of one case: the fields that changed, and what is still not as expected."""

    name: str
    changed: tuple[Difference, ...]
    remaining: tuple[Difference, ...]


async def update_cases(folder: Path, names: Sequence[str], config: RunConfig) -> list[Update]:
    """Rewrite the cases *names* of *folder*, all or none.

    Raises CannotReplay when a case would need a reply or page that it has not, CasesLocked while
    another process is at it, and what `load_cases` raises.
    """
    load_cases(folder, names)  # What is wrong with them is raised before anything is locked.
    with writing_to(folder):
        cases = load_cases(folder, names)
        renewed = [(stored.path, *await _renewed(stored, config)) for stored in cases]
        for path, document, _ in renewed:
            write_output(path, as_text(document).encode())
        return [update for *_, update in renewed]


async def _renewed(stored: StoredCase, config: RunConfig) -> tuple[dict[str, Any], Update]:
    """The document that *stored* becomes, and what that changes."""
    outcome = await run_case(stored, config)
    # A case that was written by hand may leave out pages on purpose; a recorded one may not.
    missing = [one for one in outcome.missing if stored.case.recorded or one.startswith("reply")]
    if missing:
        raise CannotReplay(
            f"{stored.name} needs {', '.join(missing)}, which it does not have. Nothing is "
            "invented: record the case anew with `judge golden new`, or write it by hand. "
            "No case was changed."
        )
    document = json.loads(stored.path.read_text(encoding="utf-8-sig"))
    before = document.get("expected", {})
    document["expected"] = {key: _value(key, old, outcome) for key, old in before.items()}
    changed = tuple(body_differences(before, document["expected"], is_exact=True))
    remaining = differences(Expected.model_validate(document["expected"]), outcome)
    return document, Update(stored.name, changed, remaining)


def _value(key: str, old: Any, outcome: Outcome) -> Any:
    if key == "status":
        return outcome.status
    if key == "body":
        return _projected(old, outcome.body)
    if key == "exact_body":
        return masked(outcome.body)
    is_left_out = old is None and not key.endswith("Verdict")
    return old if key in _WRITTEN_BY_PEOPLE or is_left_out else found_value(key, outcome)


def _projected(old: Any, found: Any) -> Any:
    """The part of *found* that *old* names."""
    if isinstance(old, Mapping) and isinstance(found, Mapping):
        return {key: _projected(below, found[key]) for key, below in old.items() if key in found}
    if isinstance(old, list) and isinstance(found, list) and len(old) == len(found):
        return [_projected(one, other) for one, other in zip(old, found, strict=True)]
    return found
