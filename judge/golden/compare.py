"""Hold an outcome against what a case expects; each difference is one readable line."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judge.golden.cases import Expected, GoldenCase
from judge.golden.run import Outcome, digest_of


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that is not as expected."""

    field: str
    expected: object
    found: object

    def __str__(self) -> str:
        return f"{self.field}: expected {self.expected!r}, found {self.found!r}"


def differences(case: GoldenCase, outcome: Outcome) -> tuple[Difference, ...]:
    """Everything in *outcome* that is not as *case* expects; empty when it passes."""
    return tuple(_differences(case.expected, outcome))


def _differences(expected: Expected, outcome: Outcome) -> Iterator[Difference]:
    if outcome.status != expected.status:
        yield Difference("status", expected.status, outcome.status)
        return
    for field, find in _PLAIN.items():
        wanted = getattr(expected, field)
        if wanted is not None and (found := find(outcome)) != wanted:
            yield Difference(field, wanted, found)
    pattern = expected.summary_matches
    summary = str(outcome.body.get("summary", ""))
    if pattern is not None and not re.search(pattern, summary, re.DOTALL):
        yield Difference("summary_matches", pattern, summary)
    for words in expected.second_prompt_names:
        second = outcome.prompts[1].instructions if len(outcome.prompts) > 1 else ""
        if words not in second:
            yield Difference("second_prompt_names", words, second[-300:])
    yield from _body_differences("", expected.body or {}, outcome.body)


def _body_differences(path: str, expected: object, found: object) -> Iterator[Difference]:
    """Only what *expected* names is compared, so that volatile fields can be left out."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for key, value in expected.items():
            yield from _body_differences(f"{path}.{key}".lstrip("."), value, found.get(key))
    elif isinstance(expected, list) and isinstance(found, list | tuple):
        if len(expected) != len(found):
            yield Difference(f"{path}.length", len(expected), len(found))
        for index, (one, other) in enumerate(zip(expected, found, strict=False)):
            yield from _body_differences(f"{path}.{index}", one, other)
    elif expected != found:
        yield Difference(path, expected, found)


def _verdict(index: int) -> Callable[[Outcome], object]:
    return lambda outcome: outcome.body["personas"][index]["verdict"]


def _body(key: str) -> Callable[[Outcome], object]:
    return lambda outcome: outcome.body.get(key)


def _kind(outcome: Outcome) -> str:
    return str(outcome.body.get("type", "")).rpartition("/")[2]


def _rules(outcome: Outcome) -> tuple[Any, ...]:
    return tuple(defect["rule"] for defect in outcome.body.get("defects", ()))


_PLAIN: Mapping[str, Callable[[Outcome], object]] = {
    "type": _kind,
    "domain": _body("domain"),
    "attempts": _body("attempts"),
    "evidence": _body("evidence"),
    "degraded": _body("degraded"),
    "references": lambda outcome: len(outcome.body.get("references", ())),
    "therapist_verdict": _verdict(0),
    "analyst_verdict": _verdict(1),
    "coach_verdict": _verdict(2),
    "expect_citation": lambda outcome: bool(outcome.body.get("citations")),
    "defects": _rules,
    "prompt_digest": lambda outcome: digest_of(outcome.prompts),
}
