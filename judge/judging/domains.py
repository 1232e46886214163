"""Detects the domain of a dispute: weighted terms and patterns, added up per domain.

The text is split into words, and at each word the longest configured phrase matches and consumes
its words: "child maintenance" is not also "child". Terms therefore match whole words only ("son"
never matches in "person"), and the time is linear in the text.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import Literal, NamedTuple

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
class DomainMatch:
    """A term or pattern found in the text, and what it adds to the score of one domain."""

    domain: str
    kind: Literal["term", "pattern"]
    text: str
    """The term as written, or what the pattern matched."""
    configured: str
    """The term or the regular expression as written in `file`."""
    file: str
    weight: float
    factor: float
    """Higher in the question."""
    score: float
    """`weight` times `factor`."""
    is_asked: bool
    """Whether the question contains it."""

    def found(self, text: str, factor: float) -> "DomainMatch":
        """This one as it is compiled, found as *text* in a part of the dispute."""
        score = self.weight * factor
        return replace(self, text=text, factor=factor, score=score, is_asked=factor > 1)


Term = tuple[DomainMatch, ...]
"""What a configured word or phrase adds to each of its domains."""


@dataclass(frozen=True, slots=True)
class Detector:
    """The compiled terms and patterns of all domains; made once per sources file."""

    domains: tuple[str, ...]
    new: frozenset[str]
    """The domains that the package has no words for."""
    terms: Phrases[Term]
    own_terms: Phrases[Term]
    """Those of the sources file, if there are new domains. They count for these: a phrase of the
    package hides the terms inside it, as "my neighbour" hides "neighbour", and that was measured
    for the package's subjects."""
    patterns: PatternSet
    by_pattern: tuple[DomainMatch, ...]
    """What each pattern adds."""


@dataclass(frozen=True, slots=True)
class ScoreThreshold:
    """The score that the best domain needs in a text of so many words; the higher one counts.

    `for_runner_up` is set when a second domain scored.
    """

    words: int
    for_length: float
    for_runner_up: float | None = None


class DomainEvidence(NamedTuple):
    """All matches in a dispute, domain by domain, and what follows from them."""

    matches: Sequence[DomainMatch]
    threshold: ScoreThreshold
    detection: Detection


def compile_detector(catalog: SourceCatalog) -> Detector:
    """The detector for the domains of *catalog*."""
    domains = catalog.domains
    new = frozenset(domain.name for domain in domains if domain.vocabulary == NO_WORDS)
    by_pattern = [
        _compiled(domain.name, "pattern", pattern.regex, words.file, pattern.weight)
        for domain in domains
        for words in (domain.vocabulary, domain)
        for pattern in words.patterns
    ]
    return Detector(
        domains=tuple(domain.name for domain in domains),
        new=new,
        terms=Phrases(_terms(domains), normalise_word),
        own_terms=Phrases(_terms(domains, is_own=True) if new else (), normalise_word),
        patterns=PatternSet(straight_apostrophes(one.configured) for one in by_pattern),
        by_pattern=tuple(by_pattern),
    )


def _compiled(
    domain: str, kind: Literal["term", "pattern"], text: str, file: str, weight: float
) -> DomainMatch:
    return DomainMatch(domain, kind, text, text, file, weight, 1.0, weight, is_asked=False)


def detect_domain(detector: Detector, dispute: Dispute, named: str | None = None) -> Detection:
    """The domain of *dispute*, or the one that the request *named*, with the ranking.

    `default` if none is detected. The ranking holds the domains with a score above zero, best
    first, ties in the file's order. Raises UnknownDomain.
    """
    detection = weigh_evidence(detector, dispute).detection
    if named is None:
        return detection
    valid = [*detector.domains, DEFAULT_DOMAIN]
    if named not in valid:
        raise UnknownDomain(named, valid)
    return replace(detection, domain=named)


def weigh_evidence(detector: Detector, dispute: Dispute) -> DomainEvidence:
    """The matches and scores of each domain in *dispute*, and the score that is needed."""
    found: dict[tuple[str, str], DomainMatch] = {}
    for text in ((dispute.query, QUERY_FACTOR), (dispute.context.beginning, 1.0)):
        for match in _matches(detector, *text):
            found.setdefault((match.domain, match.configured), match)
    matches = sorted(found.values(), key=lambda match: detector.domains.index(match.domain))
    by_domain = itertools.groupby(matches, key=attrgetter("domain"))
    positive = [one for one in itertools.starmap(_score, by_domain) if one.score > 0]
    scores = tuple(sorted(positive, key=lambda one: -one.score))
    words = len(dispute.context.words) + len(dispute.query.words)
    (fewer, low), (more, high) = SHORT, LONG
    share = (min(max(words, fewer), more) - fewer) / (more - fewer)
    for_length = round(low + (high - low) * share, 2)
    # Rounded like the scores it is compared with.
    ahead = round(scores[1].score + MIN_LEAD, 2) if len(scores) > 1 else None
    needed = max(for_length, ahead or 0.0)
    domain = scores[0].domain if scores and scores[0].score >= needed else DEFAULT_DOMAIN
    detection = Detection(domain, scores, needed)
    return DomainEvidence(matches, ScoreThreshold(words, for_length, ahead), detection)


def normalise_word(word: str) -> str:
    """*word* without possessive, apostrophe and simple plural: "landlords'" is "landlord"."""
    if "'" in word:
        word = word.removesuffix("'s").replace("'", "")
    if len(word) < 4 or word[-1] != "s" or word.endswith(("ss", "us", "is")):
        return word
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses")) else word[:-1]


def term_words(text: str) -> Words:
    """The normalised words of a term; terms with the same words are the same term."""
    return tuple(map(normalise_word, normalise(text).words))


def _terms(domains: Sequence[DomainSpec], *, is_own: bool = False) -> Iterator[tuple[Words, Term]]:
    """Every term with its normalised words, or those that the domains have of their *own*.

    Of terms with the same words the heaviest counts, and a domain's own before the package's.
    """
    by_words: dict[Words, dict[str, DomainMatch]] = {}
    for domain in domains:
        for source in (domain,) if is_own else (domain.vocabulary, domain):
            for text, weight in sorted(source.terms, key=itemgetter(1)):
                term = _compiled(domain.name, "term", text, source.file, weight)
                by_words.setdefault(term_words(text), {})[domain.name] = term
    for words, by_domain in by_words.items():
        yield words, tuple(by_domain.values())


def _matches(detector: Detector, text: NormalisedText, factor: float) -> Iterator[DomainMatch]:
    """The matches in *text*. At each word the longest term counts, and consumes its words."""
    for terms in (detector.terms, detector.own_terms):
        end = 0
        for start, phrases in terms.find(text.words):
            if start >= end:
                length, term = phrases[-1]
                end = start + length
                for one in term:
                    if (one.domain in detector.new) == (terms is detector.own_terms):
                        yield one.found(term[0].configured, factor)
    for number, found in detector.patterns.matches(text.folded):
        yield detector.by_pattern[number].found(" ".join(found[0].split()), factor)


def _score(domain: str, matches: Iterable[DomainMatch]) -> DomainScore:
    """The sum of one domain's *matches*; the terms shown are those that add most first."""
    ranked = sorted(matches, key=lambda match: -match.score)
    matched = dict.fromkeys(match.text for match in ranked if match.score > 0)
    return DomainScore(domain, round(sum(match.score for match in ranked), 2), tuple(matched))
