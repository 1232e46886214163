"""Compares an outcome with what its case expects, key by key; each difference names one field."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judge.golden.case_runner import Outcome
from judge.golden.cases import Expected
from judge.golden.evaluators import EVALUATORS, Evaluators, evaluate, parameter_of

MASK = "(changes)"
"""Replaces values in an exact body that differ between runs."""

MATCH_TIMEOUT_S = 1.0
"""Seconds for the regular expression of a case, since some never end."""

_VOLATILE = ("id", "timings_ms", "versions")
_ABSENT = "(absent)"


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


def found_value(key: str, outcome: Outcome) -> object:
    """The value of *outcome* for the *key* of an expectation, as a case would state it."""
    by_alias = {field.alias: name for name, field in Expected.model_fields.items() if field.alias}
    found = _GETTERS[by_alias.get(key, key)](outcome)
    return list(found) if isinstance(found, tuple) else found


def _find_differences(
    expected: Expected, outcome: Outcome, evaluators: Evaluators
) -> Iterator[Difference]:
    yield from _status_differences(expected, outcome)
    if outcome.status != expected.status:
        return
    for field, find in _GETTERS.items():
        wanted = getattr(expected, field)
        # An expected verdict may be null, which differs from leaving it out.
        is_expected = wanted is not None or (
            field.endswith("_verdict") and field in expected.model_fields_set
        )
        if is_expected and (found := find(outcome)) != wanted:
            yield Difference(field, wanted, found)
    if expected.summary_matches is not None:
        summary = str(outcome.body.get("summary", ""))
        yield from _summary_difference(expected.summary_matches, summary)
    for words in expected.second_prompt_names:
        second = "".join(outcome.prompts[1:2])
        if words not in second:
            yield Difference("second_prompt_names", words, second[-300:])
    yield from body_differences(expected.body or {}, outcome.body, is_exact=False)
    if expected.exact_body is not None:
        yield from body_differences(expected.exact_body, masked(outcome.body), is_exact=True)
    for name, wanted in expected.evaluators.items() if outcome.status == 200 else ():
        if complaints := evaluate(evaluators[name], outcome.body, wanted):
            is_plain = parameter_of(evaluators[name]) is None
            yield Difference(name, "yes" if is_plain else wanted, complaints)


def _summary_difference(pattern: str, summary: str) -> Iterator[Difference]:
    import regex  # type: ignore[import-untyped]  # noqa: PLC0415 - as in `cases`

    try:
        if not regex.search(pattern, summary, regex.DOTALL, timeout=MATCH_TIMEOUT_S):
            yield Difference("summary_matches", pattern, summary)
    except TimeoutError:
        late = f"(not known within {MATCH_TIMEOUT_S:g} s; make the expression simpler)"
        yield Difference("summary_matches", pattern, late)


def _status_differences(expected: Expected, outcome: Outcome) -> Iterator[Difference]:
    """The status, if it differs; or the broken rule, where the case has no reply after it."""
    is_other = outcome.status != expected.status
    if is_other and not (outcome.lacks_reply and outcome.defects):
        reply = f"{outcome.status} {outcome.body.get('detail', '')}".strip()
        yield Difference("status", expected.status, reply)
    if is_other or outcome.lacks_reply:
        for defect in outcome.defects:
            field = f"{defect.rule} in {defect.field}"
            yield Difference(field, defect.expected, defect.value)


def _verdict(name: str) -> Callable[[Outcome], object]:
    return lambda outcome: next(
        (p["verdict"] for p in outcome.body.get("personas", ()) if p["name"] == name), None
    )


def _body_field(key: str) -> Callable[[Outcome], object]:
    return lambda outcome: outcome.body.get(key)


_GETTERS: Mapping[str, Callable[[Outcome], object]] = {
    "type": lambda outcome: str(outcome.body.get("type", "")).rpartition("/")[2],
    **{key: _body_field(key) for key in ("domain", "attempts", "evidence", "degraded")},
    "references": lambda outcome: len(outcome.body.get("references", ())),
    "therapist_verdict": _verdict("Therapist"),
    "analyst_verdict": _verdict("Analyst"),
    "coach_verdict": _verdict("Coach"),
    "expect_citation": lambda outcome: bool(outcome.body.get("citations")),
    "defects": lambda outcome: tuple(d["rule"] for d in outcome.body.get("defects", ())),
    "prompt_digest": lambda outcome: outcome.prompt_digest,
}
