"""Compares an outcome with what its case expects, key by key, and texts word by word."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from judge.golden.cases import Expected
from judge.golden.evaluators import EVALUATORS, Evaluators, evaluate, parameter_of
from judge.golden.replay import Outcome

MASK = "(changes)"  # in an exact body, for what differs between runs
_VOLATILE = ("id", "timings_ms", "versions")
_ABSENT = "(absent)"
_PERSONAS = ("therapist", "analyst", "coach")

CONTEXT = 12  # words of unchanged text that are shown before and after a change
_WORD = re.compile(r"\s*\S+|\s+$")


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that is not as expected."""

    field: str
    expected: object
    found: object


def differences(
    expected: Expected, outcome: Outcome, evaluators: Evaluators = EVALUATORS
) -> tuple[Difference, ...]:
    """Everything in *outcome* that is not as *expected*, each once; empty when it passes."""
    found = list(_find_differences(expected, outcome, evaluators))  # not hashable
    return tuple(item for at, item in enumerate(found) if item not in found[:at])


def live_expectations(expected: Expected) -> Expected:
    """The part of *expected* that any good answer must meet, not only the recorded one."""
    good = {"grounded", "not_applicable", "none"}
    evidence = expected.evidence if expected.evidence in good else None
    dropped = ("attempts", "degraded", "defects", "prompt_digest", "body", "exact_body")
    changes = dict.fromkeys(dropped) | {"evidence": evidence, "second_prompt_names": ()}
    return expected.model_copy(update=changes)


def masked(body: Mapping[str, Any]) -> dict[str, Any]:
    """*body* with MASK for what differs between runs: ids, times, versions."""
    result: dict[str, Any] = {
        key: MASK if key in _VOLATILE else value for key, value in body.items()
    }
    if "references" in result:
        result["references"] = [{**item, "fetched_at": MASK} for item in body["references"]]
    return result


def body_differences(
    expected: object, found: object, *, is_exact: bool, path: str = ""
) -> Iterator[Difference]:
    """Where *found* differs; unless *is_exact*, only what *expected* names is compared."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        more = [key for key in found if key not in expected] if is_exact else []
        for key in [*expected, *more]:
            below = f"{path}.{key}".lstrip(".")
            wanted, actual = expected.get(key, _ABSENT), found.get(key, _ABSENT)
            yield from body_differences(wanted, actual, is_exact=is_exact, path=below)
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield Difference(f"{path}.length", len(expected), len(found))
        for index, (wanted, actual) in enumerate(zip(expected, found, strict=False)):
            yield from body_differences(wanted, actual, is_exact=is_exact, path=f"{path}.{index}")
    elif expected != found or type(expected) is not type(found):
        yield Difference(path, expected, found)


def found_values(outcome: Outcome) -> dict[str, object]:
    """The values of *outcome* for those keys of `expected` that name one."""
    body = outcome.body
    verdicts = {persona["name"]: persona["verdict"] for persona in body.get("personas", ())}
    return {
        "type": str(body.get("type", "")).rpartition("/")[2],
        **{key: body.get(key) for key in ("domain", "attempts", "evidence", "degraded")},
        "references": len(body.get("references", ())),
        **{f"{name}Verdict": verdicts.get(name.title()) for name in _PERSONAS},
        "expectCitation": bool(body.get("citations")),
        "defects": [defect["rule"] for defect in body.get("defects", ())],
        "prompt_digest": outcome.prompt_digest,
    }


def _find_differences(
    expected: Expected, outcome: Outcome, evaluators: Evaluators
) -> Iterator[Difference]:
    yield from _status_differences(expected, outcome)
    if outcome.status != expected.status:
        return
    stated = expected.model_dump(by_alias=True, exclude_unset=True)
    for key, found in found_values(outcome).items():
        wanted = stated.get(key, found)
        # An expected verdict may be null, which differs from leaving it out.
        if wanted != found and (wanted is not None or key.endswith("Verdict")):
            yield Difference(key, wanted, found)
    if pattern := expected.summary_matches:
        summary = str(outcome.body.get("summary", ""))
        if not re.search(pattern, summary, re.DOTALL):
            yield Difference("summary_matches", pattern, summary)
    second = "".join(outcome.prompts[1:2])
    absent = [words for words in expected.second_prompt_names if words not in second]
    yield from (Difference("second_prompt_names", words, second[-300:]) for words in absent)
    yield from body_differences(expected.body or {}, outcome.body, is_exact=False)
    if expected.exact_body is not None:
        yield from body_differences(expected.exact_body, masked(outcome.body), is_exact=True)
    for name, wanted in expected.evaluators.items() if outcome.status == 200 else ():
        if complaints := evaluate(evaluators[name], outcome.body, wanted):
            is_plain = parameter_of(evaluators[name]) is None
            yield Difference(name, "yes" if is_plain else wanted, complaints)


def _status_differences(expected: Expected, outcome: Outcome) -> Iterator[Difference]:
    """The status, if it differs; or the broken rule, where the case has no reply after it."""
    is_other = outcome.status != expected.status
    if is_other and not (outcome.lacks_reply and outcome.defects):
        reply = f"{outcome.status} {outcome.body.get('detail', '')}".strip()
        yield Difference("status", expected.status, reply)
    if is_other or outcome.lacks_reply:
        for defect in outcome.defects:
            yield Difference(f"{defect.rule} in {defect.field}", defect.expected, defect.value)


def word_diff(before: str, after: str) -> str:
    """What changed, as `git diff --word-diff` has it: [-removed-]{+added+}, with some context.

    Empty when the texts are equal.
    """
    if before == after:
        return ""
    old, new = _WORD.findall(before), _WORD.findall(after)
    parts = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT):
        text = ""
        for kind, i, j, k, m in group:
            removed, added = "".join(old[i:j]), "".join(new[k:m])
            if kind == "equal":
                text += removed
            else:
                text += f"[-{removed}-]" * bool(removed) + f"{{+{added}+}}" * bool(added)
        parts.append(text)
    return " … ".join(parts)
