"""What a sentence says of each of its words: held or denied, a duty or a leave, of all or of some.

A shallow reading, in one pass from left to right and without a parser: a cue (`must`, `not`,
`unable to`) holds for the words after it, up to the next cue or the end of the clause.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
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

_BREAKS = frozenset(
    "but because if unless although though while which who whom whose that so until when "
    "where whereas how why what since however than".split()
)
_RELATIVES = frozenset({"which", "that", "who", "where"})
_PUNCTUATION = frozenset(",;()[]–—?!")
_PASSIVE = frozenset("is are was were be been being get gets".split())
_PREPOSITIONS = frozenset("to from by of with for against on about in at".split())
_DETERMINERS = POSSESSIVES | {"the", "a", "an", "any"}
_STOPPING = frozenset(
    "stop stops prevent prevents ban bans bar bars keep keeps forbid prohibit prohibits".split()
)
_NOT_ADVERBS = frozenset("apply reply supply comply rely imply family fly bully assembly".split())
_ONLY = re.compile(
    r"^only (?!if|when|where)|\b(?:solely|exclusively|only (?:the|an?|people|those|to|for))\b"
    r"|\b(?:nobody|no one|none|nothing) (?:but|except|other than)\b"
)
_ANY = re.compile(r"\b(?:any(?:one|body)|every(?:one|body)|whoever)\b|\b(?:too|as well)$")


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
    comparison: Comparison | None
    reach: str
    """`only` where nobody else is meant, `any` where everyone is."""


def read(sentence: str) -> Reading:
    """Read *sentence*; any text will do."""
    reader = _StatementReader(vocabulary(), statement_tokens(sentence))
    reader.run()
    return Reading(
        tuple(reader.words),
        tuple(roles(reader.verbs, reader.people)),
        owned(reader.tokens, reader.known.people),
        *sides(reader.tokens, reader.words),
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
    condition: str = ""
    share: str = ""
    clause: int = 0
    is_fresh: bool = True
    """Whether no word has been read since the last cue."""
    has_cue: bool = False
    denies_word: bool = False
    denied: Word | None = None
    """The word that a `no` stood before: "no tenant under 18 can", "no ground on which"."""

    def run(self) -> None:
        at = 0
        while at < len(self.tokens):
            at += self._step(at)
        signs: dict[int, set[int]] = {}
        for word in self.words:
            signs.setdefault(word.clause, set()).add(word.stance.sign)
        for word in self.words:
            word.is_in_mixed_clause = len(signs[word.clause]) > 1

    def _step(self, at: int) -> int:
        """Read what begins at *at*; how many tokens that was."""
        text = self.tokens[at]
        if text in self.known.openers and (size := self._phrase(at)):
            return size
        if text in _PUNCTUATION or text in _BREAKS:
            self._break(text)
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
                self._cue(kind)
                return size
            if phrase in self.known.phrases:
                if (self.tokens[at + size : at + size + 1] or [""])[0].isalpha():
                    self._word(self.known.phrases[phrase], at)
                return size
        return 0

    def _clause(self) -> Iterator[Word]:
        """The words of this clause, last one first."""
        return takewhile(lambda word: word.clause == self.clause, reversed(self.words))

    def _is_last(self, at: int, size: int) -> bool:
        """Whether it is said of what stands before: "is illegal", but not "legal aid"."""
        after = self.tokens[at + size : at + size + 1]
        is_end = not after or after[0] in _PUNCTUATION | _BREAKS | STOP_WORDS
        return is_end and any(t in _PASSIVE or t == "not" for t in self.tokens[max(0, at - 3) : at])

    def _break(self, mark: str) -> None:
        self.stance = FACT
        self.clause += 1
        self.has_cue = self.denies_word = False
        self.is_fresh = True
        self.share = ""
        if mark not in _RELATIVES:
            self.denied = None
        if mark not in {"(", "["}:
            self.condition = "if" if mark in {"if", "when", "where", "unless"} else ""

    def _cue(self, kind: str) -> None:
        if kind == "nothing":
            return
        if kind.startswith("how_often"):
            self.share = kind.removeprefix("how_often_")
        elif kind in {"unless", "even_if", "only_if"}:
            self._break("if")
            self.condition = "even" if kind == "even_if" else "only"
            self.stance = Stance("fact", -1 if kind == "unless" else 1)
            self.has_cue = kind == "unless"
        elif kind == "no":
            self.denies_word = True
        elif kind == "denies_verb":
            before = next(self._clause(), None)
            if before is None:
                self.denies_word = True  # "nothing is charged"
            else:  # "owes you nothing"
                before.stance = Stance(before.stance.force, -before.stance.sign)
                before.is_head = True
        elif kind.endswith("_before"):
            self._said_after(kind.removesuffix("_before"))
        else:
            self._take(kind)

    def _take(self, kind: str) -> None:
        held = self.stance if self.is_fresh and self.has_cue else FACT
        if self.denied is not None:  # what it can, has a right to, or on which it may
            held, self.denied.stance, self.denied = Stance("fact", -1), FACT, None
        self.stance = composed(held, "lacks" if kind == "without" else kind)
        if kind == "without" and not self.condition:
            self.condition = "without"
        elif self.condition == "without":
            self.condition = ""
        self.is_fresh = self.has_cue = True

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
        is_owner = text.endswith(("'s", "s'"))
        stem, known = known_word(text)
        if not is_owner:
            self._person(text, stem, at)
        if not self._is_content(text, is_known=known is not None):
            return
        concept, sign = known or (stem, 1)
        word = Word(
            stem, concept, sign, self.stance,
            is_head=self.has_cue and self.is_fresh,
            condition=self.condition, share=self.share, clause=self.clause, at=at,
        )  # fmt: skip
        if self.denies_word:
            word.stance, word.is_head, self.denies_word = Stance("fact", -1), True, False
            self.denied = None if self.has_cue else word
        if word.is_head or text not in STOP_WORDS:
            is_passive = not _PASSIVE.isdisjoint(self.tokens[max(0, at - 2) : at])
            self.verbs.append(Verb(at, concept, is_passive, bool(self.condition), self.clause))
        self.words.append(word)
        self.share, self.is_fresh = "", False

    def _is_content(self, text: str, *, is_known: bool) -> bool:
        if not text[0].isalpha() or text in FIGURES:
            return False
        is_adverb = self.is_fresh and text.endswith("ly") and text not in _NOT_ADVERBS
        return is_known or not (text in STOP_WORDS or is_adverb)

    def _person(self, text: str, stem: str, at: int) -> None:
        if text not in self.known.pronouns and stem not in self.known.people:
            return
        before = self.tokens[at - 1] if at else ""
        if self.has_cue and self.is_fresh and before not in _DETERMINERS:
            return  # "must provide", "should shop around"
        if before in _DETERMINERS:
            before = self.tokens[at - 2] if at > 1 else ""
        preposition = before if before in _PREPOSITIONS else ""
        self.people.setdefault(self.clause, []).append(Person(at, stem, preposition))
