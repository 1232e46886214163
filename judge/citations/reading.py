"""Reads what a sentence says of each of its words: affirmed or negated, a duty or a permission.

A shallow reading in one pass from left to right, without a parser: the scope of a cue (`must`,
`not`, `unable to`) is the words after it, up to the next cue or the end of the clause.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from judge.citations.stance import DENIED, FACT, Person, Stance, Word, combine, opposite
from judge.citations.statement import Statement
from judge.citations.vocabulary import FIGURES, Lexeme, lexeme_of, statement_tokens, vocabulary
from judge.text.english import STOP_WORDS, stems

_CLAUSE_WORDS = frozenset(
    "but because if unless although though while which who whom whose that so until when "
    "where whereas how why what since however than".split()
)
_RELATIVES = frozenset({"which", "that", "who", "where"})
_REPORTING = frozenset(
    stems(
        "say state mean sure think believe know show prove agree ensure certain explain confirm "
        "fact clear suggest aware note claim".split()
    )
)
"""After these `that` begins reported speech, not a relative clause."""
_PUNCTUATION = frozenset(",;:()[]–—?!")
_ENDS = _PUNCTUATION | _CLAUSE_WORDS
_PREVENTING = frozenset(
    "stop stops prevent prevents ban bans bar bars keep keeps forbid prohibit prohibits".split()
)
_NOBODY = frozenset({"nobody", "no one", "none", "nothing"})
_SUBJECTS = {"me": "i", "him": "he", "her": "she", "us": "we", "them": "they"}
_BOUNDS = frozenset(stems("more maximum above leastof mostof".split()))
"""Concepts that before a number are its bound, and are compared together with it."""

[_OVER] = stems(["above"])
"""The concept of `over` and `under`, which are function words unless a number is near."""

_BOUND = Lexeme("bound", "bound", 1, False, True, False, (), frozenset(), frozenset())
"""Replaces any word for a bound: `facts.py` distinguishes the bounds."""

_NUMBERS = FIGURES - {"one"}
_FIGURE = re.compile(r"\d")

_GIVING = frozenset(stems("give grant confer offer mean make create impose place carry".split()))
"""Verbs that only say that a right or a duty exists: "does not give you the right to"."""
_RIGHTS = frozenset(
    "right rights power reason reasons ground grounds excuse claim duty obligation "
    "requirement".split()
)
"""Nouns for such a right, also if the negation is on an adjective: "no lawful ground for"."""
_POSSESSION_VERBS = frozenset("have has had with get gets got give gives gave".split())
"""Verbs before a `no` whose scope is only the object: "has no key"."""
_NEED_NOT = Stance("can", -1)
_AUXILIARIES = frozenset("is are was were be been will would do does did has have had".split())
_FUNCTION_WORDS = _AUXILIARIES | {"to", "for", "from"}
"""The function words that affect how other words are read."""

POSSESSIVES = frozenset("your my his their our its her".split())
DETERMINERS = POSSESSIVES | {"the", "a", "an", "any"}
PASSIVE = frozenset("is are was were be been being get gets".split())


def read(sentence: str) -> Statement:
    """Read *sentence*, which may be any text."""
    reader = _StatementReader(statement_tokens(sentence))
    reader.run()
    return _statement(sentence, reader)


def with_limits_resolved(statement: Statement) -> Statement:
    """*statement* with "not without", "not unless" and "not until" read as "only with"."""
    if not statement.limits:
        return statement
    reader = _StatementReader(statement.tokens)
    reader.run()
    reader.resolve_limits()
    return _statement(statement.sentence, reader)


def _statement(sentence: str, reader: "_StatementReader") -> Statement:
    words = reader.words
    by_concept: dict[str, list[Word]] = {}
    for word in words:
        by_concept.setdefault(word.lexeme.concept, []).append(word)
    heads = [word for word in words if word.is_head]
    denied = [word.clause for word in heads if word.stance.sign < 0 and word.is_counted]
    negative = [word for word in words if word.lexeme.sign < 0]
    return Statement(
        sentence,
        reader.tokens,
        words,
        reader.people,
        by_concept,
        denied + [word.clause for word in negative],
        len(denied) + sum(word.lexeme.concept not in _BOUNDS for word in negative),
        frozenset([word.limit for word in words if word.limit]),
        _main([word for word in heads if word.condition in {"", "without"}]),
    )


def _main(heads: Sequence[Word]) -> Stance:
    is_denied = any(word.stance.sign < 0 and not word.condition for word in heads)
    stances = [word.stance for word in heads if word.stance.modality != "fact"]
    return stances[0] if stances else DENIED if is_denied else FACT


@dataclass(slots=True)
class _StatementReader:
    """The state of reading one sentence."""

    tokens: Sequence[str]
    words: list[Word] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)
    stance: Stance = FACT
    condition: str = ""
    limit: str = ""
    """`without`, `unless` or `until` if the current clause is one of these."""
    quantifier: str = ""
    clause: int = 0
    relative_clauses: set[int] = field(default_factory=set)
    """The relative clauses: "waste that pollutes"."""
    is_fresh: bool = True
    """Whether no word has been read since the last cue or the start of the clause."""
    has_cue: bool = False
    negates_next: bool = False
    """Whether a `no` negates the next word."""
    is_subject: bool = False
    """Whether that `no` may negate all that follows: "no tenant can", but not "having no key"."""
    is_untrue: bool = False
    """Whether the clause is said to be untrue, and its verb is still to come."""
    negated: Word | None = None
    """The word negated by a `no` in the subject: "no tenant under 18 can", "no ground on which"."""

    def run(self) -> None:
        tokens, resume = self.tokens, 0
        phrases = dict(vocabulary().trie.find(tokens))
        for at, text in enumerate(tokens):
            if at in phrases and at >= resume:
                resume = self._read_phrase(at, phrases[at])
            if at < resume:
                continue
            if text in _ENDS and not (text == ":" and self.has_cue and self.is_fresh):
                self._begin_clause(text)
                if at and text in _RELATIVES and lexeme_of(tokens[at - 1]).stem not in _REPORTING:
                    self.relative_clauses.add(self.clause)
            elif (lexeme := lexeme_of(text)).is_content or lexeme.is_person:
                self._read_word(lexeme, at)
            elif text in _FUNCTION_WORDS:
                self._read_function_word(text, at)
        self._end_clause()
        self._mark_mixed_clauses()

    def _read_function_word(self, text: str, at: int) -> None:
        if self.is_untrue and text in _AUXILIARIES:
            self.is_fresh = self.has_cue = True
        elif text in {"to", "for"} and not self.is_fresh and self.stance == _NEED_NOT:
            self.stance = FACT  # "you need no receipt to return it"
        elif text == "from" and self._is_stopped(at):
            self.words = [
                w for w in self.words if w.at < at - 5 or self.tokens[w.at] not in _PREVENTING
            ]
            self.is_fresh = self.has_cue
            self._apply_cue("cannot", at)

    def _is_stopped(self, at: int) -> bool:
        """Whether `from` introduces a prevented action: "stops your ex from entering"."""
        after = self.tokens[at + 1 : at + 2]
        is_somebody = any(at - 4 < person.at < at for person in self.people)
        is_done = bool(after) and (after[0].endswith("ing") or is_somebody)
        return is_done and not _PREVENTING.isdisjoint(self.tokens[max(0, at - 5) : at])

    def _is_after_condition(self) -> bool:
        """Whether an initial condition has ended without a comma: "where it is late you must"."""
        is_first = self.tokens[0] in {"if", "when", "where", "until"} and self.clause == 1
        if not is_first or self.is_fresh or not self.words or "," in self.tokens:
            return False
        return not _AUXILIARIES.isdisjoint(self.tokens[: self.words[-1].at])

    def _negates_existence(self, at: int) -> bool:
        """Whether the last negated verb only says that a right or a duty does not exist."""
        last = [w for w in self.words[-2:] if w.clause == self.clause and w.is_head]
        if not last or last[-1].stance != DENIED:
            return False
        is_noun = self.tokens[at] in _RIGHTS and last[-1].at == at - 1
        return is_noun or last[-1].lexeme.stem in _GIVING

    def resolve_limits(self) -> None:
        """Read "not this without that", "not unless" and "not until" as "this only with that"."""
        limits = [
            word for word in self.words if word.limit and word.condition not in {"if", "even"}
        ]
        for clause in {word.clause for word in limits}:
            limiting = [word for word in limits if word.clause == clause]
            denied = [word for word in self._limited_by(limiting[0]) if word.stance.sign < 0]
            for word in denied:
                word.stance = FACT
            for word in limiting if denied else ():
                sign = 1 if word.limit == "until" else -1
                word.stance = Stance(word.stance.modality, sign * word.stance.sign)
                word.condition = "only"

    def _limited_by(self, limit: Word) -> Sequence[Word]:
        """The words of the main clause before *limit*, or after it if there is none before."""
        main = [
            word
            for word in self.words
            if not word.condition and not word.limit and word.clause not in self.relative_clauses
        ]
        before = [word.clause for word in main if word.at < limit.at]
        at = before[-1] if before else main[0].clause if main else -1
        return [word for word in main if word.clause == at]

    def _mark_mixed_clauses(self) -> None:
        denying = {word.clause for word in self.words if word.stance.sign < 0}
        if denying:
            affirming = {word.clause for word in self.words if word.stance.sign > 0}
            for word in self.words:
                word.is_in_mixed_clause = word.clause in denying and word.clause in affirming

    def _read_phrase(self, at: int, matches: Sequence[tuple[int, str]]) -> int:
        """Read the longest valid cue or phrase of *matches* at *at*; return its end, or 0."""
        if self.tokens[at] in _PREVENTING and "from" in self.tokens[at + 1 : at + 6]:
            return 0  # the prevented action is read at `from`
        cues, phrases = vocabulary().cues, vocabulary().phrases
        for size, phrase in reversed(matches):
            end, kind = at + size, cues.get(phrase)
            if kind is not None and self._is_cue(phrase, kind, at, end):
                if phrase in _NOBODY and self._is_object(at, end):
                    self._negate_last()
                else:
                    self._read_cue(kind, at)
                return end
            if phrase in phrases:
                self._read_word(lexeme_of(phrases[phrase]), at)
                return end
        return 0

    def _is_cue(self, phrase: str, kind: str, at: int, end: int) -> bool:
        """Whether *phrase*, from *at* to *end*, is really used as a cue."""
        if phrase == "needs":  # "needs permission", but not "special needs are"
            after = self.tokens[end : end + 1]
            return bool(after) and after[0].isalpha() and after[0] not in STOP_WORDS | _CLAUSE_WORDS
        return not kind.endswith("_before") or self._is_predicate(at, end)

    def _is_predicate(self, at: int, end: int) -> bool:
        """Whether the cue is a predicate of the words before it: "is illegal", not "legal aid"."""
        after = self.tokens[end : end + 1]
        is_end = not after or after[0] in _ENDS or after[0] in STOP_WORDS
        return is_end and any(t in PASSIVE or t == "not" for t in self.tokens[max(0, at - 3) : at])

    def _is_object(self, at: int, end: int) -> bool:
        """Whether `nothing` follows the verb it negates: "costs nothing", "owes you nothing"."""
        last = self.words[-1] if self.words else None
        after = self.tokens[end : end + 1]
        is_subject = after and (after[0] in _AUXILIARIES or after[0] not in _ENDS | STOP_WORDS)
        return (
            not is_subject and last is not None and last.clause == self.clause and last.at >= at - 2
        )

    def _negate_last(self) -> None:
        word = self.words[-1]
        word.stance = Stance(word.stance.modality, -word.stance.sign)
        word.is_head = word.is_verb = True

    def _end_clause(self) -> None:
        """Negate an untrue clause without a cue, and one that ends with a negation."""
        words = [word for word in self.words if word.clause == self.clause]
        if self.is_untrue and words:
            words[0].stance, words[0].is_head = DENIED, True
        is_denied = self.has_cue and self.is_fresh and self.stance.sign < 0
        if is_denied and all(word.stance == FACT for word in words):
            for word in words:  # "the debts are not yours"
                word.stance, word.is_head = self.stance, True
                word.is_counted = word is words[-1]
        self.is_untrue = False

    def _begin_clause(self, mark: str) -> None:
        has_word = bool(self.words) and self.words[-1].clause == self.clause
        if mark in _RELATIVES and self.condition and not has_word:
            return  # "unless all who own it agree"
        self._end_clause()
        self.stance = FACT
        self.clause += 1
        self.has_cue = self.negates_next = False
        self.is_fresh = True
        self.quantifier = ""
        if mark not in _RELATIVES:
            self.negated = None
        if mark not in {"(", "["}:
            self.condition = "if" if mark in {"if", "when", "where"} else ""
        self.limit = mark if mark == "until" else ""

    def _read_cue(self, kind: str, at: int) -> None:
        if kind == "nothing":
            return
        if kind == "how_often_not_all":
            self.quantifier, self.is_untrue = "some", True
        elif kind.startswith("how_often"):
            self.quantifier = kind.removeprefix("how_often_")
        elif kind in {"unless", "even_if", "only_if"}:
            self._begin_clause("if")
            self.condition = "even" if kind == "even_if" else "only"
            self.limit = kind if kind == "unless" else ""
            self.stance = Stance("fact", -1 if kind == "unless" else 1)
            self.has_cue = kind == "unless"
        elif kind == "not_this":
            self._begin_clause(",")
            self.stance, self.has_cue = DENIED, True
        elif kind == "verdict":
            self.stance, self.has_cue = FACT, False
        elif kind == "no":
            self.negates_next = True
            before = self.tokens[at - 1] if at else ""
            self.is_subject = before not in _POSSESSION_VERBS and not before.endswith("ing")
        elif kind == "untrue":
            self.is_untrue = not (self.has_cue and self.stance.sign < 0)  # "not untrue that"
            self.stance, self.has_cue = FACT, False
        elif kind.endswith("_before"):
            self._apply_cue_backwards(kind.removesuffix("_before"))
        else:
            self._apply_cue(kind, at)

    def _apply_cue(self, kind: str, at: int) -> None:
        previous = self.stance if self.is_fresh and self.has_cue else FACT
        if self.negated is not None:  # "no tenant can", "no ground on which you may"
            previous, self.negated.stance, self.negated = DENIED, FACT, None
        elif self.negates_next and kind not in {"without", "lacks"}:  # "nobody may", "no right to"
            previous, self.negates_next = DENIED, False
        elif self._is_after_condition():
            self.condition, self.limit, self.clause = "", "", self.clause + 1
        elif self._negates_existence(at):  # "does not give you the right to"
            previous = DENIED
            for word in self.words[-2:]:
                if word.clause == self.clause:
                    word.stance, word.is_head = FACT, False
        self.stance = combine(previous, "lacks" if kind == "without" else kind)
        if kind == "without" and self.negates_next:  # "nobody without a licence may"
            self.negates_next, self.is_untrue = False, True
        if kind == "without":
            self.condition, self.limit = self.condition or "without", kind
        elif self.condition == "without":
            self.condition = self.limit = ""
        self.is_fresh = self.has_cue = True

    def _apply_cue_backwards(self, kind: str) -> None:
        """Apply a cue that follows the words in its scope: "smoking is not allowed"."""
        previous = self.stance if self.is_fresh and self.has_cue else FACT
        if self.negated is not None:  # "no licence is needed"
            previous, self.negated.stance, self.negated = DENIED, FACT, None
        stance = combine(previous, kind)
        if self.is_untrue:
            stance, self.is_untrue = opposite(stance), False
        words = [w for w in self.words if w.clause not in self.relative_clauses] or self.words
        if self.clause in self.relative_clauses and self.is_fresh:
            words = []  # "a free service, which isn't compulsory" denies no service
        for word in reversed(words):
            if word.clause != self.clause and (
                word.is_head or word.condition or word.stance != FACT
            ):
                break
            word.stance, word.is_head, word.is_counted = stance, True, word is words[-1]
        self.stance, self.is_fresh, self.has_cue = FACT, True, False

    def _read_word(self, lexeme: Lexeme, at: int) -> None:
        is_head = self.has_cue and self.is_fresh
        if lexeme.is_person:
            name = _SUBJECTS.get(lexeme.stem, lexeme.stem)
            self.people.append(Person(at, name, self.clause))
        if not lexeme.is_content or (
            lexeme.concept == _OVER and not self._has_number(at - 2, at + 3)
        ):
            return
        is_bound = lexeme.concept in _BOUNDS or self.tokens[at + 1 : at + 2] == ["than"]
        if is_bound and self._has_number(at + 1, at + 5):
            lexeme = _BOUND
        if is_head and self.is_untrue and self.condition != "without":
            self.stance, self.is_untrue = opposite(self.stance), False
        word = Word(
            lexeme, self.stance, is_head, is_head or not lexeme.is_stop_word,
            self.condition, self.quantifier, self.clause, at, self.limit,
        )  # fmt: skip
        if self.negates_next:
            word.stance, word.is_head, word.is_verb, self.negates_next = DENIED, True, True, False
            self.negated = word if not self.has_cue and self.is_subject else None
        self.words.append(word)
        self.quantifier, self.is_fresh = "", False

    def _has_number(self, start: int, end: int) -> bool:
        beside = self.tokens[max(0, start) : end]
        return any(text in _NUMBERS or _FIGURE.search(text) for text in beside)
