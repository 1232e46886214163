"""How well are labelled disputes told apart and given their pages? In figures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from judge.judging.dispute import read_dispute
from judge.judging.domains import detect_domain
from judge.judging.knowledge import Knowledge
from judge.judging.nations import find_nations
from judge.judging.pages.choose import choose_pages
from judge.judging.pages.library import IndexedPages
from judge.types.requests import DEFAULT_DOMAIN

FIRST = 2
"""The pages of which one at least should bear on the dispute."""


@dataclass(frozen=True, slots=True)
class LabelledDispute:
    """A dispute, the domain it should get and the pages that bear on it; its line in a file."""

    line: int
    context: str
    query: str
    domain: str
    pages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluatedDispute:
    """What came of one: the domain it got, and for one with pages those that would be offered."""

    labelled: LabelledDispute
    detected: str
    offered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DomainEvaluation:
    """How a domain fared. A share is None where there was nothing to divide by."""

    domain: str
    disputes: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class Confusion:
    """Disputes of one domain that got another, and their lines."""

    labelled: str
    detected: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PageEvaluation:
    """How often the labelled pages are found, over the *disputes* that have some."""

    disputes: int
    limit: int
    """The pages offered to one dispute at most."""
    hit_at_2: float
    """The share of disputes with a labelled page among the first FIRST."""
    recall: float
    """The share of a dispute's labelled pages that is offered, on average."""


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The figures of a whole file."""

    disputes: int
    accuracy: float
    macro_f1: float
    """The mean over the domains that were labelled or detected, `default` aside."""
    domains: tuple[DomainEvaluation, ...]
    confusions: tuple[Confusion, ...]
    pages: PageEvaluation | None


def evaluate_dispute(
    known: Knowledge, indexed: IndexedPages, labelled: LabelledDispute
) -> EvaluatedDispute:
    """The domain and, where some are labelled, the pages that a dispute gets."""
    dispute = read_dispute(labelled.context, labelled.query)
    domain = detect_domain(known.detector, dispute).domain
    if not labelled.pages:
        return EvaluatedDispute(labelled, domain)
    nations = find_nations(dispute)
    pages = choose_pages(indexed, dispute, domain, nations)
    return EvaluatedDispute(labelled, domain, tuple(page.request.source.url for page in pages))


def score_evaluation(evaluated: Sequence[EvaluatedDispute], limit: int) -> EvaluationReport:
    """The figures of at least one dispute, where *limit* pages are offered at most."""
    lines: dict[tuple[str, str], list[int]] = {}
    for one in evaluated:
        lines.setdefault((one.labelled.domain, one.detected), []).append(one.labelled.line)
    pairs = Counter({pair: len(found) for pair, found in lines.items()})
    names = dict.fromkeys(name for pair in sorted(pairs) for name in pair)
    domains = tuple(_evaluated_domain(name, pairs) for name in names)
    f1s = [one.f1 or 0.0 for one in domains if one.domain != DEFAULT_DOMAIN]
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
        pages=_evaluated_pages([one for one in evaluated if one.labelled.pages], limit),
    )


def _evaluated_domain(name: str, pairs: Counter[tuple[str, str]]) -> DomainEvaluation:
    right = pairs[name, name]
    labelled = sum(n for (wanted, _), n in pairs.items() if wanted == name)
    detected = sum(n for (_, got), n in pairs.items() if got == name)
    return DomainEvaluation(
        name,
        labelled,
        _share(right, detected),
        _share(right, labelled),
        _share(2 * right, labelled + detected),
    )


def _evaluated_pages(evaluated: Sequence[EvaluatedDispute], limit: int) -> PageEvaluation | None:
    if not evaluated:
        return None
    hits = sum(bool({*one.offered[:FIRST]} & {*one.labelled.pages}) for one in evaluated)
    recalls = [
        len({*one.offered} & {*one.labelled.pages}) / len({*one.labelled.pages})
        for one in evaluated
    ]
    return PageEvaluation(
        len(evaluated),
        limit,
        round(hits / len(evaluated), 3),
        round(sum(recalls) / len(evaluated), 3),
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None
