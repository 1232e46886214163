"""How good detection, extraction, the choice of pages and support are, with 95 % intervals.

    python -m benchmarks.quality [--shared ../shared] [--write]

`--write` puts the figures into docs/quality.md. The posts and pages behind detection and
extraction are no part of this repository: without them those figures stay as they are.
"""

import argparse
import json
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import relevance
from judge.citations.support import support
from judge.golden.rates import wilson
from judge.text.english import source_sentences

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "quality.md"
CLAIMS = ROOT / "benchmarks" / "support_claims.jsonl"
OPPOSITES = ROOT / "benchmarks" / "opposites.jsonl"
PARAPHRASES = ROOT / "benchmarks" / "paraphrases.txt"
ROUNDS = 1000
THRESHOLD = 0.5
CARRIED = "carried"


def rate(hits: int, of: int) -> str:
    """A share with its 95 % interval."""
    spread = wilson(hits, of)
    return f"{hits / of:.1%} ({spread.low:.1%} to {spread.high:.1%})"


def support_figures() -> list[str]:
    """How well support scores separate supported claims from others."""
    rows = [json.loads(line) for line in CLAIMS.read_text(encoding="utf-8").splitlines()]
    by_kind: dict[str, list[float]] = {}
    for row in rows:
        by_kind.setdefault(row["kind"], []).append(_support(row["claim"], row["reference"]))
    carried = by_kind[CARRIED]
    lines = ["| claims | of | median | told right at 0.5 (95 %) | ranked right (95 %) |"]
    lines.append("|---|--:|--:|---|---|")
    for kind, shares in by_kind.items():
        right = sum((share >= THRESHOLD) == (kind == CARRIED) for share in shares)
        low, high = bootstrap(carried, shares, area)
        ranked = "" if kind == CARRIED else f"{area(carried, shares):.2f} ({low:.2f} to {high:.2f})"
        lines.append(
            f"| {kind} | {len(shares)} | {statistics.median(shares):.2f} | "
            f"{rate(right, len(shares))} | {ranked} |"
        )
    return lines


def opposite_figures() -> list[str]:
    """How often opposites and faithful paraphrases are flagged as contradictions."""
    pairs = PARAPHRASES.read_text(encoding="utf-8").strip().split("\n\n")[1:]
    true = [tuple(pair.split("\n")) for pair in pairs]
    opposites = [(row["source"], row["opposite"]) for row in _rows(OPPOSITES)]
    lines = ["| sentences | of | flagged (95 %) |", "|---|--:|---|"]
    for name, compared in (("faithful paraphrases", true), ("opposites", opposites)):
        flagged = sum(support(claim, [source]).contradicts for source, claim in compared)
        lines.append(f"| {name} | {len(compared)} | {rate(flagged, len(compared))} |")
    return lines


def _support(claim: str, reference: str) -> float:
    """The support that a reader is shown for *claim*, cited to the whole *reference*."""
    share = support(claim, source_sentences(reference)).score
    if share is None:
        raise ValueError(claim)
    return share


def area(yes: Sequence[float], no: Sequence[float]) -> float:
    """The chance that one of *yes* is above one of *no*; ties count half."""
    return statistics.mean((a > b) + (a == b) / 2 for a in yes for b in no)


def bootstrap(
    yes: Sequence[float],
    no: Sequence[float],
    figure: Callable[[Sequence[float], Sequence[float]], float],
) -> tuple[float, float]:
    """The 95 % bootstrap interval of *figure*, resampling both groups."""
    rng = random.Random(0)
    drawn = sorted(
        figure(rng.choices(yes, k=len(yes)), rng.choices(no, k=len(no))) for _ in range(ROUNDS)
    )
    return drawn[int(ROUNDS * 0.025)], drawn[int(ROUNDS * 0.975) - 1]


def detection_figures(shared: Path) -> list[str]:
    """The scores of domain detection on held-out posts; empty without the posts."""
    from benchmarks import detection

    path = shared / "eval" / "domains" / "train.jsonl"
    if not path.exists():
        return []
    posts = detection.read_posts(path, held_out=True)
    lines = ["| labels | posts | who | macro-F1 (95 %) | precision | recall |"]
    lines.append("|--:|--:|---|---|--:|--:|")
    for domains in (detection.THREE, detection.FIVE):
        for name, answer in (("Judge", detection.detect), ("naive", detection.detect_naively)):
            pairs = detection.judge_posts(posts, answer, domains)
            low, high = detection.interval(pairs)
            precision, recall = detection.injection(pairs)
            lines.append(
                f"| {len(domains) + 1} | {len(posts)} | {name} | {detection.macro_f1(pairs):.3f} "
                f"({low:.3f} to {high:.3f}) | {precision:.3f} | {recall:.3f} |"
            )
    return lines


def extraction_figures(shared: Path) -> list[str]:
    """How often the first real paragraph is found; empty without the pages."""
    from benchmarks import extraction

    folder = shared / "eval" / "first_paragraph"
    if not folder.is_dir():
        return []
    scorer = extraction.load_scorer(folder)
    lines = ["| pages | of | right paragraph (95 %) | text that is no content (95 %) |"]
    lines.append("|---|--:|---|---|")
    for corpus, title in (("pages", "of all kinds"), ("uk", "of British guidance")):
        rows: list[dict] = []
        loaded = extraction.load_pages(scorer, folder / corpus)
        scorer.run({"judge": extraction.lead}, loaded, "bytes", rows)
        hits = sum(bool(row["hit"]) for row in rows)
        wrong = len(rows) - sum(bool(row["body"]) + bool(row["none"]) for row in rows)
        lines.append(f"| {title} | {len(rows)} | {rate(hits, len(rows))} | "
                     f"{rate(wrong, len(rows))} |")  # fmt: skip
    return lines


def relevance_figures(shared: Path) -> tuple[list[str], list[str]]:
    """How well pages and passages are chosen; two empty tables without the disputes."""
    folder = shared / "eval" / "relevance"
    if not folder.is_dir():
        return [], []
    data = relevance.Labelled(folder)
    return relevance.relevance_lines(data), relevance.coverage_lines(data)


def labelled_support_figures(shared: Path) -> list[str]:
    """How well support scores identify supported claims of Wikipedia; empty without them."""
    path = shared / "eval" / "support" / "claims.jsonl"
    if not path.is_file():
        return []
    carried: list[float] = []
    others: list[float] = []
    for row in _rows(path):
        best = max(support(row["claim"], source).score or 0.0 for source in row["sources"])
        (carried if row["label"] == "supported" else others).append(best)
    low, high = bootstrap(carried, others, area)
    count, ranked = len(carried) + len(others), area(carried, others)
    return [
        "| claims of Wikipedia | of | ranked right (95 %) |",
        "|---|--:|---|",
        f"| carried above all others | {count} | {ranked:.3f} ({low:.3f} to {high:.3f}) |",
    ]


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def with_figures(page: str, name: str, lines: Sequence[str]) -> str:
    """*page* with *lines* between the marks of *name*."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, _, rest = page.partition(begin)
    _, mark, after = rest.partition(end)
    if not mark:
        raise ValueError(f"{PAGE} has no place for {name}.")
    text = "\n".join(lines)
    return f"{before}{begin}{text}\n{end}{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print every figure, and write them into the page on request."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    options.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    options.add_argument("--write", action="store_true", help="put them into docs/quality.md")
    chosen = options.parse_args(arguments)
    relevant, covered = relevance_figures(chosen.shared)
    figures = {
        "detection": detection_figures(chosen.shared),
        "extraction": extraction_figures(chosen.shared),
        "relevance": relevant,
        "coverage": covered,
        "support": support_figures(),
        "opposites": opposite_figures(),
        "labelled support": labelled_support_figures(chosen.shared),
    }
    page = PAGE.read_text(encoding="utf-8") if chosen.write else ""
    for name, lines in figures.items():
        told = "\n".join(lines) or "Skipped: its data is not here; name its place with --shared."
        print(f"\n## {name}\n\n{told}")
        if chosen.write and lines:
            page = with_figures(page, name, lines)
    if chosen.write:
        PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
