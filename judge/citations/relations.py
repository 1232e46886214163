"""Finds relations in a sentence: who does what to whom, what comes first, what is compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from judge.citations.reading import DETERMINERS, PASSIVE, POSSESSIVES
from judge.citations.stance import Stance, Word
from judge.citations.statement import Statement
from judge.citations.vocabulary import FIGURES, vocabulary
from judge.text.english import stems

_AMOUNTS = frozenset(stems("more increase".split()))
"""The concepts of more and less, and of higher and lower."""

_REACH = 8
"""Words between `more` and its `than`, at most."""

_PREPOSITIONS = frozenset("to from by of with for against on about in at".split())

_ORDERING = frozenset({"before", "after", "prior", "until"})
_NOT_TEMPORAL = frozenset("up look looks looked looking".split())
"""Words before an `after` that is not about time: "clean up after a dog", "look after a child"."""


@dataclass(frozen=True, slots=True)
class ActorRole:
    """Who does something, and to whom; "" if the sentence does not say."""

    agent: str
    patient: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two things of which one is said to have more of something than the other.

    Each thing is a set of concepts with signs, so that "not married" differs from "married".
    """

    greater: frozenset[tuple[str, int]]
    lesser: frozenset[tuple[str, int]]
    by: Mapping[str, int]
    """The compared properties, with sign -1 if there is less: "slower and dearer" has two."""


def owned(statement: Statement) -> frozenset[str]:
    """People named with a possessive: "your landlord" is not "you"."""
    after = {next_ for text, next_ in pairwise(statement.tokens) if text in POSSESSIVES}
    return frozenset(stems(text.removesuffix("'s") for text in after)) & vocabulary().people


def find_order(statement: Statement) -> tuple[frozenset[str], frozenset[str]]:
    """The concepts of what comes earlier and of what comes later; empty if nothing says so."""
    tokens, words = statement.tokens, statement.words
    if _ORDERING.isdisjoint(tokens):
        return frozenset(), frozenset()  # as in most sentences
    places = [at for at, text in enumerate(tokens) if text in _ORDERING and _is_time(tokens, at)]
    places = places or [at for at, text in enumerate(tokens) if text == "until"]
    if len(places) != 1:
        return frozenset(), frozenset()
    at = places[0]
    if not tokens[at + 1 : at + 2] or not tokens[at + 1][0].isalpha():
        return frozenset(), frozenset()
    end = next((n for n in range(at + 1, len(tokens)) if tokens[n] == ","), len(tokens))
    if at == 0 and end == len(tokens):
        return frozenset(), frozenset()
    following = next((word.condition for word in words if word.at > at), "")
    words = [word for word in words if (word.condition == "if") == (following == "if")]
    beside = _from_head([w for w in words if at < w.at < end])
    rest = _from_head([w for w in words if w.at < at or (at == 0 and w.at > end)])
    return (beside, rest) if tokens[at] in {"after", "until"} else (rest, beside)


def _is_time(tokens: Sequence[str], at: int) -> bool:
    if tokens[at] == "prior":
        return tokens[at + 1 : at + 2] == ["to"]
    return tokens[at] != "until" and not (at and tokens[at - 1] in _NOT_TEMPORAL)


def _from_head(words: Sequence[Word]) -> frozenset[str]:
    """Their concepts from the first head on, or all of them if none is a head."""
    start = next((at for at, word in enumerate(words) if word.is_head), 0)
    return frozenset(word.lexeme.concept for word in words[start:])


def find_comparison(statement: Statement) -> Comparison | None:
    """The two sides of `than` if there is exactly one, else None."""
    tokens, words = statement.tokens, statement.words
    if tokens.count("than") != 1:
        return None
    at = tokens.index("than")
    after = [word for word in words if word.at > at]
    by = _degrees(tokens, words, at)
    is_named = tokens[at + 1 : at + 2] and tokens[at + 1][0].isalpha()
    if not by or not after or not is_named or tokens[at + 1] in FIGURES:
        return None
    said = [
        (word, (word.lexeme.concept, word.lexeme.sign * word.stance.sign))
        for word in words
        if word.lexeme.stem != "one" and word.lexeme.concept not in by
    ]
    return Comparison(
        greater=frozenset(item for word, item in said if word.at < at),
        lesser=frozenset(i for word, i in said if word.at > at and word.clause == after[0].clause),
        by=by,
    )


def _degrees(tokens: Sequence[str], words: Sequence[Word], at: int) -> dict[str, int]:
    """The properties compared by the `than` at *at*, with their signs."""
    concepts = {word.at: word for word in words}
    by: dict[str, int] = {}
    for place in range(at - 1, max(at - _REACH, 0) - 1, -1):
        text, word = tokens[place], concepts.get(place)
        if text in {"more", "less", "fewer"}:
            sign = -1 if word is not None and word.stance == Stance("must", -1) else 1
            by.setdefault("", sign if text == "more" else -sign)
        elif word is not None and (text == "worse" or (text.endswith("er") and len(text) > 4)):
            concept = "" if word.lexeme.concept in _AMOUNTS else word.lexeme.concept
            by.setdefault(concept, word.lexeme.sign * word.stance.sign)
    return by


def find_role(verb: Word, statement: Statement) -> ActorRole | None:
    """Who does *verb* to whom, by the nearest people around it; None for a noun or "with"."""
    tokens = statement.tokens
    previous = tokens[verb.at - 1] if verb.at else ""
    if previous in DETERMINERS:
        return None  # a noun: "for permission", "your consent"
    around = [(p, _preposition(tokens, p.at)) for p in statement.people if p.clause == verb.clause]
    before = [p.name for p, preposition in around if p.at < verb.at and not preposition]
    after = [(p.name, preposition) for p, preposition in around if p.at > verb.at]
    subject = before[-1] if before else ""
    if not PASSIVE.isdisjoint(tokens[max(0, verb.at - 2) : verb.at]):
        return ActorRole(next((name for name, by in after if by == "by"), ""), subject)
    if any(preposition == "with" for _, preposition in after):
        return None
    return ActorRole(subject, next((name for name, by in after if by not in {"by", "of"}), ""))


def _preposition(tokens: Sequence[str], at: int) -> str:
    """The preposition before the person at *at*; "" before a subject or an object."""
    before = tokens[at - 1] if at else ""
    if before in DETERMINERS:
        before = tokens[at - 2] if at > 1 else ""
    return before if before in _PREPOSITIONS else ""
