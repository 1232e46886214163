"""Finds out whether a dispute suggests danger, and whom to turn to; the prompt then asks for care.

Phrases that only sound alarming are removed ("this job is killing me"), and the rest is matched
against each rule's terms and patterns. Terms match whole words within one sentence.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from judge.library.dispute import Dispute, NormalisedText, normalise, straight_apostrophes
from judge.library.sources.catalog import SafetyRule
from judge.text.pattern_set import PatternSet, compile_folded
from judge.text.phrase_trie import PhraseTrie
from judge.types.results import HelpLine

_EMPHASIS = b'"#*<=>@[\\]^_`{|}~'
"""ASCII marks that are removed before matching; so are symbols outside ASCII."""
_NOT_ASCII = re.compile("[^\x00-\x7f]")

_CUT = " ; "
"""Replaces a harmless phrase; it ends a sentence, so that no term matches across the gap."""


@dataclass(frozen=True, slots=True)
class SafetyFindings:
    """Whether the prompt must ask for care, and the help lines of all rules that match."""

    needs_care: bool = False
    help: tuple[HelpLine, ...] = ()


@dataclass(frozen=True, slots=True)
class SafetyReason:
    """A rule that matches: its name, if it has one, its files, the matches, and its help lines."""

    rule: str
    files: tuple[str, ...]
    found: tuple[str, ...]
    help: tuple[HelpLine, ...]


@dataclass(frozen=True, slots=True)
class SafetyExplanation:
    """The rules that match a dispute, and the phrases that were removed as harmless."""

    reasons: tuple[SafetyReason, ...] = ()
    harmless: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SafetyRules:
    """The compiled safety rules; made once per sources file.

    `terms` maps the terms of all rules to the index of their rule; `pattern_rules` has the index
    of the rule of each of `patterns`. `harmless` are the phrases that only sound alarming; those
    of one rule apply to all.
    """

    rules: tuple[SafetyRule, ...]
    terms: PhraseTrie[int]
    patterns: PatternSet
    pattern_rules: tuple[int, ...]
    harmless: PatternSet

    def harmless_pattern(self, text: NormalisedText) -> re.Pattern[str] | None:
        """A pattern for all harmless phrases; None if *text* has none of them."""
        if next(self.harmless.matches(text.folded), None) is None:
            return None
        return _any_of([regex for rule in self.rules for regex in rule.harmless])


def compile_safety(rules: Sequence[SafetyRule]) -> SafetyRules:
    """The compiled *rules*."""
    terms = [
        (tuple(map(_without_apostrophes, normalise(term).words)), index)
        for index, rule in enumerate(rules)
        for term in rule.terms
    ]
    patterns = [(regex, index) for index, rule in enumerate(rules) for regex in rule.patterns]
    return SafetyRules(
        tuple(rules),
        PhraseTrie(terms, _without_apostrophes),
        PatternSet(straight_apostrophes(regex) for regex, _ in patterns),
        tuple(index for _, index in patterns),
        PatternSet(straight_apostrophes(regex) for rule in rules for regex in rule.harmless),
    )


def find_safety(rules: SafetyRules, dispute: Dispute) -> SafetyFindings:
    """Whether any rule matches *dispute*, with help lines in the order of the rules."""
    texts = [_without_emphasis(dispute.context), _without_emphasis(dispute.query)]
    # Most disputes match nothing, and need not be searched for harmless phrases.
    matching = _matching(rules, texts)
    cleaned = [_without_harmless(rules, text) for text in texts] if matching else texts
    if cleaned != texts:
        matching = _matching(rules, cleaned)
    help_lines = merged_help(line for rule in matching for line in rule.help)
    return SafetyFindings(bool(matching), help_lines)


def explain_safety(rules: SafetyRules, dispute: Dispute) -> SafetyExplanation:
    """Which rules match *dispute* and where, and which phrases were removed as harmless."""
    texts = [_without_emphasis(dispute.context), _without_emphasis(dispute.query)]
    if not _matching(rules, texts):
        return SafetyExplanation()
    cleaned = [_without_harmless(rules, text) for text in texts]
    return SafetyExplanation(
        reasons=tuple(
            SafetyReason(rule.name, rule.files, _matches(rules, rule, cleaned), rule.help)
            for rule in _matching(rules, cleaned)
        ),
        harmless=tuple(
            match[0]
            for text in texts
            for harmless in [rules.harmless_pattern(text)]
            for match in (harmless.finditer(text.folded) if harmless else ())
        ),
    )


def _matches(
    rules: SafetyRules, rule: SafetyRule, texts: Sequence[NormalisedText]
) -> tuple[str, ...]:
    """The texts that *rule* matches in *texts*, without repeats."""
    terms = [
        " ".join(map(_without_apostrophes, text.words[start:end]))
        for text in texts
        for start, end, index in _term_spans(rules, text)
        if rules.rules[index] is rule
    ]
    pattern = _any_of(rule.patterns)
    matches = [m[0] for text in texts for m in (pattern.finditer(text.folded) if pattern else ())]
    return tuple(dict.fromkeys([*terms, *matches]))


def _matching(rules: SafetyRules, texts: Sequence[NormalisedText]) -> list[SafetyRule]:
    """The rules that match any of *texts*, in their order."""
    indexes = {index for text in texts for index in _rule_indexes(rules, text)}
    return [rules.rules[index] for index in sorted(indexes)]


def _rule_indexes(rules: SafetyRules, text: NormalisedText) -> Iterator[int]:
    """The index of the rule of each match in *text*; repeats are possible."""
    yield from (index for _, _, index in _term_spans(rules, text))
    for number, _ in rules.patterns.matches(text.folded):
        yield rules.pattern_rules[number]


def _term_spans(rules: SafetyRules, text: NormalisedText) -> Iterator[tuple[int, int, int]]:
    """The first word, the end and the rule's index of each term within a sentence of *text*."""
    for start, phrases in rules.terms.find(text.words):
        for length, index in phrases:
            if text.ends.isdisjoint(range(start + 1, start + length)):
                yield start, start + length, index


def merged_help(lines: Iterable[HelpLine]) -> tuple[HelpLine, ...]:
    """*lines* in their order, without those that repeat a phone number (or without one, a URL)."""
    first: dict[str, HelpLine] = {}
    for line in lines:
        first.setdefault(line.phone or line.url, line)
    return tuple(first.values())


def _any_of(regexes: Sequence[str]) -> re.Pattern[str] | None:
    """One pattern that matches where any of *regexes* does."""
    if not regexes:
        return None
    return compile_folded("|".join(f"(?:{straight_apostrophes(regex)})" for regex in regexes))


def _without_harmless(rules: SafetyRules, text: NormalisedText) -> NormalisedText:
    harmless = rules.harmless_pattern(text)
    return normalise(harmless.sub(_CUT, text.folded)) if harmless else text


def _without_emphasis(text: NormalisedText) -> NormalisedText:
    """*text* without marks of emphasis and emoji: he *hits* me, he "hits" me, he 😡 hits me."""
    folded = text.folded
    if not folded.isascii():
        folded = _NOT_ASCII.sub(lambda char: char[0] if char[0].isalnum() else "", folded)
    folded = folded.encode().translate(None, _EMPHASIS).decode()
    folded = f" {folded} ".replace(" '", " ").replace("' ", " ").strip()
    if "  " in folded:
        folded = " ".join(folded.split())
    return text if folded == text.folded else replace(text, folded=folded)


def _without_apostrophes(word: str) -> str:
    return word.replace("'", "")
