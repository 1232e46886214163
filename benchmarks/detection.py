"""How well and how fast domains are detected, compared with naive keyword matching.

    python benchmarks/detection.py [--shared ../shared]

The disputes in `tests/fixtures/disputes.toml` are made up, with many near misses, and the weights
of words were tuned with them. The posts are real ones from public forums and not part of this
repository; without them the benchmark says so and ends. A fifth of them, by a hash of their ids,
was held out before the words in `judge/vocabulary` were weighted: only that part is a fair
measure. The scorer beside the posts can use `detect` too:
`--detector benchmarks.detection:detect`.
"""

import argparse
import functools
import hashlib
import json
import random
import statistics
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

from judge.bootstrap.sources import compile_knowledge
from judge.judging.domains import Detector, detect_domain
from judge.library.dispute import read_dispute

ROOT = Path(__file__).resolve().parent.parent
THREE = ("parenting", "tenancy", "workplace")
FIVE = (*THREE, "consumer", "health")

NAIVE = {
    "parenting": ["child", "kid", "baby", "son", "daughter", "parent", "school"],
    "tenancy": ["landlord", "tenant", "rent", "lease", "deposit", "flat", "evict"],
    "workplace": ["work", "job", "boss", "manager", "colleague", "hr", "employer"],
    "consumer": ["refund", "shop", "bought", "order", "bill", "bank", "warranty"],
    "health": ["doctor", "hospital", "health", "ill", "therapy", "pain"],
}

Post = tuple[str, str, tuple[str, ...]]
Detect = Callable[[str, str], str]


@functools.cache
def _detector() -> Detector:
    return compile_knowledge(
        (ROOT / "config" / "sources.toml").read_text(encoding="utf-8")
    ).detector


def detect(context: str, query: str) -> str:
    """The domain that Judge detects."""
    return detect_domain(_detector(), read_dispute(context, query)).domain


def detect_naively(context: str, query: str) -> str:
    """The baseline: the domain with the most keywords anywhere in the text."""
    text = f"{query} {context}".lower()
    counts = {name: sum(word in text for word in words) for name, words in NAIVE.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else "default"


def is_held_out(post_id: str) -> bool:
    """Whether a post belongs to the held-out fifth."""
    return int(hashlib.sha256(post_id.encode()).hexdigest(), 16) % 5 == 0


def read_posts(path: Path, *, held_out: bool) -> list[Post]:
    """Context, query and acceptable labels, the primary one first."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        (row["context"], row["query"], tuple(labels if isinstance(labels, list) else [labels]))
        for row in rows
        for labels in [row["label"]]
        if is_held_out(row["id"]) == held_out
    ]


def read_disputes(path: Path) -> list[Post]:
    """The made-up disputes, each with its label."""
    by_label = tomllib.loads(path.read_text(encoding="utf-8"))
    return [(story, query, (label,)) for label in by_label for query, story in by_label[label]]


def judge_posts(
    posts: Sequence[Post], answer: Detect, domains: Sequence[str]
) -> list[tuple[str, str]]:
    """The true and the detected label of each post; labels not in *domains* count as default."""
    pairs = []
    for context, query, labels in posts:
        given = answer(context, query)
        given = given if given in domains else "default"
        right = [label if label in domains else "default" for label in labels]
        pairs.append((given if given in right else right[0], given))
    return pairs


def macro_f1(pairs: Sequence[tuple[str, str]]) -> float:
    """The mean F1 of the labels that occur."""
    scores = []
    for label in sorted({right for right, _ in pairs}):
        hits = sum(right == given == label for right, given in pairs)
        named = sum(right == label for right, _ in pairs) + sum(g == label for _, g in pairs)
        scores.append(2 * hits / named)
    return statistics.mean(scores)


def interval(pairs: Sequence[tuple[str, str]], rounds: int = 500) -> tuple[float, float]:
    """The 95 % bootstrap interval of the macro-F1."""
    rng = random.Random(0)
    scores = sorted(macro_f1(rng.choices(pairs, k=len(pairs))) for _ in range(rounds))
    return scores[int(rounds * 0.025)], scores[int(rounds * 0.975) - 1]


def injection(pairs: Sequence[tuple[str, str]]) -> tuple[float, float]:
    """Precision and recall without the default domain: would the right pages be quoted?"""
    right = sum(right == given != "default" for right, given in pairs)
    answered = sum(given != "default" for _, given in pairs)
    wanted = sum(label != "default" for label, _ in pairs)
    return right / max(1, answered), right / max(1, wanted)


def times_us(posts: Sequence[Post], answer: Detect) -> list[float]:
    """Microseconds of each call, sorted; the best of three, since the machine is shared."""
    best = []
    for context, query, _ in posts:
        rounds = []
        for _ in range(3):
            start = time.perf_counter()
            answer(context, query)
            rounds.append((time.perf_counter() - start) * 1e6)
        best.append(min(rounds))
    return sorted(best)


def cpu_us(posts: Sequence[Post], answer: Detect) -> float:
    """Microseconds of CPU time a call takes on average; the best of five rounds."""
    rounds = []
    for _ in range(5):
        start = time.process_time()
        for context, query, _ in posts:
            answer(context, query)
        rounds.append((time.process_time() - start) / len(posts) * 1e6)
    return min(rounds)


def report(posts: Sequence[Post], part: str) -> None:
    """Print the scores of both on one part of the posts."""
    print(f"\n{part}: {len(posts)} posts")
    print(f"{'':8} {'labels':>6} {'macro-F1':>9} {'95 %':>13} {'precision':>10} {'recall':>7}")
    for domains in (THREE, FIVE):
        for name, answer in (("naive", detect_naively), ("judge", detect)):
            pairs = judge_posts(posts, answer, domains)
            low, high = interval(pairs)
            precision, recall = injection(pairs)
            print(
                f"{name:8} {len(domains) + 1:6} {macro_f1(pairs):9.3f} {low:6.3f}-{high:.3f} "
                f"{precision:10.3f} {recall:7.3f}"
            )


def main() -> int:
    """Print quality and time; without the posts, say so."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    options.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    report(read_disputes(ROOT / "tests" / "fixtures" / "disputes.toml"), "made up")
    path = options.parse_args().shared / "eval" / "domains" / "train.jsonl"
    if not path.exists():
        print(f"Skipped: there are no posts at {path}; name their place with --shared.")
        return 0
    held_out, tuned = read_posts(path, held_out=True), read_posts(path, held_out=False)
    report(held_out, "held out")
    report(tuned, "tuned on")
    ours, naive = times_us(tuned, detect), times_us(tuned, detect_naively)
    mean, p99 = statistics.mean(ours), ours[int(len(ours) * 0.99)]
    print(
        f"\nmicroseconds a call: mean {mean:.0f}, p99 {p99:.0f}; "
        f"naive mean {statistics.mean(naive):.0f}; ratio {mean / statistics.mean(naive):.1f}; "
        f"CPU {cpu_us(tuned, detect):.0f}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
