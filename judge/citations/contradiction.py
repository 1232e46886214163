"""Decides whether a claim contradicts a sentence.

Both are read (`reading.py`), and what they say of the words they share is compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from judge.citations.facts import differ, is_bound_reversed
from judge.citations.reading import with_limits_resolved
from judge.citations.relations import ActorRole, find_comparison, find_order, find_role, owned
from judge.citations.stance import DENIED, FACT, PERMISSION, Word
from judge.citations.statement import Statement
from judge.citations.vocabulary import PREFIXES, Lexeme, vocabulary

MIN_OVERLAP = 0.65
"""Share of the claim's content words the sentence must have, or they are about different things."""

MIN_SHARED = 3
"""Content words that the sentence must have before other clauses of the claim are ignored."""

_SIGN_KINDS = {True: "sign", False: "sign beyond"}
"""By whether the word is a head: beyond the first word it is uncertain that a cue applies."""

DOUBT = "doubt"
"""A possible contradiction although both have an even (or both an odd) number of reversals."""

_OPEN = "open"
"""In a clause that affirms one word and negates another, it is uncertain which applies."""

_POLARITY_KINDS = ("sign", _OPEN)

_DUTY_AND_PERMISSION = ({"must", "can"}, {"should", "can"})
_QUANTIFIER_KINDS = {
    frozenset(("all", "some")): "share",
    frozenset(("all", "few")): "few",
    frozenset(("most", "few")): "few",
}


@dataclass(frozen=True, eq=False)
class Pairing:
    """A claim, the source sentence that it is compared with, and the words that they share."""

    claim: Statement
    source: Statement
    matches: Mapping[str, tuple[str, int]]
    """Each concept of the claim that the sentence has, as there; -1 if a prefix negates it."""
    opposed: AbstractSet[str]
    """Stems of the claim whose opposite is in the sentence."""
    contrary: AbstractSet[str]
    """Stems of the claim whose contrary is in the sentence."""
    overlap: float
    """The share of the claim's content words that the sentence has, itself or as an opposite.

    Only clauses that share something with the sentence count.
    """

    @classmethod
    def of(cls, claim: Statement, source: Statement) -> "Pairing":
        """Match the words of *claim* with those of *source*."""
        if claim.limits != source.limits:
            claim, source = with_limits_resolved(claim), with_limits_resolved(source)
        ours, stems = claim.by_concept, source.stems
        pairs = ((concept, _match(same[0].lexeme, source)) for concept, same in ours.items())
        matches = {concept: match for concept, match in pairs if match}
        words = [word.lexeme for word in claim.words]
        opposed = {w.stem for w in words if w.opposites and not w.opposites.isdisjoint(stems)}
        contrary = {w.stem for w in words if w.contraries and not w.contraries.isdisjoint(stems)}
        met = opposed | contrary
        shared = {c for c, same in ours.items() if c in matches or same[-1].lexeme.stem in met}
        overlap = len(shared) / len(_relevant_concepts(shared, claim)) if shared else 0.0
        return cls(claim, source, matches, opposed, contrary, overlap)

    @cached_property
    def is_reversed(self) -> bool:
        """Whether one has an odd number of reversals and the other an even one.

        Reversals are negations and opposites of words. Two in one sentence cancel out: "not
        without" is "with", and "cannot refuse" is "must accept".
        """
        counts = _reversals(self.claim, self.source) + _reversals(self.source, self.claim)
        return (counts + self._opposites()) % 2 == 1

    def may_be_reversed(self) -> bool:
        """Whether the sentence has an odd number of reversals and the claim an even one.

        The converse means nothing: a paraphrase often negates the opposite.
        """
        theirs = len(self.source.reversals) + self._opposites()
        return theirs % 2 == 1 and len(self.claim.reversals) % 2 == 0

    def differs_in_modality(self) -> bool:
        """Whether one states a duty and the other a permission, whatever the action."""
        theirs = self.source.main.modality
        if "only" in self.claim.tokens or "only" in self.source.tokens:
            return False  # "can only appeal on a point of law" is a duty
        return theirs != "fact" and {self.claim.main.modality, theirs} in _DUTY_AND_PERMISSION

    def is_permission_denied(self, *, is_far: bool) -> bool:
        """Whether one permits what the other denies or, if *is_far*, the claim permits a fact."""
        stances = (self.source.main, self.claim.main)
        is_allowed = stances == (DENIED, PERMISSION) and not self.claim.negations
        is_permitted = is_far and stances == (FACT, PERMISSION)
        return is_allowed or is_permitted or stances == (PERMISSION, DENIED)

    def drops_negation(self) -> bool:
        """Whether the sentence is negated and the claim a plain fact."""
        return self.source.main.sign < 0 and self.claim.main == FACT

    @cached_property
    def disagreements(self) -> Sequence[str]:
        """The kinds of disagreement between the claim and the sentence."""
        return tuple(self._disagreements())

    def _disagreements(self) -> Iterator[str]:
        claim, source = self.claim, self.source
        is_comparison_reversed = _is_comparison_reversed(claim, source)
        if is_comparison_reversed:
            yield "order"
        is_order_reversed = _is_order_reversed(claim, source)
        stances = list(self._stance_conflicts()) if self.matches or self.opposed else []
        is_cancelled = self._is_negation_cancelled(stances, is_order_reversed=is_order_reversed)
        yield from (kind for kind in stances if not kind.startswith("sign"))
        if is_comparison_reversed is None and not is_cancelled:
            yield from self._polarity_conflicts(stances)
        if source.exclusivity and {claim.exclusivity, source.exclusivity} == {"only", "any"}:
            yield "share"
        if self.contrary and not self.is_reversed and self._has_contraries():
            yield "contrary"
        if is_order_reversed and not is_cancelled and not self.differs_in_modality():
            yield "order"
        if claim.people and source.people:
            yield from self._role_conflicts()
        if source.facts and not is_cancelled and differ(claim.facts, source.facts):
            yield "number"

    def _polarity_conflicts(self, stances: Sequence[str]) -> Iterator[str]:
        """Disagreements in polarity, or of a duty with a permission."""
        modalities = {self.claim.main.modality, self.source.main.modality}
        is_bound = modalities == {"must", "can"} and self.differs_in_modality()
        for kind in stances:
            if kind.startswith("sign"):
                yield kind if self.is_reversed or is_bound else DOUBT
        if is_bound and self.is_reversed and not stances:
            yield "modality"

    def _is_negation_cancelled(self, stances: Sequence[str], *, is_order_reversed: bool) -> bool:
        """Whether a reversed order or bound cancels a negation.

        "Not before reading it" is "after reading it", and "less than a week is not enough" is "at
        least a week".
        """
        claim, source = self.claim, self.source
        if is_order_reversed and any(kind.startswith("sign") for kind in stances):
            return True
        is_one_denied = (claim.negations + source.negations) % 2 == 1
        return is_one_denied and bool(source.facts) and is_bound_reversed(claim.facts, source.facts)

    def _opposites(self) -> int:
        """How many words of the claim have their opposite, and not themselves, in the sentence."""
        prefixed = sum([sign < 0 for _, sign in self.matches.values()])
        if not self.opposed:
            return prefixed
        others = [w.lexeme for w in self.claim.words if w.lexeme.concept not in self.matches]
        return prefixed + sum(
            word.sign == self._opposite_of(word).sign
            for word in others
            if word.stem in self.opposed
        )

    def _opposite_of(self, word: Lexeme) -> Lexeme:
        """The word of the sentence that is the opposite of *word*, one of `opposed`."""
        theirs = (other.lexeme for other in self.source.words)
        return next(other for other in theirs if other.stem in word.opposites)

    def _stance_conflicts(self) -> Iterator[str]:
        reversed_in, flips = set[bool](), set[int]()
        kinds: list[str] = []
        is_head_affirmed = False
        for word in self.claim.words:
            kind, is_condition, polarity = self._stance_conflict(word)
            if kind and not self._is_mostly_shared(word.clause):
                kinds.append(DOUBT)
            elif kind:
                kinds.append(kind)
                if kind.startswith(_POLARITY_KINDS):
                    reversed_in.add(is_condition)
                if kind == "sign" and polarity > 0 and not is_condition:
                    flips.add(word.stance.sign)
            elif polarity and word.is_head and word.stance != FACT:
                is_head_affirmed = True
        if is_head_affirmed:
            kinds = [kind for kind in kinds if kind != "sign beyond"]
        if len(flips) == 2:  # "this rather than that" and "that rather than this"
            yield "swap"
        # "not without a reason" means "with a reason": both sides of the condition are reversed.
        is_both = len(reversed_in) == 2
        if "few" in kinds and reversed_in:  # "few never argue" is "most argue"
            kinds, is_both = [kind for kind in kinds if kind != "few"], True
        yield from (k for k in kinds if k != _OPEN and not (is_both and k.startswith("sign")))

    def _stance_conflict(self, word: Word) -> tuple[str, bool, int]:
        """The disagreement about *word*, "" if none; whether in a condition; and its polarity.

        That is -1 if the sentence has the opposite of *word*, 0 if it has neither, else 1.
        """
        others, polarity = self._counterparts(word)
        if not others:
            return "", False, 0
        alike = [other for other in others if bool(other.condition) == bool(word.condition)]
        others = alike or others
        is_alike = bool(alike or self._is_limit_lost(word, others))
        conflicts = [_word_conflict(word, other, polarity, is_alike=is_alike) for other in others]
        is_condition = bool(word.condition) or any(other.condition for other in others)
        return conflicts[0] if all(conflicts) else "", is_condition, polarity

    def _is_mostly_shared(self, clause: int) -> bool:
        """Whether the sentence has more than half of the words of *clause*.

        Otherwise the clause is about the case, as in "You didn't give enough warning".
        """
        clause_words = [word.lexeme for word in self.claim.words if word.clause == clause]
        met = self.opposed | self.contrary
        shared = [word for word in clause_words if word.concept in self.matches or word.stem in met]
        return 2 * len(shared) > len(clause_words)

    def _is_limit_lost(self, word: Word, others: Sequence[Word]) -> bool:
        """Whether *word* is in a `without` or `unless` of one and unconditional in the other.

        Not with "or": "pay, or interest is added" means "unless you pay".
        """
        limits = {word.limit, *(other.limit for other in others)}
        has_or = "or" in self.claim.tokens or "or" in self.source.tokens
        return "without" in limits or ("unless" in limits and not has_or)

    def _counterparts(self, word: Word) -> tuple[Sequence[Word], int]:
        """The words of the sentence that match *word*; with -1 if they mean its opposite."""
        lexeme = word.lexeme
        if match := self.matches.get(lexeme.concept):
            return self.source.by_concept[match[0]], match[1]
        if lexeme.stem not in self.opposed:
            return (), 1
        other = next(o for o in self.source.words if o.lexeme.stem in lexeme.opposites)
        return (other,), -lexeme.sign * other.lexeme.sign

    def _has_contraries(self) -> bool:
        """Whether the claim has the contrary party: a tenant where the sentence has a landlord."""
        contraries = vocabulary().contraries
        # "Your landlord must tell you": the tenant is there, as "you".
        ours = self.claim.stems - owned(self.claim)
        theirs = self.source.stems - owned(self.source)
        if _is_addressed(self.source) and not _is_addressed(self.claim):
            ours -= vocabulary().people  # "you" may be any of them
        return any(
            contraries[stem] & (theirs - ours) and not contraries[stem] & ours
            for stem in self.contrary & (ours - self.source.stems)
        )

    def _role_conflicts(self) -> Iterator[str]:
        for verb in self.claim.words:
            others = [
                other
                for other in self.source.by_concept.get(verb.lexeme.concept, ())
                if verb.is_verb and other.is_verb and bool(other.condition) == bool(verb.condition)
            ]
            ours = find_role(verb, self.claim) if others else None
            if ours and ours.agent and ours.agent != ours.patient:
                theirs = [role for other in others if (role := find_role(other, self.source))]
                if theirs and all(_is_swapped(ours, role) for role in theirs):
                    yield "roles"


def _relevant_concepts(shared: AbstractSet[str], claim: Statement) -> Sequence[str]:
    """The concepts of *claim* in clauses with one of *shared*, or all if only few are shared.

    Clauses that a verdict puts around a citation ("the guidance says that") do not count.
    """
    ours = claim.by_concept
    if len(shared) < MIN_SHARED:
        return list(ours)
    clauses = {word.clause for concept in shared for word in ours[concept]}
    return [concept for concept, same in ours.items() if any(w.clause in clauses for w in same)]


def _match(word: Lexeme, source: Statement) -> tuple[str, int] | None:
    """The concept of *word* in *source*, with 1, or its form with or without a prefix, with -1."""
    concept, theirs = word.concept, source.by_concept
    if concept in theirs:
        return concept, 1
    if concept not in source.roots and (not word.roots or theirs.keys().isdisjoint(word.roots)):
        return None
    forms = (
        form for prefix in PREFIXES for form in (concept.removeprefix(prefix), prefix + concept)
    )
    return next((form, -1) for form in forms if form in theirs and len(form) > 3)


def _reversals(one: Statement, other: Statement) -> int:
    """The number of reversals of *one* in clauses that share a concept with the *other*."""
    if not one.reversals:
        return 0
    clauses = {word.clause for word in one.words if _match(word.lexeme, other)}
    return sum(clause in clauses for clause in one.reversals)


def _word_conflict(ours: Word, theirs: Word, polarity: int, *, is_alike: bool) -> str:
    """The kind of disagreement about one word; "" if none."""
    if kind := _QUANTIFIER_KINDS.get(frozenset((ours.quantifier, theirs.quantifier))):
        return kind
    if {ours.condition, theirs.condition} == {"only", "even"}:
        return "condition"
    is_opposite = ours.lexeme.sign * polarity != theirs.lexeme.sign
    if (ours.stance.sign != theirs.stance.sign) != is_opposite:
        is_head = ours.is_head or theirs.is_head or is_opposite
        is_open = not is_alike or _is_open(ours) or _is_open(theirs)
        return _OPEN if is_open and not is_opposite else _SIGN_KINDS[is_head]
    modalities = {ours.stance.modality, theirs.stance.modality}
    is_other_modality = modalities == {"must", "can"} and ours.is_head and theirs.is_head
    # "If you'll need to refer to it later" states no duty.
    return "modality" if is_other_modality and is_alike else ""


def _is_open(word: Word) -> bool:
    """Whether it is uncertain that the negation in its clause applies to this word."""
    return not word.is_head and word.is_in_mixed_clause


def _is_comparison_reversed(claim: Statement, source: Statement) -> bool | None:
    """Whether the two comparisons are opposite; None if they are about different things."""
    theirs = find_comparison(source)
    ours = theirs and find_comparison(claim)
    if not ours or not theirs:
        return None
    shared = {ours.by[key] == theirs.by[key] for key in ours.by.keys() & theirs.by.keys()}
    if len(shared) != 1:
        return None
    straight = 2 * len(ours.lesser & theirs.lesser)
    crossed = len(ours.greater & theirs.lesser) + len(ours.lesser & theirs.greater)
    if straight == crossed:
        return None
    return (crossed > straight) == shared.pop()


def _is_order_reversed(claim: Statement, source: Statement) -> bool:
    """Whether what comes first in the one comes later in the other."""
    earlier, later = find_order(source)
    if not earlier and not later:
        return False
    first, then = find_order(claim)
    straight = len(first & earlier) + len(then & later)
    crossed = len(first & later) + len(then & earlier)
    return crossed > straight


def _is_addressed(statement: Statement) -> bool:
    return any(person.name == "you" for person in statement.people)


def _is_swapped(ours: ActorRole, theirs: ActorRole) -> bool:
    """Whether agent and patient are exchanged, or the agents are contrary parties."""
    if not theirs.agent:
        return False
    if ours.patient and (ours.agent, ours.patient) == (theirs.patient, theirs.agent):
        return True
    return theirs.agent in vocabulary().contraries.get(ours.agent, frozenset())
