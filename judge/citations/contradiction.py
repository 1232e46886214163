"""Does a claim say the opposite of a sentence?

Both are read, and what they say of the words they share is compared.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from judge.citations.facts import Fact, differ, quantities
from judge.citations.reading import Reading, read
from judge.citations.relations import ActorRole
from judge.citations.stance import FACT, Word
from judge.citations.vocabulary import vocabulary

MIN_OVERLAP = 0.65
"""Share of the claim's content words the sentence must hold, or they speak of different things."""

_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "mis")
_SIGN = {True: "sign", False: "sign beyond"}
"""Beyond the first word that a cue holds for, it may hold no more."""

_SHARES = {frozenset(pair) for pair in (("all", "some"), ("all", "few"), ("most", "few"))}


@dataclass(frozen=True)
class Statement:
    """A sentence with all that is compared."""

    sentence: str
    reading: Reading
    concepts: frozenset[str]
    stems: frozenset[str]

    @classmethod
    def of(cls, sentence: str) -> "Statement":
        """Read *sentence*."""
        reading = read(sentence)
        return cls(
            sentence,
            reading,
            frozenset(word.concept for word in reading.words),
            frozenset(word.stem for word in reading.words),
        )

    @functools.cached_property
    def facts(self) -> list[Fact]:
        """Its numbers, looked for when they are first compared: most sentences have none."""
        return quantities(self.sentence)


def overlap(claim: Statement, source: Statement) -> float:
    """The share of the claim's content words that *source* holds, or the opposites of."""
    ours = {word.concept: word.stem for word in claim.reading.words}
    found = sum(_holds(source, concept, stem) for concept, stem in ours.items())
    return found / len(ours) if ours else 0.0


def _holds(source: Statement, concept: str, stem: str) -> bool:
    """Whether *source* speaks of what this word does, or of its opposite."""
    known = vocabulary()
    return (
        _known_as(concept, source.concepts) is not None
        or not source.stems.isdisjoint(known.contraries.get(stem, ()))
        or not source.stems.isdisjoint(known.opposites.get(stem, ()))
    )


def disagreements(claim: Statement, source: Statement) -> list[str]:
    """What *claim* says otherwise than *source*, each in a word for its kind."""
    return list(_disagreements(claim, source))


def is_turned(claim: Statement, source: Statement) -> bool:
    """Whether one of them has an odd and the other an even number of reversals.

    Denials, and words that are the opposite of others. Two in one sentence undo each other, so
    that "not without" is "with" and "cannot refuse" is "must accept".
    """
    counts = _reversals(claim.reading, source) + _reversals(source.reading, claim)
    return (counts + _opposed(claim, source)) % 2 == 1


def may_be_turned(claim: Statement, source: Statement) -> bool:
    """Whether *source* reverses what it says and *claim*, of other words, does not.

    The other way round tells nothing: who says a thing in other words often denies its opposite.
    """
    ours, theirs = (sum(map(_turns, one.reading.words)) for one in (claim, source))
    return (theirs + _opposed(claim, source)) % 2 == 1 and ours % 2 == 0


def _reversals(reading: Reading, other: Statement) -> int:
    """Those in clauses that hold something of the *other* sentence."""
    clauses = {word.clause for word in reading.words if _known_as(word.concept, other.concepts)}
    return sum(_turns(word) for word in reading.words if word.clause in clauses)


def _opposed(claim: Statement, source: Statement) -> int:
    """The words of the claim of which *source* has the opposite and no more of them."""
    opposites = vocabulary().opposites
    known = {word.concept: _known_as(word.concept, source.concepts) for word in claim.reading.words}
    prefixed = sum(found is not None and found[1] < 0 for found in known.values())
    return prefixed + sum(
        known[word.concept] is None and not source.stems.isdisjoint(opposites.get(word.stem, ()))
        for word in claim.reading.words
    )


def _turns(word: Word) -> int:
    """The reversals at one word: that it is denied, and that it is the opposite of another."""
    return (word.stance.sign < 0 and word.is_head) + (word.sign < 0)


def _disagreements(claim: Statement, source: Statement) -> Iterator[str]:
    if source.facts and differ(claim.facts, source.facts):
        yield "number"
    is_compared_otherwise = _is_compared_otherwise(claim.reading, source.reading)
    if is_compared_otherwise:
        yield "order"
    stances = _stances(claim.reading, source.reading)
    yield from (k for k in stances if is_compared_otherwise is None or not k.startswith("sign"))
    if {claim.reading.reach, source.reading.reach} == {"only", "any"}:
        yield "share"
    if _has_contraries(claim.reading, source.reading):
        yield "contrary"
    if _is_turned_in_time(claim.reading, source.reading):
        yield "order"
    yield from _roles(claim.reading, source.reading)


def _known_as(concept: str, held: AbstractSet[str]) -> tuple[str, int] | None:
    """The concept of *held* that *concept* is, or is the opposite of by its prefix."""
    if concept in held:
        return concept, 1
    forms = _opposite_forms(concept)
    if held.isdisjoint(forms):
        return None
    return next((form, -1) for form in forms if form in held)


@functools.lru_cache(maxsize=2048)
def _opposite_forms(concept: str) -> tuple[str, ...]:
    """What *concept* is the opposite of by a prefix, or becomes by one."""
    forms = ((concept.removeprefix(prefix), prefix + concept) for prefix in _PREFIXES)
    return tuple(
        form
        for pair in forms
        for form in pair
        if form != concept and min(len(form), len(concept)) > 3
    )


def _stances(claim: Reading, source: Reading) -> Iterator[str]:
    by_concept: dict[str, list[Word]] = {}
    for word in source.words:
        by_concept.setdefault(word.concept, []).append(word)
    turned: set[bool] = set()
    kinds: list[str] = []
    is_head_held = False
    for word in claim.words:
        others, turn = _counterparts(word, source.words, by_concept)
        if not others:
            continue
        alike = [other for other in others if bool(other.condition) == bool(word.condition)]
        others = alike or others
        if word.is_head:
            others = [other for other in others if other.is_head] or others
        found = [_clash(word, other, turn) for other in others]
        if all(found):
            kinds.append(found[0])
            if found[0].startswith("sign"):
                turned.add(bool(word.condition) or any(o.condition for o in others))
        elif word.is_head and word.stance != FACT:
            is_head_held = True
    if is_head_held:
        kinds = [kind for kind in kinds if kind != "sign beyond"]
    # "not without a reason" says as much as "with a reason": both sides of a condition turned.
    is_both = len(turned) == 2
    yield from (kind for kind in kinds if not (is_both and kind.startswith("sign")))


def _counterparts(
    word: Word, words: Sequence[Word], by_concept: Mapping[str, list[Word]]
) -> tuple[list[Word], int]:
    """The words of the source that speak of what *word* does; -1 if their opposite is its sense."""
    known = _known_as(word.concept, by_concept.keys())
    if known is not None:
        return by_concept[known[0]], known[1]
    opposites = vocabulary().opposites.get(word.stem, frozenset())
    others = [other for other in words if other.stem in opposites][:1]
    return others, -word.sign * others[0].sign if others else 1


def _clash(ours: Word, theirs: Word, turn: int) -> str:
    """What kind of disagreement there is about one word; "" if none."""
    if frozenset((ours.share, theirs.share)) in _SHARES:
        return "share"
    if {ours.condition, theirs.condition} == {"only", "even"}:
        return "condition"
    is_opposite = ours.sign * turn != theirs.sign
    if (ours.stance.sign != theirs.stance.sign) != is_opposite:
        is_head = ours.is_head or theirs.is_head or is_opposite
        is_open = not is_opposite and (_is_open(ours) or _is_open(theirs))
        return "" if is_open else _SIGN[is_head]
    forces = {ours.stance.force, theirs.stance.force}
    return "force" if forces == {"must", "can"} and ours.is_head and theirs.is_head else ""


def _is_open(word: Word) -> bool:
    """Whether what its clause denies may or may not be this word."""
    return not word.is_head and word.is_in_mixed_clause


def _has_contraries(claim: Reading, source: Reading) -> bool:
    """Whether the claim has a tenant where the sentence has a landlord."""
    contraries = vocabulary().contraries
    ours = {word.stem for word in claim.words}
    theirs = {word.stem for word in source.words}
    # "Your landlord must tell you": the tenant is there, as "you".
    ours -= claim.owned
    theirs -= source.owned
    return any(
        contraries.get(stem, frozenset()) & (theirs - ours) and not contraries[stem] & ours
        for stem in ours - theirs
    )


def _is_compared_otherwise(claim: Reading, source: Reading) -> bool | None:
    """Whether the lesser of the one is the greater of the other; None where they are two things."""
    ours, theirs = claim.comparison, source.comparison
    if ours is None or theirs is None or ours.by != theirs.by:
        return None
    straight = 2 * len(ours.lesser & theirs.lesser)
    crossed = len(ours.greater & theirs.lesser) + len(ours.lesser & theirs.greater)
    if straight == crossed:
        return None
    return (crossed > straight) == (ours.sign == theirs.sign)


def _is_turned_in_time(claim: Reading, source: Reading) -> bool:
    """Whether what comes first for the one comes later for the other."""
    straight = len(claim.earlier & source.earlier) + len(claim.later & source.later)
    crossed = len(claim.earlier & source.later) + len(claim.later & source.earlier)
    return crossed > straight


def _roles(claim: Reading, source: Reading) -> Iterator[str]:
    for ours in claim.roles:
        same = [
            theirs
            for theirs in source.roles
            if (theirs.verb, theirs.is_condition) == (ours.verb, ours.is_condition)
        ]
        if same and all(_is_swapped(ours, theirs) for theirs in same):
            yield "roles"


def _is_swapped(ours: ActorRole, theirs: ActorRole) -> bool:
    """Whether one does to the other what the other is said to do to the one, or is its contrary."""
    if ours.agent == ours.patient or not ours.agent or not theirs.agent:
        return False
    if ours.patient and (ours.agent, ours.patient) == (theirs.patient, theirs.agent):
        return True
    return theirs.agent in vocabulary().contraries.get(ours.agent, frozenset())


def is_bound_otherwise(claim: Reading, source: Reading) -> bool:
    """Whether one of them tells of a duty and the other of a leave, whatever it is to do."""
    return {_force(claim), _force(source)} in ({"must", "can"}, {"should", "can"})


def _force(reading: Reading) -> str:
    """The force of the first duty or leave that it tells of, outside of conditions."""
    forces = (
        word.stance.force
        for word in reading.words
        if word.is_head and word.stance.force != "fact" and word.condition in {"", "without"}
    )
    return next(forces, "fact")
