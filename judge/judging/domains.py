"""Detects the domain of a dispute: weighted terms and patterns, added up per domain.

The text is split into words, and at each word the longest configured phrase matches and consumes
its words: "child maintenance" is not also "child". Terms therefore match whole words only ("son"
never matches in "person"), and the time is linear in the text.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import NamedTuple

from judge.errors import UnknownDomain
from judge.library.dispute import Dispute, NormalisedText, normalise, straight_apostrophes
from judge.library.sources.catalog import NO_WORDS, DomainSpec, SourceCatalog
from judge.text.patterns import PatternSet, Phrases
from judge.types.requests import DEFAULT_DOMAIN, Detection, DomainScore

QUERY_FACTOR = 1.5
"""Multiplies the weight of a match in the question: people ask about what matters."""

SHORT, LONG = (25, 1.9), (200, 3.0)
"""Lengths of a text in words and the score that the best domain needs there; linear in between.

Long texts mention more in passing. A term of weight 3 decides alone at any length.
"""

MIN_LEAD = 0.2
"""The best domain must lead the second by so much, since pages of the wrong domain do more harm
than none."""

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DomainWeight:
    """What a term or pattern weighs for one domain, which is given by its index.

    `text` and `file` say how and where it is written; a phrase that counts for a new domain because
    a term of it is inside has those of that term.
    """

    domain: int
    weight: float
    text: str
    file: str


@dataclass(frozen=True, slots=True, eq=False)
class DetectorTerm:
    """A configured word or phrase: as written, its normalised words, and its weights."""

    shown: str
    words: Words
    weights: tuple[DomainWeight, ...]


TermSpan = tuple[int, int, DetectorTerm]
"""The index of a term's first word, the index after its last word, and the term."""


@dataclass(frozen=True, slots=True)
class Detector:
    """The compiled terms and patterns of all domains; made once per sources file.

    `pattern_weights` are in the order of the patterns.
    """

    domains: tuple[str, ...]
    terms: Phrases[DetectorTerm]
    patterns: PatternSet
    pattern_weights: tuple[DomainWeight, ...]


class DomainMatch(NamedTuple):
    """A term or pattern found in the text; its score is its weight times `factor`."""

    shown: str
    """The term as written, or the text that the pattern matched."""
    weight: DomainWeight
    factor: float
    words: Words = ()
    """The normalised words of a term; empty for a pattern."""

    @property
    def is_asked(self) -> bool:
        """Whether the question contains it."""
        return self.factor == QUERY_FACTOR


@dataclass(frozen=True, slots=True)
class ScoreThreshold:
    """The score that the best domain needs in a text of so many words.

    `for_runner_up` is set when a second domain scored; the higher one counts.
    """

    words: int
    for_length: float
    for_runner_up: float | None = None

    @property
    def needed(self) -> float:
        """The score that is needed."""
        return max(self.for_length, self.for_runner_up or 0.0)


@dataclass(frozen=True, slots=True)
class DomainEvidence:
    """All matches in a dispute, with the scores and the threshold.

    `matches` has one mapping per domain, keyed by the term as written or the pattern.
    """

    matches: Sequence[Mapping[str, DomainMatch]]
    scores: tuple[DomainScore, ...]
    threshold: ScoreThreshold

    @property
    def detection(self) -> Detection:
        """The best domain if its score reaches the threshold, else `default`; with the ranking."""
        is_decided = bool(self.scores) and self.scores[0].score >= self.threshold.needed
        domain = self.scores[0].domain if is_decided else DEFAULT_DOMAIN
        return Detection(domain, self.scores, self.threshold.needed)


def compile_detector(catalog: SourceCatalog) -> Detector:
    """The detector for the domains of *catalog*."""
    weights = [
        DomainWeight(index, pattern.weight, pattern.regex, words.file)
        for index, domain in enumerate(catalog.domains)
        for words in (domain.vocabulary, domain)
        for pattern in words.patterns
    ]
    return Detector(
        domains=tuple(domain.name for domain in catalog.domains),
        terms=Phrases(_terms(catalog.domains), normalise_word),
        patterns=PatternSet(straight_apostrophes(weight.text) for weight in weights),
        pattern_weights=tuple(weights),
    )


def choose_domain(detector: Detector, dispute: Dispute, named: str | None) -> Detection:
    """The domain of *dispute*, or the one that the request *named*; raises UnknownDomain."""
    detection = detect_domain(detector, dispute)
    if named is None:
        return detection
    valid = [*detector.domains, DEFAULT_DOMAIN]
    if named not in valid:
        raise UnknownDomain(named, valid)
    return replace(detection, domain=named)


def detect_domain(detector: Detector, dispute: Dispute) -> Detection:
    """The domain that *dispute* is about, with the ranking that led to it.

    The ranking holds the domains with a score above zero, best first, ties in the order of the
    file. The domain is the first of them, or `default` when its score is below the threshold.
    """
    return weigh_evidence(detector, dispute).detection


def weigh_evidence(detector: Detector, dispute: Dispute) -> DomainEvidence:
    """The matches and scores of each domain in *dispute*, and the score that is needed."""
    matches: list[dict[str, DomainMatch]] = [{} for _ in detector.domains]
    _add_matches(matches, detector, dispute.query, QUERY_FACTOR)
    _add_matches(matches, detector, dispute.context.beginning, 1.0)
    scores = _ranking(detector, matches)
    words = len(dispute.context.words) + len(dispute.query.words)
    ahead = None
    if len(scores) > 1:
        ahead = round(scores[1].score + MIN_LEAD, 2)  # Rounded like the scores it is compared with.
    return DomainEvidence(matches, scores, ScoreThreshold(words, _needed_for_length(words), ahead))


def _needed_for_length(words: int) -> float:
    """The score that a text of so many *words* needs."""
    (fewer, low), (more, high) = SHORT, LONG
    share = (min(max(words, fewer), more) - fewer) / (more - fewer)
    return round(low + (high - low) * share, 2)


def normalise_word(word: str) -> str:
    """*word* without possessive, apostrophe and simple plural: "landlords'" is "landlord"."""
    if "'" in word:
        word = word.removesuffix("'s").replace("'", "")
    if len(word) < 4 or word[-1] != "s" or word.endswith(("ss", "us", "is")):
        return word
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses")) else word[:-1]


def _terms(domains: Sequence[DomainSpec]) -> Iterator[tuple[Words, DetectorTerm]]:
    """Every term with its normalised words; a term of several domains is yielded once.

    Of terms with the same words the heaviest counts, and a domain's own before the package's.
    """
    weights: dict[Words, dict[int, DomainWeight]] = {}
    for index, domain in enumerate(domains):
        for source in (domain.vocabulary, domain):
            for text, weight in sorted(source.terms, key=itemgetter(1)):
                found = DomainWeight(index, weight, text, source.file)
                weights.setdefault(term_words(text), {})[index] = found
    shown = {words: next(iter(by_domain.values())).text for words, by_domain in weights.items()}
    _extend_to_new_domains(weights, domains)
    for words, by_domain in weights.items():
        yield words, DetectorTerm(shown[words], words, tuple(by_domain.values()))


def term_words(text: str) -> Words:
    """The normalised words of a term; terms with the same words are the same term."""
    return tuple(map(normalise_word, normalise(text).words))


def _extend_to_new_domains(
    weights: dict[Words, dict[int, DomainWeight]], domains: Sequence[DomainSpec]
) -> None:
    """Give the package's phrases the weights that terms inside them have for new domains.

    A phrase hides the terms inside it, as "my neighbour" hides "neighbour". That was measured for
    the package's subjects; a domain that the package has no words for would lose the hidden term.
    """
    new = {index for index, domain in enumerate(domains) if domain.vocabulary == NO_WORDS}
    configured = {term_words(text) for domain in domains for text, _ in domain.terms}
    if not new or not configured:
        return
    for words in [words for words in weights if words not in configured]:
        for first, last in itertools.combinations(range(len(words) + 1), 2):
            for index, weight in weights.get(words[first:last], {}).items():
                if index in new:
                    earlier = weights[words].get(index, weight)
                    weights[words][index] = max(weight, earlier, key=attrgetter("weight"))


def _add_matches(
    by_domain: Sequence[dict[str, DomainMatch]],
    detector: Detector,
    text: NormalisedText,
    factor: float,
) -> None:
    """Add the matches of one text to those of each domain, unless they are there already."""
    for _, _, term in longest_terms(detector, text):
        for weight in term.weights:
            match = DomainMatch(term.shown, weight, factor, term.words)
            by_domain[weight.domain].setdefault(term.shown, match)
    for number, found in detector.patterns.matches(text.folded):
        weight = detector.pattern_weights[number]
        match = DomainMatch(" ".join(found[0].split()), weight, factor)
        by_domain[weight.domain].setdefault(found.re.pattern, match)


def longest_terms(detector: Detector, text: NormalisedText) -> list[TermSpan]:
    """The terms in *text*, in order: at each word the longest, which consumes its words."""
    spans: list[TermSpan] = []
    end = 0
    for start, phrases in detector.terms.find(text.words):
        if start >= end:
            length, term = phrases[-1]
            end = start + length
            spans.append((start, end, term))
    return spans


def _ranking(
    detector: Detector, by_domain: Sequence[Mapping[str, DomainMatch]]
) -> tuple[DomainScore, ...]:
    """The domains with a score above zero, best first."""
    named = zip(detector.domains, by_domain)
    scores = [_score(name, matches.values()) for name, matches in named if matches]
    return tuple(sorted((s for s in scores if s.score > 0), key=lambda s: -s.score))


def _score(name: str, matches: Iterable[DomainMatch]) -> DomainScore:
    """The sum of one domain's *matches*; the terms shown are those that add most first."""
    parts = [(match.weight.weight * match.factor, match.shown) for match in matches]
    parts.sort(key=itemgetter(0), reverse=True)
    matched = dict.fromkeys([shown for value, shown in parts if value > 0])
    return DomainScore(name, round(sum([value for value, _ in parts]), 2), tuple(matched))
