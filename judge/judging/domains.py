"""Which everyday subject is a dispute about? Weighted terms and patterns, added up per domain.

The text is cut into words, and at each word the longest configured phrase wins and uses its
words up: "child maintenance" is not also "child". Word bounds therefore hold by construction
("son" is never found in "person"), and the time is linear in the text.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import NamedTuple

from judge.errors import UnknownDomain
from judge.judging.dispute import Dispute, NormalisedText, normalise, straight_apostrophes
from judge.judging.sources import DomainSpec, SourceCatalog
from judge.judging.vocabulary import NO_WORDS
from judge.text.pattern_set import PatternSet
from judge.text.phrase_trie import PhraseTrie
from judge.types.requests import DEFAULT_DOMAIN, Detection, DomainScore

QUERY_FACTOR = 1.5
"""What a match in the question weighs more than one in the context; people ask what matters."""

REPEAT_FACTOR = 0.5
"""What each repetition of a term adds, as a share of its weight."""

MOST_FACTOR = 2.0
"""The most that one term can weigh, however often it stands in the text."""

THRESHOLDS = ((25, 1.9), (80, 2.6), (300, 3.0))
"""Words of a text and the score that a domain needs in it, with straight lines between.

Long texts mention more in passing. A term of weight 3 decides alone in any of them.
"""

STRONG = 2.0
HINT_WORDS = 100
"""Terms below a weight of 2 fade in contexts beyond 100 words, with the square root: a long
story mentions a job, a school and a bank whatever it is about."""

QUESTION_WORDS = 6
STORY_WORDS = 50
"""A question of so many words that says nothing of the domain of its story, when that has so
many words: the story mentions it in passing, and needs the score of the longest texts."""

CLOSE = 0.2
SURE = 2.0
"""Two domains whose scores differ by less than this are a toss-up, and the pages of the wrong one
would do more harm than none; unless both have this many times the score that is needed, when a
dispute is about either."""

LEADS = frozenset("a an at her his my our the their this".split())
"""Words that terms begin with and that may stand before other terms as well."""

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DomainWeight:
    """That a term speaks for the domain of this index, and how loudly."""

    domain: int
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class DetectorTerm:
    """A configured word or phrase: as shown, its words as they are compared, and its weights."""

    shown: str
    words: Words
    weights: tuple[DomainWeight, ...]


FoundTerm = tuple[int, int, DetectorTerm]
"""A term with the numbers of its first word and of the one after it."""


@dataclass(frozen=True, slots=True)
class Detector:
    """What `detect_domain` needs, compiled once per sources file.

    `weights` are those of the patterns, in their order.
    """

    domains: tuple[str, ...]
    terms: PhraseTrie[DetectorTerm]
    patterns: PatternSet
    weights: tuple[DomainWeight, ...]


class DomainMatch(NamedTuple):
    """A term or pattern found in the text: `shown` names it, each repetition raises its factor."""

    shown: str
    weight: DomainWeight
    factor: float
    is_asked: bool
    """Whether the question says it."""
    words: Words = ()
    """Those of a term; none for a pattern."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The score that the best domain needs in a text, and what set it so high.

    `for_question` is there when the question says nothing of the best domain, `for_runner_up` when
    there is a second one; the highest counts.
    """

    words: int
    for_length: float
    for_question: float | None = None
    for_runner_up: float | None = None

    @property
    def needed(self) -> float:
        """The score that is needed."""
        return max(self.for_length, self.for_question or 0.0, self.for_runner_up or 0.0)


@dataclass(frozen=True, slots=True)
class DomainEvidence:
    """All that stood in a dispute, with the scores and the bar.

    `found` is that of each domain, by the term as it is shown, or the pattern.
    """

    found: Sequence[Mapping[str, DomainMatch]]
    scores: tuple[DomainScore, ...]
    bar: Bar

    @property
    def detection(self) -> Detection:
        """What follows from it."""
        is_decided = bool(self.scores) and self.scores[0].score >= self.bar.needed
        domain = self.scores[0].domain if is_decided else DEFAULT_DOMAIN
        return Detection(domain, self.scores, self.bar.needed)


def compile_detector(catalog: SourceCatalog) -> Detector:
    """The detector for the domains of *catalog*."""
    patterns = [
        (pattern.regex, DomainWeight(index, pattern.weight))
        for index, domain in enumerate(catalog.domains)
        for pattern in domain.all_patterns
    ]
    return Detector(
        domains=tuple(domain.name for domain in catalog.domains),
        terms=PhraseTrie(_terms(catalog.domains), compared_word),
        patterns=PatternSet(straight_apostrophes(regex) for regex, _ in patterns),
        weights=tuple(weight for _, weight in patterns),
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

    The ranking holds the domains that scored, best first, ties in the order of the file. The
    domain is the first of them, or `default` when its score is below the threshold or hardly above
    the second's.
    """
    return weigh_evidence(detector, dispute).detection


def weigh_evidence(detector: Detector, dispute: Dispute) -> DomainEvidence:
    """What speaks for each domain in *dispute*, and how much of it is needed."""
    count = len(dispute.context.words)
    share = math.sqrt(HINT_WORDS / max(count, HINT_WORDS))
    found: list[dict[str, DomainMatch]] = [{} for _ in detector.domains]
    _add_matches(found, detector, dispute.query, QUERY_FACTOR, QUERY_FACTOR, is_asked=True)
    _add_matches(found, detector, dispute.context, 1.0, share, is_asked=False)
    scores = _ranking(detector, found)
    words = count + len(dispute.query.words)
    for_length, for_question, for_runner_up = _threshold(words), None, None
    is_long = len(dispute.query.words) >= QUESTION_WORDS and count >= STORY_WORDS
    if scores and is_long and not _is_asked(found[detector.domains.index(scores[0].domain)]):
        for_question = THRESHOLDS[-1][1]
    if len(scores) > 1:
        ahead = round(scores[1].score + CLOSE, 2)  # As scores are, which it is compared with.
        for_runner_up = min(ahead, SURE * max(for_length, for_question or 0.0))
    bar = Bar(words, for_length, for_question, for_runner_up)
    return DomainEvidence(found, scores, bar)


def _is_asked(found: Mapping[str, DomainMatch]) -> bool:
    """Whether anything in the question speaks for the domain of which this was *found*."""
    return any(match.is_asked and match.weight.weight > 0 for match in found.values())


def _threshold(words: int) -> float:
    """The score that a text of so many words needs."""
    for (fewer, low), (more, high) in itertools.pairwise(THRESHOLDS):
        if words < more:
            return low + (high - low) * max(words - fewer, 0) / (more - fewer)
    return THRESHOLDS[-1][1]


def compared_word(word: str) -> str:
    """*word* without possessive, apostrophe and simple plural: "landlords'" is "landlord"."""
    if "'" in word:
        word = word.removesuffix("'s").replace("'", "")
    if len(word) < 4 or word[-1] != "s" or word.endswith(("ss", "us", "is")):
        return word
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses")) else word[:-1]


def _terms(domains: Sequence[DomainSpec]) -> Iterator[tuple[Words, DetectorTerm]]:
    """Every term with its words; a term of two domains stands once."""
    weights: dict[Words, dict[int, float]] = {}
    shown: dict[Words, str] = {}
    for index, domain in enumerate(domains):
        for terms in (domain.vocabulary.terms, domain.terms):
            loudest: dict[Words, float] = {}
            for text, weight in terms:
                words = term_words(text)
                shown.setdefault(words, text)
                loudest[words] = max(weight, loudest.get(words, weight))
            for words, weight in loudest.items():
                weights.setdefault(words, {})[index] = weight
    _extend_to_new_domains(weights, domains)
    for words, known in weights.items():
        of_domains = tuple(DomainWeight(index, weight) for index, weight in known.items())
        yield words, DetectorTerm(shown[words], words, of_domains)


def term_words(text: str) -> Words:
    """The words of a term as they are compared: terms with the same words are the same term."""
    return tuple(map(compared_word, normalise(text).words))


def _extend_to_new_domains(
    weights: dict[Words, dict[int, float]], domains: Sequence[DomainSpec]
) -> None:
    """Let phrases of the package say what they hold of domains that the package does not know.

    Its phrases hide the shorter terms inside them, as "my neighbour" hides "neighbour", which
    was measured among the subjects it has words for. A domain without any is never hidden so.
    """
    new = {at for at, domain in enumerate(domains) if domain.vocabulary == NO_WORDS}
    ours = {term_words(text) for domain in domains for text, _ in domain.terms}
    if not new or not ours:
        return
    for words in [words for words in weights if words not in ours]:
        for first, last in itertools.combinations(range(len(words) + 1), 2):
            for index, weight in weights.get(words[first:last], {}).items():
                if index in new:
                    known = weights[words]
                    known[index] = max(weight, known.get(index, weight))


def _add_matches(
    found: Sequence[dict[str, DomainMatch]],
    detector: Detector,
    text: NormalisedText,
    factor: float,
    hint_factor: float,
    *,
    is_asked: bool,
) -> None:
    """Add what of *detector* stands in one text; hints get a factor of their own."""
    terms = Counter([term for _, _, term in longest_terms(detector, text)])
    matches = [
        (t.shown, t.shown, weight, n, t.words) for t, n in terms.items() for weight in t.weights
    ]
    for number, match in detector.patterns.matches(text.folded):
        shown = " ".join(match[0].split())
        matches.append((match.re.pattern, shown, detector.weights[number], 1, ()))
    for key, shown, weight, times, words in matches:
        known = found[weight.domain].get(key)
        if known is None:
            part = hint_factor if weight.weight < STRONG else factor
            raised = min(part + (times - 1) * REPEAT_FACTOR, MOST_FACTOR)
            found[weight.domain][key] = DomainMatch(shown, weight, raised, is_asked, words)
        elif known.factor < MOST_FACTOR:
            raised = min(known.factor + times * REPEAT_FACTOR, MOST_FACTOR)
            found[weight.domain][key] = known._replace(factor=raised)


def longest_terms(detector: Detector, text: NormalisedText) -> list[FoundTerm]:
    """The terms in *text*: at each word the longest, which uses its words up.

    "a job" gives way to "job offer" in "a job offer".
    """
    found: list[FoundTerm] = []
    free = 0
    for start, here in detector.terms.find(text.words):
        length, term = here[-1]
        if start < free < start + length and found[-1][0] == start - 1:
            if text.words[start - 1] not in LEADS:
                continue
            del found[-1]
        elif start < free:
            continue
        free = start + length
        found.append((start, free, term))
    return found


def _ranking(
    detector: Detector, by_domain: Sequence[Mapping[str, DomainMatch]]
) -> tuple[DomainScore, ...]:
    """The score of each domain with one above zero, best first."""
    scores = [
        _score(name, found.values()) for name, found in zip(detector.domains, by_domain) if found
    ]
    return tuple(sorted((s for s in scores if s.score > 0), key=lambda s: -s.score))


def _score(name: str, found: Iterable[DomainMatch]) -> DomainScore:
    """The sum of what was *found* for one domain; what speaks loudest is named first."""
    parts = [(match.weight.weight * match.factor, match.shown) for match in found]
    parts.sort(key=itemgetter(0), reverse=True)
    matched = dict.fromkeys([shown for value, shown in parts if value > 0])
    return DomainScore(name, round(sum([value for value, _ in parts]), 2), tuple(matched))
