"""Measures detection and the choice of pages on labelled disputes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from judge.judging.domains import detect_domain
from judge.judging.knowledge import Knowledge
from judge.library.dispute import read_dispute
from judge.library.nations import find_nations
from judge.library.pages.approved_pages import IndexedPages
from judge.library.rank.choose import choose_pages
from judge.types.requests import DEFAULT_DOMAIN

TOP_PAGES = 2
"""The pages among which `hit_at_2` looks for a labelled one."""


@dataclass(frozen=True, slots=True)
class LabelledDispute:
    """A dispute with its line in the file, its correct domain, and perhaps its relevant pages."""

    line: int
    context: str
    query: str
    domain: str
    pages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluatedDispute:
    """A labelled dispute with the domain it got and, if it has labelled pages, those offered."""

    labelled: LabelledDispute
    detected: str
    offered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DomainEvaluation:
    """The figures of one domain; None where there is nothing to divide by."""

    domain: str
    disputes: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class Confusion:
    """Disputes labelled as one domain and detected as another, with their lines."""

    labelled: str
    detected: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PageEvaluation:
    """How often labelled pages are found, over the `disputes` that have some."""

    disputes: int
    limit: int
    """The most pages that one dispute is offered."""
    hit_at_2: float
    """The share of disputes with a labelled page among the first TOP_PAGES."""
    recall: float
    """The share of a dispute's labelled pages that is offered, on average."""


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The figures of a whole file."""

    disputes: int
    accuracy: float
    macro_f1: float
    """The mean over the domains that were labelled or detected, without `default`."""
    domains: tuple[DomainEvaluation, ...]
    confusions: tuple[Confusion, ...]
    pages: PageEvaluation | None


def evaluate_dispute(
    knowledge: Knowledge, indexed: IndexedPages, labelled: LabelledDispute
) -> EvaluatedDispute:
    """The domain that *labelled* gets and, if it has labelled pages, the pages it is offered."""
    dispute = read_dispute(labelled.context, labelled.query)
    domain = detect_domain(knowledge.detector, dispute).domain
    if not labelled.pages:
        return EvaluatedDispute(labelled, domain)
    nations = find_nations(dispute)
    pages = choose_pages(indexed, dispute, domain, nations)
    return EvaluatedDispute(labelled, domain, tuple(page.request.source.url for page in pages))


def score_evaluation(evaluated: Sequence[EvaluatedDispute], limit: int) -> EvaluationReport:
    """The figures of *evaluated*, at least one dispute, each offered at most *limit* pages."""
    lines: dict[tuple[str, str], list[int]] = {}
    for dispute in evaluated:
        pair = (dispute.labelled.domain, dispute.detected)
        lines.setdefault(pair, []).append(dispute.labelled.line)
    pairs = Counter({pair: len(numbers) for pair, numbers in lines.items()})
    names = dict.fromkeys(name for pair in sorted(pairs) for name in pair)
    domains = tuple(_evaluated_domain(name, pairs) for name in names)
    f1s = [domain.f1 or 0.0 for domain in domains if domain.domain != DEFAULT_DOMAIN]
    return EvaluationReport(
        disputes=len(evaluated),
        accuracy=round(sum(n for (a, b), n in pairs.items() if a == b) / len(evaluated), 3),
        macro_f1=round(sum(f1s) / len(f1s), 3) if f1s else 0.0,
        domains=domains,
        confusions=tuple(
            Confusion(labelled, detected, tuple(lines[labelled, detected]))
            for (labelled, detected), _ in pairs.most_common()
            if labelled != detected
        ),
        pages=_evaluated_pages([item for item in evaluated if item.labelled.pages], limit),
    )


def _evaluated_domain(name: str, pairs: Counter[tuple[str, str]]) -> DomainEvaluation:
    right = pairs[name, name]
    labelled = sum(n for (label, _), n in pairs.items() if label == name)
    detected = sum(n for (_, detection), n in pairs.items() if detection == name)
    return DomainEvaluation(
        name,
        disputes=labelled,
        precision=_ratio(right, detected),
        recall=_ratio(right, labelled),
        f1=_ratio(2 * right, labelled + detected),
    )


def _evaluated_pages(evaluated: Sequence[EvaluatedDispute], limit: int) -> PageEvaluation | None:
    if not evaluated:
        return None
    hits = sum(bool({*e.offered[:TOP_PAGES]} & {*e.labelled.pages}) for e in evaluated)
    recalls = [
        len({*e.offered} & {*e.labelled.pages}) / len({*e.labelled.pages}) for e in evaluated
    ]
    return PageEvaluation(
        len(evaluated),
        limit,
        round(hits / len(evaluated), 3),
        round(sum(recalls) / len(evaluated), 3),
    )


def _ratio(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None
