"""Does a dispute call for care, and who can help? Between detection and the prompt.

Phrases that merely sound alarming are taken out ("this job is killing me"), and in the rest each
rule's terms and patterns are looked for. Terms are whole words and never reach across the end of a
sentence.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from judge.judging.dispute import Dispute, NormalisedText, normalise, straight_apostrophes
from judge.judging.sources import SafetyRule
from judge.text.pattern_set import PatternSet, compile_folded
from judge.text.phrase_trie import PhraseTrie
from judge.types.results import HelpLine

_EMPHASIS = b'"#*<=>@[\\]^_`{|}~'
"""Neither ends nor divides sentences; beyond ASCII whatever is no letter does not."""
_NOT_ASCII = re.compile("[^\x00-\x7f]")

_CUT = " ; "
"""Stands where a harmless phrase was; it ends a sentence, so that nothing joins over it."""


@dataclass(frozen=True, slots=True)
class SafetyFindings:
    """Whether care is needed, and the help lines of every rule that was met, each once."""

    needs_care: bool = False
    help: tuple[HelpLine, ...] = ()


@dataclass(frozen=True, slots=True)
class SafetyReason:
    """A rule that was met: its name (perhaps none), what of it stood in the text, whom it shows."""

    rule: str
    files: tuple[str, ...]
    found: tuple[str, ...]
    help: tuple[HelpLine, ...]


@dataclass(frozen=True, slots=True)
class SafetyExplanation:
    """The rules that a dispute meets, and the phrases that only sounded as if."""

    reasons: tuple[SafetyReason, ...] = ()
    harmless: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SafetyRules:
    """What `find_safety` needs, compiled once per sources file.

    `terms` holds those of all rules with the rule's place; `patterns` those of all rules, and
    `of_pattern` the place of the rule that each is of. `harmless` are the phrases that merely sound
    alarming; those of one rule count for all.
    """

    rules: tuple[SafetyRule, ...]
    terms: PhraseTrie[int]
    patterns: PatternSet
    of_pattern: tuple[int, ...]
    harmless: PatternSet

    def harmless_in(self, text: NormalisedText) -> re.Pattern[str] | None:
        """What matches each harmless phrase of *text* from left to right; None if it has none."""
        if next(self.harmless.matches(text.folded), None) is None:
            return None
        return _any_of([regex for rule in self.rules for regex in rule.harmless])


def compile_safety(rules: Sequence[SafetyRule]) -> SafetyRules:
    """The watch for *rules*."""
    terms = [(term, place) for place, rule in enumerate(rules) for term in rule.terms]
    patterns = [(regex, place) for place, rule in enumerate(rules) for regex in rule.patterns]
    return SafetyRules(
        tuple(rules),
        PhraseTrie([(tuple(map(_form, normalise(t).words)), place) for t, place in terms], _form),
        PatternSet(straight_apostrophes(regex) for regex, _ in patterns),
        tuple(place for _, place in patterns),
        PatternSet(straight_apostrophes(regex) for rule in rules for regex in rule.harmless),
    )


def find_safety(rules: SafetyRules, dispute: Dispute) -> SafetyFindings:
    """The care that *dispute* calls for, with help lines in the order of the rules."""
    texts = [_without_emphasis(dispute.context), _without_emphasis(dispute.query)]
    # Most disputes meet nothing, and need not be searched for harmless phrases.
    met = _met(rules, texts)
    cleaned = [_without_harmless(rules, text) for text in texts] if met else texts
    if cleaned != texts:
        met = _met(rules, cleaned)
    return SafetyFindings(bool(met), merged_help(line for rule in met for line in rule.help))


def explain_safety(rules: SafetyRules, dispute: Dispute) -> SafetyExplanation:
    """Which rules *dispute* meets and by what, and what was taken out before they were tried."""
    texts = [_without_emphasis(dispute.context), _without_emphasis(dispute.query)]
    if not _met(rules, texts):
        return SafetyExplanation()
    cleaned = [_without_harmless(rules, text) for text in texts]
    return SafetyExplanation(
        reasons=tuple(
            SafetyReason(rule.name, rule.files, _found(rules, rule, cleaned), rule.help)
            for rule in _met(rules, cleaned)
        ),
        harmless=tuple(
            match[0]
            for text in texts
            for harmless in [rules.harmless_in(text)]
            for match in (harmless.finditer(text.folded) if harmless else ())
        ),
    )


def _found(
    rules: SafetyRules, rule: SafetyRule, texts: Sequence[NormalisedText]
) -> tuple[str, ...]:
    """What of *rule* stands in *texts*, each once."""
    terms = [
        " ".join(map(_form, text.words[start:end]))
        for text in texts
        for start, end, place in _terms(rules, text)
        if rules.rules[place] is rule
    ]
    pattern = _any_of(rule.patterns)
    matches = [m[0] for text in texts for m in (pattern.finditer(text.folded) if pattern else ())]
    return tuple(dict.fromkeys([*terms, *matches]))


def _met(rules: SafetyRules, texts: Sequence[NormalisedText]) -> list[SafetyRule]:
    """Those of *rules* that the *texts* meet, in their order."""
    met = {place for text in texts for place in _places(rules, text)}
    return [rules.rules[place] for place in sorted(met)]


def _places(rules: SafetyRules, text: NormalisedText) -> Iterator[int]:
    """The places of the rules that *text* meets, some more than once."""
    yield from (place for _, _, place in _terms(rules, text))
    for number, _ in rules.patterns.matches(text.folded):
        yield rules.of_pattern[number]


def _terms(rules: SafetyRules, text: NormalisedText) -> Iterator[tuple[int, int, int]]:
    """Where a term begins and ends within a sentence of *text*, and the place of its rule."""
    for start, here in rules.terms.find(text.words):
        for length, place in here:
            if text.ends.isdisjoint(range(start + 1, start + length)):
                yield start, start + length, place


def merged_help(lines: Iterable[HelpLine]) -> tuple[HelpLine, ...]:
    """*lines* in their order, without those whose number (or address) was there before."""
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
    harmless = rules.harmless_in(text)
    return normalise(harmless.sub(_CUT, text.folded)) if harmless else text


def _without_emphasis(text: NormalisedText) -> NormalisedText:
    """*text* without what sets words off: he *hits* me, he "hits" me, he 😡 hits me."""
    folded = text.folded
    if not folded.isascii():
        folded = _NOT_ASCII.sub(lambda one: one[0] if one[0].isalnum() else "", folded)
    folded = folded.encode().translate(None, _EMPHASIS).decode()
    folded = f" {folded} ".replace(" '", " ").replace("' ", " ").strip()
    if "  " in folded:
        folded = " ".join(folded.split())
    return text if folded == text.folded else replace(text, folded=folded)


def _form(word: str) -> str:
    """*word* as it is compared: "won't" is "wont"."""
    return word.replace("'", "")
