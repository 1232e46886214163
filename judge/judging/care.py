"""Finds out whether a dispute suggests danger, and whom to turn to; the prompt then asks for care.

Phrases that only sound alarming are removed ("this job is killing me"), and the rest is matched
against each rule's terms and patterns. Terms match whole words within one sentence.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from judge.library.dispute import Dispute, NormalisedText, normalise, straight_apostrophes
from judge.library.sources.catalog import SafetyRule
from judge.text.english import fold_space
from judge.text.patterns import PatternSet, Phrases
from judge.types.results import HelpLine

_EMPHASIS = re.compile(r"[\"#*<=>@\[\\\]^_`{|}~]|[^\x00-\x7f](?<!\w)|(?<!\S)'+|'+(?!\S)")
"""Marks of emphasis, emoji and quotation marks: he *hits* me, he "hits" me, he 😡 hits me."""

_CUT = " ; "
"""Replaces a harmless phrase; it ends a sentence, so that no term matches across the gap."""


@dataclass(frozen=True, slots=True)
class SafetyReason:
    """A rule that matches: its name, if it has one, its files, the matches, and its help lines."""

    rule: str
    files: tuple[str, ...]
    found: tuple[str, ...]
    help: tuple[HelpLine, ...]


@dataclass(frozen=True, slots=True)
class SafetyFindings:
    """The rules that match a dispute, and the phrases that were removed as harmless."""

    reasons: tuple[SafetyReason, ...] = ()
    harmless: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SafetyRules:
    """The compiled safety rules; made once per sources file.

    `terms` and `pattern_rules` give the index of the rule of each term and pattern.
    """

    rules: tuple[SafetyRule, ...]
    terms: Phrases[int]
    patterns: PatternSet
    pattern_rules: tuple[int, ...]
    harmless: PatternSet
    """Phrases that only sound alarming; those of one rule apply to all."""
    emergency: tuple[HelpLine, ...] = ()
    """Shown where nobody can tell what help fits."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the rules that have one, which a model may name."""
        return tuple(rule.name for rule in self.rules if rule.name)


def compile_safety(
    rules: Sequence[SafetyRule], emergency: tuple[HelpLine, ...] = ()
) -> SafetyRules:
    """The compiled *rules*, with the *emergency* lines of the country."""
    terms = [
        (normalise(straight_apostrophes(term).replace("'", "")).words, n)
        for n, rule in enumerate(rules)
        for term in rule.terms
    ]
    patterns = [(regex, n) for n, rule in enumerate(rules) for regex in rule.patterns]
    return SafetyRules(
        tuple(rules),
        Phrases(terms, lambda word: word.replace("'", "")),
        PatternSet(straight_apostrophes(regex) for regex, _ in patterns),
        tuple(n for _, n in patterns),
        PatternSet(straight_apostrophes(regex) for rule in rules for regex in rule.harmless),
        emergency,
    )


def find_safety(rules: SafetyRules, dispute: Dispute) -> SafetyFindings:
    """Which rules match *dispute* and where, and which phrases were removed as harmless."""
    texts = [
        replace(text, folded=fold_space(_EMPHASIS.sub("", text.folded)))
        for text in (dispute.context, dispute.query)
    ]
    harmless: list[str] = []
    found: dict[int, dict[str, None]] = {}
    for text in texts:
        matches = [*_matches(rules, text)]
        safe = _without_harmless(rules, text, harmless) if matches else text
        for index, words in matches if safe is text else _matches(rules, safe):
            found.setdefault(index, {})[words] = None
    reasons = [
        SafetyReason(rule.name, rule.files, tuple(found[index]), rule.help)
        for index, rule in enumerate(rules.rules)
        if index in found
    ]
    return SafetyFindings(tuple(reasons), tuple(harmless))


def care_lines(
    rules: SafetyRules,
    found: SafetyFindings,
    named: Iterable[str] = (),
    *,
    is_unsure: bool = False,
) -> tuple[HelpLine, ...]:
    """The lines of the rules *found* by words and of those *named* by the model, in their order.

    The emergency lines come last where a rule brings none, or it *is_unsure* whether one fits.
    """
    wanted = {reason.rule for reason in found.reasons}.union(named)
    chosen = [rule.help for rule in rules.rules if rule.name and rule.name in wanted]
    chosen += [reason.help for reason in found.reasons if not reason.rule]
    needs_more = is_unsure or not all(chosen)
    return merged_help(line for lines in (*chosen, rules.emergency * needs_more) for line in lines)


def _matches(rules: SafetyRules, text: NormalisedText) -> Iterator[tuple[int, str]]:
    """The index of the rule of each match in *text*, with the words that match."""
    for start, phrases in rules.terms.find(text.words):
        for length, index in phrases:
            if text.ends.isdisjoint(range(start + 1, start + length)):
                yield index, " ".join(map(rules.terms.form, text.words[start : start + length]))
    for number, match in rules.patterns.matches(text.folded):
        yield rules.pattern_rules[number], match[0]


def merged_help(lines: Iterable[HelpLine]) -> tuple[HelpLine, ...]:
    """*lines* in their order, without those that repeat a phone number (or without one, a URL)."""
    first: dict[str, HelpLine] = {}
    for line in lines:
        first.setdefault(line.phone or line.url, line)
    return tuple(first.values())


def _without_harmless(
    rules: SafetyRules, text: NormalisedText, harmless: list[str]
) -> NormalisedText:
    """*text* without the phrases that only sound alarming, which are added to *harmless*."""
    spans = sorted(match.span() for _, match in rules.harmless.matches(text.folded))
    if not spans:
        return text
    pieces, at = [], 0
    for start, end in spans:
        if start >= at:
            pieces += [text.folded[at:start], _CUT]
            harmless.append(text.folded[start:end])
            at = end
    return normalise("".join([*pieces, text.folded[at:]]))
