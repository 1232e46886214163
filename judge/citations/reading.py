"""What a sentence says of each of its words: held or denied, a duty or a leave, of all or of some.

A shallow reading, in one pass from left to right and without a parser: a cue (`must`, `not`,
`unable to`) holds for the words after it, up to the next cue or the end of the clause.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from judge.citations.facts import Fact, quantities
from judge.citations.stance import FACT, Force, Person, Stance, Word, composed, opposite
from judge.citations.vocabulary import KnownWord, known_word, statement_tokens, vocabulary
from judge.text.english import STOP_WORDS

_BREAKS = frozenset(
    "but because if unless although though while which who whom whose that so until when "
    "where whereas how why what since however than".split()
)
_RELATIVES = frozenset({"which", "that", "who", "where"})
_PUNCTUATION = frozenset(",;()[]–—?!")
_ENDS = _PUNCTUATION | _BREAKS
_STOPPING = frozenset(
    "stop stops prevent prevents ban bans bar bars keep keeps forbid prohibit prohibits".split()
)
_ONLY = re.compile(
    r"^only (?!if|when|where)|\b(?:solely|exclusively|only (?:the|an?|people|those|to|for))\b"
    r"|\b(?:nobody|no one|none|nothing) (?:but|except|other than)\b"
)
_ANY = re.compile(r"\b(?:any(?:one|body)|every(?:one|body)|whoever)\b|\b(?:too|as well)$")
_DENIED = Stance("fact", -1)
_AUXILIARIES = frozenset("is are was were be been will would do does did has have had".split())
POSSESSIVES = frozenset("your my his their our its her".split())
DETERMINERS = POSSESSIVES | {"the", "a", "an", "any"}
PASSIVE = frozenset("is are was were be been being get gets".split())


@dataclass(eq=False)
class Statement:
    """A sentence read. What few comparisons need is looked for when one first asks for it."""

    sentence: str
    tokens: Sequence[str]
    words: Sequence[Word]
    people: Sequence[Person]
    by_concept: Mapping[str, Sequence[Word]]
    turns: Sequence[int]
    """The clause of each reversal: that a head is denied, that a word is the opposite of others."""

    @cached_property
    def stems(self) -> frozenset[str]:
        """Of its words."""
        return frozenset(word.known.stem for word in self.words)

    @cached_property
    def bare(self) -> frozenset[str]:
        """What its words are the opposites of by a prefix."""
        return frozenset(form for word in self.words for form in word.known.bare)

    @cached_property
    def facts(self) -> list[Fact]:
        """Its numbers; most sentences have none."""
        return quantities(self.sentence)

    @cached_property
    def force(self) -> Force:
        """The force of the first duty or leave that it tells of, outside of conditions."""
        forces = (
            word.stance.force
            for word in self.words
            if word.is_head and word.stance.force != "fact" and word.condition in {"", "without"}
        )
        return next(forces, "fact")

    @cached_property
    def reach(self) -> str:
        """`only` where nobody else is meant, `any` where everyone is."""
        text = " ".join(self.tokens)
        is_only, is_any = _ONLY.search(text), _ANY.search(text)
        return "" if bool(is_only) == bool(is_any) else "only" if is_only else "any"


def read(sentence: str) -> Statement:
    """Read *sentence*; any text will do."""
    reader = _StatementReader(statement_tokens(sentence))
    reader.run()
    words = reader.words
    by_concept: dict[str, list[Word]] = {}
    for word in words:
        by_concept.setdefault(word.known.concept, []).append(word)
    denied = [word.clause for word in words if word.is_head and word.stance.sign < 0]
    return Statement(
        sentence,
        reader.tokens,
        words,
        reader.people,
        by_concept,
        denied + [word.clause for word in words if word.known.sign < 0],
    )


@dataclass(slots=True)
class _StatementReader:
    """Where the reading stands."""

    tokens: Sequence[str]
    words: list[Word] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)
    stance: Stance = FACT
    condition: str = ""
    share: str = ""
    clause: int = 0
    is_fresh: bool = True
    """Whether no word has been read since the last cue."""
    has_cue: bool = False
    denies_word: bool = False
    is_untrue: bool = False
    """Whether the clause is said to be untrue, and its verb is still to come."""
    denied: Word | None = None
    """The word that a `no` stood before: "no tenant under 18 can", "no ground on which"."""

    def run(self) -> None:
        tokens, resume = self.tokens, 0
        phrases = dict(vocabulary().trie.find(tokens))
        for at, text in enumerate(tokens):
            if at in phrases and at >= resume:
                resume = self._phrase(at, phrases[at])
            if at < resume:
                continue
            if text in _ENDS:
                self._break(text)
            elif (known := known_word(text)).is_content or known.is_person:
                self._word(known, at)
            elif self.is_untrue and text in _AUXILIARIES:
                self.is_fresh = self.has_cue = True
            elif text == "from" and not _STOPPING.isdisjoint(tokens[max(0, at - 5) : at]):
                self.is_fresh = self.has_cue
                self._take("cannot")
        self._end_untruth()
        self._mark_mixed_clauses()

    def _mark_mixed_clauses(self) -> None:
        denying = {word.clause for word in self.words if word.stance.sign < 0}
        if denying:
            holding = {word.clause for word in self.words if word.stance.sign > 0}
            for word in self.words:
                word.is_in_mixed_clause = word.clause in denying and word.clause in holding

    def _phrase(self, at: int, found: Sequence[tuple[int, str]]) -> int:
        """Read the longest cue or phrase of those *found* at *at*; where it ends, 0 if none is."""
        if self.tokens[at] in _STOPPING and "from" in self.tokens[at + 1 : at + 6]:
            return 0  # `from` will say what is stopped
        known = vocabulary()
        for size, phrase in reversed(found):
            end, kind = at + size, known.cues.get(phrase)
            if kind is not None and (not kind.endswith("_before") or self._is_last(at, end)):
                self._cue(kind)
                return end
            if phrase in known.phrases:
                if (self.tokens[end : end + 1] or [""])[0].isalpha():
                    self._word(known_word(known.phrases[phrase]), at)
                return end
        return 0

    def _is_last(self, at: int, end: int) -> bool:
        """Whether it is said of what stands before: "is illegal", but not "legal aid"."""
        after = self.tokens[end : end + 1]
        is_end = not after or after[0] in _ENDS or after[0] in STOP_WORDS
        return is_end and any(t in PASSIVE or t == "not" for t in self.tokens[max(0, at - 3) : at])

    def _end_untruth(self) -> None:
        """Deny the first word of a clause without a cue or an auxiliary: "tenants pay the fee"."""
        words = [word for word in self.words if word.clause == self.clause]
        if self.is_untrue and words:
            words[0].stance, words[0].is_head = _DENIED, True
        self.is_untrue = False

    def _break(self, mark: str) -> None:
        self._end_untruth()
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
        elif kind == "untrue":
            self.is_untrue = not (self.has_cue and self.stance.sign < 0)  # "not untrue that"
            self.stance, self.has_cue = FACT, False
        elif kind.endswith("_before"):
            self._said_after(kind.removesuffix("_before"))
        else:
            self._take(kind)

    def _take(self, kind: str) -> None:
        held = self.stance if self.is_fresh and self.has_cue else FACT
        if self.denied is not None:  # what it can, has a right to, or on which it may
            held, self.denied.stance, self.denied = _DENIED, FACT, None
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
        if self.is_untrue:
            stance, self.is_untrue = opposite(stance), False
        for word in reversed(self.words):
            if word.clause != self.clause and (
                word.is_head or word.condition or word.stance != FACT
            ):
                break
            word.stance, word.is_head = stance, True
        self.stance, self.is_fresh, self.has_cue = FACT, True, False

    def _word(self, known: KnownWord, at: int) -> None:
        is_head = self.has_cue and self.is_fresh
        # Who is in "must provide", "should shop around"?
        if known.is_person and not (is_head and self.tokens[at - 1] not in DETERMINERS):
            self.people.append(Person(at, known.stem, self.clause))
        if not known.is_content:
            return
        if is_head and self.is_untrue:
            self.stance, self.is_untrue = opposite(self.stance), False
        word = Word(
            known, self.stance, is_head, is_head or not known.is_small,
            self.condition, self.share, self.clause, at,
        )  # fmt: skip
        if self.denies_word:
            word.stance, word.is_head, word.is_verb, self.denies_word = _DENIED, True, True, False
            self.denied = None if self.has_cue else word
        self.words.append(word)
        self.share, self.is_fresh = "", False
