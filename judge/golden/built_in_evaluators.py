"""The evaluators that come with Judge, in the form of a file of one's own: see `evaluators.py`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from judge.text.english import words
from judge.types.replies import VerdictWord

# An empty phrase would stand in every text.
Phrase = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Body = Mapping[str, Any]
Complaints = Iterable[str]  # the reasons for a no
_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_Limited = Literal["paraphrase", "summary", "rationale"]

_ADDRESS = frozenset("you your yours yourself you're you've you'd you'll".split())
_LEGAL_ADVICE = re.compile(
    r"\b(?:you (?:should|must) sue|you will win (?:in court|the case)|as your lawyer)\b",
    re.IGNORECASE,
)


def _prose(body: Body) -> Iterator[tuple[str, str]]:
    """Field and text of all prose that a reader sees."""
    yield "paraphrase", body["paraphrase"]
    yield "summary", body["summary"]
    for index, persona in enumerate(body["personas"]):
        yield f"personas.{index}.rationale", persona["rationale"]
        for point, text in enumerate(persona["key_points"]):
            yield f"personas.{index}.key_points.{point}", text


def _places(body: Body, is_wrong: Callable[[Body], bool]) -> list[str]:
    """Where the citations stand that are wrong."""
    return [f"[{c['number']}] in {c['field']}" for c in body["citations"] if is_wrong(c)]


def cites_something(body: Body) -> Complaints:
    """Is anything cited?"""
    return [] if body["citations"] else ["no citation"]


def summary_cites(body: Body) -> Complaints:
    """Does the summary cite something?"""
    is_cited = any(c["field"] == "summary" for c in body["citations"])
    return [] if is_cited else ["no citation in the summary"]


def no_citation(body: Body) -> Complaints:
    """Is nothing cited?"""
    return [f"{len(body['citations'])} citations"] if body["citations"] else []


def every_citation_verified(body: Body) -> Complaints:
    """Does every citation name a sentence that it rests on?"""
    return _places(body, lambda citation: citation["quote_status"] != "verified")


def no_contradiction(body: Body) -> Complaints:
    """Does no sentence say the opposite of what it cites?"""
    return _places(body, lambda citation: citation["contradicts"])


def declines_references(body: Body) -> Complaints:
    """Are the references said not to help, and none cited?"""
    evidence = body["evidence"]
    return [] if evidence == "not_applicable" else [f"evidence is {evidence}"]


def citations_supported(body: Body, least: _Share) -> Complaints:
    """Is each citing sentence supported at least this far by what it cites?"""
    return _places(body, lambda c: c["support"] is not None and c["support"] < least)


def verdict_is(body: Body, wanted: dict[str, VerdictWord | list[VerdictWord]]) -> Complaints:
    """Is this the verdict?"""
    verdicts = {persona["name"]: persona["verdict"] for persona in body["personas"]}
    return [
        f"{name}: {verdicts.get(name)}"
        for name, right in wanted.items()
        if verdicts.get(name) not in ([right] if isinstance(right, str) else right)
    ]


def mentions(body: Body, wanted: list[Phrase]) -> Complaints:
    """Is each of these mentioned?"""
    prose = " ".join(text for _, text in _prose(body)).casefold()
    return [f"nothing of {phrase}" for phrase in wanted if phrase.casefold() not in prose]


def avoids(body: Body, unwanted: list[Phrase]) -> Complaints:
    """Is none of these said?"""
    return [
        f"{phrase} in {field}"
        for field, text in _prose(body)
        for phrase in unwanted
        if phrase.casefold() in text.casefold()
    ]


def words_at_most(body: Body, limits: dict[_Limited, int]) -> Complaints:
    """Is each text short enough, in words?"""
    for field, text in _prose(body):
        for kind, limit in limits.items():
            if field.endswith(kind) and len(words(text)) > limit:
                yield f"{len(words(text))} words in {field}"


def addresses_you(body: Body) -> Complaints:
    """Does the summary speak to the person?"""
    return [] if _ADDRESS & set(words(body["summary"])) else ["the summary speaks to nobody"]


def gives_no_legal_advice(body: Body) -> Complaints:
    """Is nobody told to sue or promised to win?"""
    return [f"{m.group()} in {f}" for f, text in _prose(body) for m in _LEGAL_ADVICE.finditer(text)]


def both_sides_hold(body: Body) -> Complaints:
    """Is the other side heard, and are not both told that they are right?"""
    other = body.get("other_side")
    if not other or other["agrees"] is None:
        return [f"the other side was not heard: {other['note'] if other else 'nobody asked'}"]
    return [] if other["agrees"] else ["both sides are told that they are right"]


def offers_help(body: Body) -> Complaints:
    """Are help lines given?"""
    return [] if body["help"] else ["no help line"]
