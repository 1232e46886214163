"""What a sentence says of each of its words: held or denied, a duty or a leave, of all or of some.

A shallow reading, in one pass from left to right and without a parser: a cue (`must`, `not`,
`unable to`) holds for the words after it, up to the next cue or the end of the clause.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from judge.citations.relations import (
    POSSESSIVES,
    ActorRole,
    Comparison,
    Person,
    Verb,
    compared,
    owned,
    roles,
    sides,
)
from judge.citations.stance import FACT, Stance, Word, composed
from judge.citations.vocabulary import (
    FIGURES,
    ContrastWords,
    known_word,
    phrases_at,
    statement_tokens,
    vocabulary,
)
from judge.text.english import STOP_WORDS

BREAKS = frozenset(
    "but because if unless although though while which who whom whose that so until when "
    "where whereas how why what since however then than".split()
)
_RELATIVES = frozenset({"which", "that", "who", "where"})
_PUNCTUATION = frozenset(",;:()[]–—?!")
_AUXILIARIES = frozenset("is are was were be been has have had do does did will would".split())
_PASSIVE = frozenset("is are was were be been being get gets".split())
_PREPOSITIONS = frozenset("to from by of with for against on about in at".split())
_DETERMINERS = POSSESSIVES | {"the", "a", "an", "any"}
_VAGUE = frozenset("they he she we i them him her us me it".split())
_NOUN_FOLLOWS = frozenset("need needs for a an your their his her".split())
_STOPPING = frozenset(
    "stop stops prevent prevents ban bans bar bars keep keeps forbid prohibit prohibits".split()
)
_NOT_LEFT_OUT = frozenset("do have these this so it".split())
"""After a cue these say what is done: "if you do not have these"."""

COMPARING = frozenset("more less fewer longer shorter higher lower later earlier".split())
_NOT_ADVERBS = frozenset("apply reply supply comply rely imply family fly bully assembly".split())
_ONLY = re.compile(
    r"^only (?!if|when|where)|\b(?:solely|exclusively|only (?:the|an?|people|those|to|for))\b"
    r"|\b(?:nobody|no one|none|nothing) (?:but|except|other than)\b"
)
_ANY = re.compile(r"\b(?:any(?:one|body)|every(?:one|body)|whoever)\b|\b(?:too|as well)$")
_SUBJECT_REACH = 8
"""Words between `no` and the verb whose subject it denies: "no tenant of the flat can"."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence read."""

    words: tuple[Word, ...]
    roles: tuple[ActorRole, ...]
    owned: frozenset[str]
    """People who are somebody's: "your landlord" is not "you"."""
    earlier: frozenset[str]
    later: frozenset[str]
    """The words on either side of the one `before` or `after`."""
    people: frozenset[str]
    """Everyone named, "you" included."""
    comparison: Comparison | None
    reach: str
    """`only` where nobody else is meant, `any` where everyone is."""


def read(sentence: str) -> Reading:
    """Read *sentence*; any text will do."""
    reader = _StatementReader(vocabulary(), statement_tokens(sentence))
    reader.run()
    return Reading(
        tuple(reader.words),
        tuple(roles(reader.verbs, reader.people, reader.known.people)),
        owned(reader.tokens, reader.known.people),
        *sides(reader.tokens, reader.words),
        frozenset(p.name for people in reader.people.values() for p in people) - _VAGUE,
        compared(reader.tokens, reader.words),
        _reach(reader.tokens),
    )


def _reach(tokens: Sequence[str]) -> str:
    text = " ".join(tokens)
    is_only, is_any = _ONLY.search(text), _ANY.search(text)
    return "" if bool(is_only) == bool(is_any) else "only" if is_only else "any"


@dataclass(slots=True)
class _StatementReader:
    """Where the reading stands."""

    known: ContrastWords
    tokens: list[str]
    words: list[Word] = field(default_factory=list)
    verbs: list[Verb] = field(default_factory=list)
    people: dict[int, list[Person]] = field(default_factory=dict)
    """By clause."""
    stance: Stance = FACT
    base: Stance = FACT
    """What a list after a colon falls back to at each semicolon."""
    condition: str = ""
    share: str = ""
    clause: int = 0
    is_fresh: bool = True
    """Whether no word has been read since the last cue."""
    has_cue: bool = False
    denies_subject: bool = False
    denies_word: bool = False
    denied: Word | None = None
    """The last word that a `no` stood before."""
    is_loose: bool = False
    is_exclusive: bool = False
    """Whether the subject is "only a court": nobody else can is left unsaid."""
    is_of_noun: bool = False
    """Whether what the last cue holds for is a thing, not a deed: "liable for damage"."""

    def run(self) -> None:
        at = 0
        while at < len(self.tokens):
            at += self._step(at)
        self._repeat(at)
        signs: dict[int, set[int]] = {}
        for word in self.words:
            signs.setdefault(word.clause, set()).add(word.stance.sign)
        for word in self.words:
            word.is_in_mixed_clause = len(signs[word.clause]) > 1

    def _step(self, at: int) -> int:
        """Read what begins at *at*; how many tokens that was."""
        text = self.tokens[at]
        if text in COMPARING and self.tokens[at + 1 : at + 2] == ["than"]:
            self._loosen()
            if not (self.tokens[at + 2 : at + 3] or [""])[0].isalpha():
                return 2  # "more than 48" is for the numbers to say
        if text in self.known.openers and (size := self._phrase(at)):
            return size
        if text in _PUNCTUATION or text in BREAKS:
            if not (text == "then" and self.has_cue):  # "should then give"
                self._break(text, at)
        elif text == "from" and not _STOPPING.isdisjoint(self.tokens[max(0, at - 5) : at]):
            self.is_fresh = self.has_cue
            self._take("cannot")
        else:
            self._word(text, at)
        return 1

    def _phrase(self, at: int) -> int:
        """Read the cue or the phrase at *at*; how many tokens it takes, 0 if there is none."""
        if self.tokens[at] in _STOPPING and "from" in self.tokens[at + 1 : at + 6]:
            return 0  # `from` will say what is stopped
        for size, phrase in phrases_at(self.known, self.tokens, at):
            kind = self.known.cues.get(phrase)
            if kind is not None and (not kind.endswith("_before") or self._is_last(at, size)):
                self._cue(kind, at)
                self.is_of_noun = phrase.rsplit(" ", 1)[-1] in _NOUN_FOLLOWS
                return size
            if phrase in self.known.phrases:
                if (self.tokens[at + size : at + size + 1] or [""])[0].isalpha():
                    self._word(self.known.phrases[phrase], at)
                return size
        return 0

    def _loosen(self) -> None:
        """Read `more than`: denied, it is the amount that is denied and not the deed."""
        if self.stance.sign < 0:
            self.is_loose = True
            for word in self._clause():
                word.is_loose = True

    def _clause(self) -> Iterator[Word]:
        """The words of this clause, last one first."""
        return takewhile(lambda word: word.clause == self.clause, reversed(self.words))

    def _is_last(self, at: int, size: int) -> bool:
        """Whether it is said of what stands before: "is illegal", but not "legal aid"."""
        after = self.tokens[at + size : at + size + 1]
        is_end = not after or after[0] in _PUNCTUATION | BREAKS | STOP_WORDS
        return is_end and any(t in _PASSIVE or t == "not" for t in self.tokens[max(0, at - 3) : at])

    def _repeat(self, at: int) -> None:
        """Put in the verb that "if the tenant does not" leaves out: the last a cue held for."""
        last = next((word for word in reversed(self.words) if word.is_head), None)
        is_left_out = self.has_cue and self.is_fresh and self.tokens[at - 1] not in _NOT_LEFT_OUT
        if is_left_out and last is not None and last.clause != self.clause:
            self.words.append(
                replace(
                    last,
                    stance=self.stance,
                    condition=self.condition,
                    clause=self.clause,
                    is_loose=bool(self.condition),
                )
            )

    def _break(self, mark: str, at: int) -> None:
        self._repeat(at)
        # "No ground on which", "no right by which": what follows is denied with the noun.
        denied = self.denied if self.words and self.words[-1] is self.denied else None
        if mark == ":":
            self.base = self.stance
        else:
            self.stance = self.base if mark == ";" else FACT
        self.clause += 1
        self.has_cue = mark == ";"
        self.is_fresh = True
        self.denies_subject = self.denies_word = False
        self.share = ""
        self.is_loose = self.is_exclusive = False
        if mark not in "([":
            self.condition = "if" if mark in {"if", "when", "where", "unless"} else ""
        if denied is not None and mark in _RELATIVES:
            denied.stance = FACT
            self._no(at)

    def _cue(self, kind: str, at: int) -> None:
        if kind == "nothing":
            return
        if kind.startswith("how_often"):
            self.share = kind.removeprefix("how_often_")
        elif kind in {"unless", "even_if", "only_if"}:
            self._break("if", at)
            self.condition = "even" if kind == "even_if" else "only"
            self.stance = Stance("fact", -1 if kind == "unless" else 1)
            self.has_cue = kind == "unless"
        elif kind in {"no", "denies_verb"}:
            is_object = kind == "denies_verb" or (at and self.tokens[at - 1] in _PREPOSITIONS)
            before = next(self._clause(), None) if is_object else None
            if before is None:
                self._no(at)  # "nothing is charged"
            else:  # "owes you nothing", "a burden for nobody"
                before.stance = Stance(before.stance.force, -before.stance.sign)
                before.is_head = True
        elif kind.endswith("_before"):
            self._said_after(kind.removesuffix("_before"))
        else:
            self._take(kind)

    def _take(self, kind: str) -> None:
        held = self.stance if self.is_fresh and self.has_cue else FACT
        if self.words and self.words[-1] is self.denied and self.denied.clause == self.clause:
            # "No automatic right to": the right is denied.
            held, self.denied.stance = Stance("fact", -1), FACT
        if self.denies_subject:
            held, self.denies_subject = Stance("fact", -1), False
        if self.denies_word:
            held, self.denies_word = Stance("fact", -held.sign), False
        self.stance = composed(held, "lacks" if kind == "without" else kind)
        if kind == "without" and not self.condition:
            self.condition = "without"
        elif self.condition == "without":
            self.condition = ""
        self.is_fresh = self.has_cue = True

    def _no(self, at: int) -> None:
        """Read `no`: "no tenant can" denies what is said of tenants, "no fee" the fee."""
        verb = None if self.has_cue else self._verb_ahead(at)
        if verb is None:
            self.denies_word = True
        elif verb in _AUXILIARIES:
            self.stance, self.has_cue = Stance("fact", -1), True
        else:
            self.denies_subject = True

    def _verb_ahead(self, at: int) -> str | None:
        """The auxiliary or the cue that follows within the clause."""
        for text in self.tokens[at + 1 : at + 1 + _SUBJECT_REACH]:
            if text in _PUNCTUATION or text in BREAKS:
                return None
            if text in _AUXILIARIES or self.known.cues.get(text) in {"must", "can", "should"}:
                return text
        return None

    def _said_after(self, kind: str) -> None:
        """A cue that follows what it holds for: "smoking is not allowed"."""
        held = self.stance if self.is_fresh and self.has_cue else FACT
        stance = composed(held, kind)
        for word in reversed(self.words):
            if word.clause != self.clause and (
                word.is_head or word.condition or word.stance != FACT
            ):
                break
            word.stance, word.is_head = stance, True
        self.stance, self.is_fresh, self.has_cue = FACT, True, False

    def _word(self, text: str, at: int) -> None:
        if text == "only" and not self.has_cue:
            self.is_exclusive = True
        if text == "to" and self.is_of_noun and not self.is_fresh:
            # "You need two years' service to claim": what it is needed for.
            self.stance, self.is_loose, self.is_of_noun = FACT, True, False
        is_owner = text.endswith(("'s", "s'"))
        stem, known = known_word(text)
        if not is_owner:
            self._person(text, stem, at)
        if not self._is_content(text, is_known=known is not None):
            return
        concept, sign = known or (stem, 1)
        word = Word(
            stem, concept, sign, self.stance,
            is_head=self.has_cue and (self.is_fresh or concept == "more"),
            condition=self.condition, share=self.share, clause=self.clause, at=at,
            is_named=self.is_fresh and not self.has_cue and text.endswith("ing")
            and self.tokens[at - 1] not in _PASSIVE,
            is_loose=(self.is_loose or (self.is_exclusive and self.has_cue)) and concept != "more",
        )  # fmt: skip
        if self.denies_word:
            word.stance, word.is_head, self.denies_word = Stance("fact", -1), True, False
            self.denied = word
        is_verb = word.is_head and not self.is_of_noun
        if is_verb or (text not in STOP_WORDS and self._follows_person(at)):
            is_passive = not _PASSIVE.isdisjoint(self.tokens[max(0, at - 2) : at])
            self.verbs.append(Verb(at, concept, is_passive, bool(self.condition), self.clause))
        self.words.append(word)
        self.share, self.is_fresh = "", False

    def _is_content(self, text: str, *, is_known: bool) -> bool:
        if not text[0].isalpha() or text in FIGURES:
            return False
        is_adverb = self.is_fresh and text.endswith("ly") and text not in _NOT_ADVERBS
        return is_known or not (text in STOP_WORDS or is_adverb)

    def _follows_person(self, at: int) -> bool:
        """Whether only small words stand between the last person named and this word."""
        people = [person for person in self.people.get(self.clause, ())[-2:] if person.at < at]
        return bool(people) and all(
            text in STOP_WORDS or text.endswith("ly")
            for text in self.tokens[people[-1].at + 1 : at]
        )

    def _person(self, text: str, stem: str, at: int) -> None:
        if text not in self.known.pronouns and stem not in self.known.people:
            return
        before = self.tokens[at - 1] if at else ""
        if self.has_cue and self.is_fresh and not self.is_of_noun and before not in _DETERMINERS:
            return  # "must provide", "should shop around"
        if before in _DETERMINERS:
            before = self.tokens[at - 2] if at > 1 else ""
        name = "you" if text == "you" else stem
        preposition = before if before in _PREPOSITIONS else ""
        self.people.setdefault(self.clause, []).append(Person(at, name, preposition))
