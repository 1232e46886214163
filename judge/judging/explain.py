"""Why does a dispute get its domain, its help lines and its pages? The answer as data.

Everything that stood in the text is there: also what weighs nothing, speaks against, or does
not count because a longer term used its words up.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from judge.judging.dispute import Dispute, NormalisedText
from judge.judging.domains import (
    Bar,
    Detector,
    DetectorTerm,
    DomainMatch,
    Words,
    longest_terms,
    term_words,
    weigh_evidence,
)
from judge.judging.knowledge import Knowledge
from judge.judging.nations import find_nations
from judge.judging.pages.choose import ChosenPage, choose_pages
from judge.judging.pages.library import IndexedPages
from judge.judging.safety import SafetyReason, explain_safety, merged_help
from judge.judging.sources import DomainSpec
from judge.types.requests import DEFAULT_DOMAIN, Detection
from judge.types.results import HelpLine

TermKind = Literal["term", "pattern"]


@dataclass(frozen=True, slots=True)
class ExplainedTerm:
    """A term or pattern that stood in the text, and what it gave one domain.

    `score` is `weight` times `factor`: more in the question and when repeated, less for hints in a
    long story. It is 0 where the match is part of a longer term's: that is then `lost_to`.
    """

    domain: str
    kind: TermKind
    shown: str
    configured: str
    """The term or the regular expression as it stands in `file`."""
    file: str
    """Where a phrase counts for a domain because it holds one of its terms, it is that term's."""
    weight: float
    factor: float
    score: float
    is_asked: bool
    """Whether the question says it."""
    lost_to: str = ""


@dataclass(frozen=True, slots=True)
class DomainTotal:
    """The sum for one domain; zero and less are there too."""

    domain: str
    score: float


@dataclass(frozen=True, slots=True)
class DisputeExplanation:
    """What a dispute comes to and why."""

    detection: Detection
    bar: Bar
    missed: float
    """How much the best domain lacks to the bar; 0 when it is reached, or when there is none."""
    totals: tuple[DomainTotal, ...]
    terms: tuple[ExplainedTerm, ...]
    """Those of the best domain first, and within a domain the loudest."""
    safety: tuple[SafetyReason, ...]
    harmless: tuple[str, ...]
    """Phrases that only sound alarming, which were taken out."""
    help: tuple[HelpLine, ...]
    """What would be shown: that of the safety rules, then that of the domain, each once."""
    nations: tuple[str, ...]
    pages: tuple[ChosenPage, ...]
    """The pages that would be asked for, best first."""


def explain_dispute(
    known: Knowledge, indexed: IndexedPages, dispute: Dispute
) -> DisputeExplanation:
    """All that is decided about *dispute* before a model is asked; nothing is fetched."""
    evidence = weigh_evidence(known.detector, dispute)
    detection = evidence.detection
    written = [_Written.of(domain) for domain in known.catalog.domains]
    terms = [
        *_counted(known, written, evidence.found),
        *_hidden(known, written, dispute),
    ]
    totals = _totals(terms)
    order = [total.domain for total in totals]
    safety = explain_safety(known.safety, dispute)
    domain_help = known.catalog.domain_help(detection.domain)
    safety_help = [line for reason in safety.reasons for line in reason.help]
    nations = find_nations(dispute)
    lacks = evidence.bar.needed - evidence.scores[0].score if evidence.scores else 0.0
    return DisputeExplanation(
        detection=detection,
        bar=evidence.bar,
        missed=round(lacks, 2) if detection.domain == DEFAULT_DOMAIN else 0.0,
        totals=totals,
        terms=tuple(sorted(terms, key=lambda term: _place(term, order))),
        safety=safety.reasons,
        harmless=safety.harmless,
        help=merged_help((*safety_help, *domain_help)),
        nations=tuple(sorted(nations)),
        pages=choose_pages(indexed, dispute, detection.domain, nations),
    )


def _place(term: ExplainedTerm, order: Sequence[str]) -> tuple[bool, int, float]:
    return bool(term.lost_to), order.index(term.domain), -term.score


def _totals(terms: Sequence[ExplainedTerm]) -> tuple[DomainTotal, ...]:
    """The sum of *terms* for each domain, best first."""
    sums: dict[str, float] = {}
    for term in terms:
        sums[term.domain] = sums.get(term.domain, 0.0) + term.score
    ranked = sorted(sums.items(), key=lambda item: -item[1])
    return tuple(DomainTotal(domain, round(score, 2)) for domain, score in ranked)


def _counted(
    known: Knowledge,
    written: Sequence["_Written"],
    by_domain: Sequence[Mapping[str, DomainMatch]],
) -> Iterator[ExplainedTerm]:
    """What counted, once for each term and domain."""
    for domain, texts, found in zip(known.catalog.domains, written, by_domain):
        for key, match in found.items():
            configured, file = texts.find(key, match)
            yield ExplainedTerm(
                domain=domain.name,
                kind="term" if match.words else "pattern",
                shown=match.shown,
                configured=configured,
                file=file,
                weight=match.weight.weight,
                factor=round(match.factor, 3),
                score=match.weight.weight * match.factor,
                is_asked=match.is_asked,
            )


def _hidden(
    known: Knowledge, written: Sequence["_Written"], dispute: Dispute
) -> Iterator[ExplainedTerm]:
    """The terms that stood in the text inside or across a longer one, once for each domain."""
    names = [domain.name for domain in known.catalog.domains]
    seen: dict[tuple[str, int], None] = {}
    for text in (dispute.query, dispute.context):
        for term, winner in _losers(known.detector, text):
            for weight in term.weights:
                texts = written[weight.domain]
                configured, file = texts.find_term(term_words(term.shown))
                speaks = weight.domain in {other.domain for other in winner.weights}
                is_counted = speaks and texts.find_term(term_words(winner.shown))[0] == configured
                if is_counted or (term.shown, weight.domain) in seen:
                    continue
                seen[term.shown, weight.domain] = None
                yield ExplainedTerm(
                    names[weight.domain], "term", term.shown, configured, file, weight.weight,
                    factor=0.0, score=0.0, is_asked=text is dispute.query, lost_to=winner.shown,
                )  # fmt: skip


def _losers(
    detector: Detector, text: NormalisedText
) -> Iterator[tuple[DetectorTerm, DetectorTerm]]:
    """Each term in *text* that does not count, with the one that took its words."""
    found = set(longest_terms(detector, text))
    owners = {at: term for start, end, term in found for at in range(start, end)}
    for start, here in detector.terms.find(text.words):
        for length, term in reversed(here):
            taken = (owners[at] for at in range(start, start + length) if at in owners)
            if (start, start + length, term) not in found and (winner := next(taken, None)):
                yield term, winner


@dataclass(frozen=True, slots=True)
class _Written:
    """The terms and patterns of one domain as they stand in files, ours before the package's."""

    terms: dict[Words, tuple[str, str]]
    patterns: dict[str, str]

    @classmethod
    def of(cls, domain: DomainSpec) -> "_Written":
        ours, package = (domain.file, domain), (domain.vocabulary.file, domain.vocabulary)
        return cls(
            {
                term_words(text): (text, file)
                for file, of in (package, ours)
                for text, _ in of.terms
            },
            {item.regex: file for file, of in (package, ours) for item in of.patterns},
        )

    def find(self, key: str, match: DomainMatch) -> tuple[str, str]:
        """How what matched is written, and in which file."""
        if match.words:
            return self.find_term(match.words)
        return key, self.patterns.get(key, "")

    def find_term(self, words: Words) -> tuple[str, str]:
        """The term of these *words*, else the longest one in them, from which it was made."""
        sizes = range(len(words), 0, -1)
        parts = (words[at : at + size] for size in sizes for at in range(len(words) - size + 1))
        return next((self.terms[part] for part in parts if part in self.terms), ("", ""))
