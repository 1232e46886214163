"""Explains, as data, why a dispute gets its domain, its help lines and its pages.

Every term that counts is listed, also one with a weight of zero or below.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge.judging.care import SafetyReason, care_lines, find_safety, merged_help
from judge.judging.domains import DomainMatch, ScoreThreshold, weigh_evidence
from judge.judging.results import Knowledge
from judge.library.country import find_regions
from judge.library.dispute import Dispute
from judge.library.pages.approved_pages import IndexedPages
from judge.library.rank.candidates import ChosenPage, choose_pages
from judge.types.requests import DEFAULT_DOMAIN, Detection
from judge.types.results import HelpLine


@dataclass(frozen=True, slots=True)
class DisputeExplanation:
    """What is decided about a dispute, and why; most fields are keys of the JSON output."""

    detection: Detection
    threshold: ScoreThreshold
    missed: float
    """How far the best domain is below the threshold; 0 when it reaches it or none scored."""
    totals: Sequence[Mapping[str, str | float]]
    """The `domain` and the `score` of each with a match, which may be zero or negative."""
    terms: tuple[DomainMatch, ...]
    """By domain, the best first, then by score."""
    safety: tuple[SafetyReason, ...]
    harmless: tuple[str, ...]
    """Phrases that only sound alarming, which were removed."""
    help: tuple[HelpLine, ...]
    """The help lines shown: of the safety rules, then of the domain, without repeats."""
    nations: tuple[str, ...]
    pages: tuple[ChosenPage, ...]
    """The pages that would be requested, best first."""


def explain_dispute(
    knowledge: Knowledge, indexed: IndexedPages, dispute: Dispute
) -> DisputeExplanation:
    """All that is decided about *dispute* before the model is asked; fetches nothing."""
    evidence = weigh_evidence(knowledge.detector, dispute)
    detection, scores = evidence.detection, evidence.detection.scores
    sums: dict[str, float] = defaultdict(float)
    for match in evidence.matches:
        sums[match.domain] += match.score
    ranking = sorted(sums, key=lambda domain: -sums[domain])
    safety = find_safety(knowledge.safety, dispute)
    domain_help = knowledge.catalog.domain_help(detection.domain)
    country = knowledge.catalog.country
    nations = find_regions(country, dispute)
    missed = detection.needed - scores[0].score if scores else 0.0
    return DisputeExplanation(
        detection=detection,
        threshold=evidence.threshold,
        missed=round(missed, 2) if detection.domain == DEFAULT_DOMAIN else 0.0,
        totals=[{"domain": name, "score": round(sums[name], 2)} for name in ranking],
        terms=tuple(sorted(evidence.matches, key=lambda m: (ranking.index(m.domain), -m.score))),
        safety=safety.reasons,
        harmless=safety.harmless,
        help=merged_help((*care_lines(knowledge.safety, safety), *domain_help)),
        nations=tuple(sorted(nations)),
        pages=choose_pages(indexed, dispute, detection.domain, country.regions_of_law(nations)),
    )
