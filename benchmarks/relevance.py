"""How well a dispute finds relevant pages and the passages to quote, in labelled disputes.

    python -m benchmarks.relevance [--shared ../shared]

prints the tables of docs/quality.md. The scorer beside the disputes calls `build`:

    python ../shared/eval/relevance/score.py --ranker benchmarks.relevance:build

The weights are chosen on a random half of the disputes and scored on the other, ten times, so that
the gap shows how much of a figure is owed to the disputes it was fitted to.
"""

import argparse
import functools
import json
import random
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import log2
from pathlib import Path
from unittest.mock import patch

from judge.bootstrap.sources import compile_knowledge
from judge.judging.domains import Detector, detect_domain
from judge.library.dispute import read_dispute
from judge.library.rank import candidates
from judge.library.rank.candidate_index import CandidatePage, compile_candidates, count_terms
from judge.library.rank.candidates import Candidate, rank_candidates, reference_text
from judge.vocabulary.thesaurus import load_thesaurus

ROOT = Path(__file__).resolve().parent.parent
READ = 8000
"""Characters of a page that are used to detect its domain."""

SETS = ("train", "second")
"""Disputes that weights and thesaurus entries were chosen with, and disputes that they were not."""

ROUNDS = 10
WEIGHTS = [
    {"QUERY_FACTOR": query, "VECTOR_FACTOR": vector, "SAME_DOMAIN_FACTOR": domain}
    for query, vector, domain in product((2.0, 2.5, 3.0), (35.0, 50.0, 65.0), (1.2, 1.35, 1.5))
]
"""The weights among which those of one half are chosen."""

LEAD_WORDS = WORDS = 80
TOKENS_PER_WORD = 4 / 3
KEY_WORDS = 8
"""A paragraph stands in a reference when its first words do."""

Ranker = Callable[[str, str], list[tuple[str, int, float]]]
Find = Callable[[str, str], tuple[Candidate, ...]]


def build(pages: Sequence[Mapping]) -> Ranker:
    """A ranker over *pages*, as the scorer calls it."""
    find = finder(pages)

    def rank(query: str, context: str) -> list[tuple[str, int, float]]:
        found = find(query, context)
        return [(one.page.url, (*one.passages, -1)[0], one.score) for one in found]

    return rank


def finder(pages: Sequence[Mapping]) -> Find:
    """Finds the candidates among *pages*, whose domains are detected: none is configured."""
    detector = compile_knowledge(
        (ROOT / "config" / "sources.toml").read_text(encoding="utf-8")
    ).detector
    counted = [count_terms(_page(detector, page)) for page in pages]
    index = compile_candidates(counted, load_thesaurus())

    def find(query: str, context: str) -> tuple[Candidate, ...]:
        dispute = read_dispute(context, query)
        return rank_candidates(index, dispute, detect_domain(detector, dispute).domain)

    return find


def _page(detector: Detector, page: Mapping) -> CandidatePage:
    """A page of the shared data, by its number."""
    text = " ".join(page["paragraphs"])[:READ]
    return CandidatePage(
        url=page["id"],
        title=page["title"],
        lead=" ".join([page["description"] or "", *page["paragraphs"][:1]]),
        passages=tuple(zip(page["headings"], page["paragraphs"], strict=True)),
        domain=detect_domain(detector, read_dispute(text, page["title"])).domain,
    )


@dataclass(frozen=True)
class Labelled:
    """The labelled disputes and pages of *folder*."""

    folder: Path

    @functools.cached_property
    def pages(self) -> list[dict]:
        return _rows(self.folder / "pages.jsonl")

    @functools.cached_property
    def disputes(self) -> dict[str, list[dict]]:
        return {name: _rows(self.folder / f"{name}.jsonl") for name in SETS}

    @functools.cached_property
    def find(self) -> Find:
        return finder(self.pages)


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True)
class Outcome:
    """What one dispute got: the grades of the pages offered, and the best score."""

    fits: bool
    has_useful: bool
    grades: list[int]
    ideal: list[int]
    named: list[bool]
    """For each labelled paragraph of an offered page: is it named, or its neighbour?"""
    best: float


def outcome(row: Mapping, found: Sequence[Candidate]) -> Outcome:
    """How *found* compares with the labels of one dispute."""
    relevant, best = row["relevant"], row["best_paragraph"]
    return Outcome(
        fits=not row["none"],
        has_useful=2 in relevant.values(),
        grades=[relevant.get(one.page.url, 0) for one in found],
        ideal=sorted(relevant.values(), reverse=True),
        named=[
            abs(one.passages[0] - best[one.page.url]) <= 1
            for one in found
            if one.passages and one.page.url in best
        ],
        best=found[0].score if found else 0.0,
    )


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The figures of the scorer, and the share of disputes that are rightly offered nothing."""
    fitting = [one for one in outcomes if one.fits]
    others = [one for one in outcomes if not one.fits]
    ranked = [(a.best > b.best) + (a.best == b.best) / 2 for a in fitting for b in others]
    return {
        "a fitting page among the first two": _mean(any(one.grades[:2]) for one in fitting),
        "… among eight": _mean(any(one.grades) for one in fitting),
        "a page worth citing among eight": _mean(2 in o.grades for o in fitting if o.has_useful),
        "nDCG@5": _mean(_gain(one.grades) / _gain(one.ideal) for one in fitting),
        "best paragraph named (± 1)": _mean(hit for one in fitting for hit in one.named),
        "told apart: no page fits (AUC)": _mean(ranked),
        "offered nothing where nothing fits": _mean(not one.best for one in others),
        "offered nothing where a page fits": _mean(not one.best for one in fitting),
    }


def _mean(values: Iterator[float] | Sequence[float]) -> float:
    return statistics.fmean(values)


def _gain(grades: Sequence[int]) -> float:
    return sum((2**grade - 1) / log2(place + 2) for place, grade in enumerate(grades[:5]))


def relevance_lines(data: Labelled) -> list[str]:
    """A table of the figures on both sets, on fitted and other halves, and of the gap."""
    by_weights = []
    for weights in WEIGHTS:
        with patch.multiple(candidates, **weights):
            by_weights.append({name: _outcomes(data, name) for name in SETS})
    usual = usual_figures(data)
    fitted, other = _cross_validated([[*sets["train"], *sets["second"]] for sets in by_weights])
    columns = ("", "chosen with", "not seen", "fitted half", "other half", "gap")
    lines = [f"| {' | '.join(columns)} |", f"|---|{'--:|' * 5}"]
    for name in fitted:
        cells = [usual[one][name] for one in SETS] + [fitted[name], other[name]]
        values = " | ".join(f"{value:.3f}" for value in cells)
        lines.append(f"| {name} | {values} | {fitted[name] - other[name]:+.3f} |")
    return lines


def usual_figures(data: Labelled) -> dict[str, dict[str, float]]:
    """The figures on each set with the weights of the server."""
    return {name: figures(_outcomes(data, name)) for name in SETS}


def _outcomes(data: Labelled, name: str) -> list[Outcome]:
    return [outcome(row, data.find(row["query"], row["context"])) for row in data.disputes[name]]


def _cross_validated(
    by_weights: Sequence[Sequence[Outcome]],
) -> tuple[dict[str, float], dict[str, float]]:
    """The mean figures on the halves that weights were chosen on, and on the other halves."""
    rng = random.Random(0)
    fitted, others = [], []
    numbers = list(range(len(by_weights[0])))
    for _ in range(ROUNDS):
        rng.shuffle(numbers)
        halves = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
        for half, rest in (halves, halves[::-1]):
            scored = [figures([outcomes[at] for at in half]) for outcomes in by_weights]
            best = max(range(len(scored)), key=lambda at: sum([*scored[at].values()][:4]))
            fitted.append(scored[best])
            others.append(figures([by_weights[best][at] for at in rest]))
    return _averaged(fitted), _averaged(others)


def _averaged(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: _mean([part[name] for part in parts]) for name in parts[0]}


def coverage_lines(data: Labelled, most: int = 6) -> list[str]:
    """A table and a chart: how often the best paragraph stands in a reference of so many tokens."""
    found = [
        (set_name, row, one)
        for set_name in SETS
        for row in data.disputes[set_name]
        for one in data.find(row["query"], row["context"])
    ]
    texts = {page["id"]: page["paragraphs"] for page in data.pages}
    tokens, shares = [], []
    lines = ["| passages | tokens | in it: chosen with | not seen |", "|--:|--:|--:|--:|"]
    for passages in range(1, most + 1):
        sizes: list[float] = []
        hits: dict[str, list[bool]] = {name: [] for name in SETS}
        for set_name, row, one in found:
            paragraphs = texts[one.page.url]
            lead = " ".join(paragraphs[0].split()[:LEAD_WORDS])
            text = reference_text(lead, one, passages, WORDS)
            sizes.append(TOKENS_PER_WORD * len(text.split()))
            if (best := row["best_paragraph"].get(one.page.url)) is not None:
                hits[set_name].append(" ".join(paragraphs[best].split()[:KEY_WORDS]) in text)
        cells = " | ".join(f"{_mean(hits[name]):.0%}" for name in SETS)
        tokens.append(round(_mean(sizes)))
        shares.append(100 * _mean(hits["second"]))
        lines.append(f"| {passages} | {tokens[-1]} | {cells} |")
    return [*lines, "", *_chart(tokens, shares)]


def _chart(tokens: Sequence[int], shares: Sequence[float]) -> list[str]:
    return [
        "```mermaid",
        "xychart-beta",
        f'  x-axis "tokens of a reference" {list(tokens)}',
        '  y-axis "best paragraph stands in it, %" 0 --> 80',
        f"  line [{', '.join(f'{share:.0f}' for share in shares)}]",
        "```",
    ]


def main() -> int:
    """Print the tables; without the disputes, say so."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    options.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    folder = options.parse_args().shared / "eval" / "relevance"
    if not folder.is_dir():
        print(f"Skipped: there are no disputes in {folder}; name their place with --shared.")
        return 0
    data = Labelled(folder)
    print("\n".join([*relevance_lines(data), "", *coverage_lines(data)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
