"""How good detection, extraction, quotes and support are, with 95 % intervals.

    python -m benchmarks.quality [--shared ../shared] [--write]

`--write` puts the figures into docs/quality.md. The posts and pages behind detection and
extraction are no part of this repository: without them those figures stay as they are.
"""

import argparse
import json
import random
import re
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from judge.citations.quotes import check_quote
from selectolax.lexbor import LexborHTMLParser

from judge.golden.scores import wilson
from judge.judging.prompts.personas import DEFAULT_PERSONAS
from judge.judging.verdicts.check import check_reply
from judge.text.english import fold_space, sentences, words
from judge.types.judgements import ModelReply, Reference

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "quality.md"
CLAIMS = ROOT / "benchmarks" / "support_claims.jsonl"
WHEN = datetime(2026, 1, 15, tzinfo=UTC)
ROUNDS = 1000
THRESHOLD = 0.5
CARRIED = "carried"
SHORTEST = 8
"""Words of a sentence that quotes are made of."""


@dataclass(frozen=True)
class Quote:
    """A quote, the text it is said to come from, and what may be made of it."""

    kind: str
    words: str
    reference: str
    may_be: frozenset[str]


FOUND = frozenset({"verified"})
MENDED = frozenset({"repaired"})
REFUSED = frozenset({"unverified"})

MODALS = {"must": "may", "should": "must", "can": "must", "cannot": "can", "may": "must"}
NUMBER = re.compile(r"\b\d+\b|\b(?:one|two|three|four|five|six|seven|eleven)\b", re.IGNORECASE)
NEGATION = re.compile(r"(?<=\bcan)not\b|\bnot\b")
GUARDED = frozenset("cannot should unless without either".split())
"""A slip in one of these changes the meaning, so that refusing the quote is right."""


def pages() -> dict[str, list[str]]:
    """The sentences of our own example pages, by file."""
    found = {}
    for path in sorted((ROOT / "judge" / "demo" / "pages").glob("*.html")):
        tree = LexborHTMLParser(path.read_text(encoding="utf-8"))
        texts = [fold_space(node.text()) for node in tree.css("main p, main li")]
        found[path.name] = [
            text[span.start : span.end]
            for text in texts
            for span in sentences(text)
            if len(words(text[span.start : span.end])) >= SHORTEST
        ]
    return found


def quotes() -> list[Quote]:
    """Every sentence, quoted well and badly in each way that applies to it."""
    by_page, rng = pages(), random.Random(0)
    everything = [one for page in by_page.values() for one in page]
    made = []
    for page in by_page.values():
        reference = " ".join(page)
        for sentence in page:
            made += _faithful(sentence, reference, rng)
            made += _unfaithful(sentence, reference, everything, rng)
    return made


def _faithful(sentence: str, reference: str, rng: random.Random) -> Iterator[Quote]:
    tokens = sentence.split()
    start = rng.randrange(len(tokens) - 5)
    part = " ".join(tokens[start : start + rng.randint(5, len(tokens) - start)])
    yield Quote("copied exactly", part, reference, FOUND)
    typeset = part.replace("'", "’").replace("-", "–").replace(" ", "  ")
    yield Quote("other quotation marks, dashes, spaces", f"“{typeset}…”", reference, FOUND)
    long = [
        at
        for at, token in enumerate(tokens)
        if token.isalpha() and len(token) > 5 and token not in GUARDED
    ]
    if long and len(tokens) >= 10:
        at = rng.choice(long)
        slip = tokens[at][:3] + tokens[at][4:]
        yield Quote("one letter lost", _with(tokens, at, slip), reference, MENDED)
    if "the" in tokens and len(tokens) >= 12:
        yield Quote("a for the", _with(tokens, tokens.index("the"), "a"), reference, MENDED)


def _unfaithful(
    sentence: str, reference: str, everything: Sequence[str], rng: random.Random
) -> Iterator[Quote]:
    tokens = sentence.split()
    middle = len(tokens) // 2
    put_in = " ".join([*tokens[:middle], "not", *tokens[middle:]])
    yield Quote("a not put in", put_in, reference, REFUSED)
    if NEGATION.search(sentence):
        without = fold_space(NEGATION.sub("", sentence, count=1))
        yield Quote("a not left out", without, reference, REFUSED)
    if number := NUMBER.search(sentence):
        other = str(int(number.group()) + 1) if number.group().isdigit() else "nine"
        changed = sentence[: number.start()] + other + sentence[number.end() :]
        yield Quote("another number", changed, reference, REFUSED)
    for at, token in enumerate(tokens):
        if token in MODALS:
            changed = _with(tokens, at, MODALS[token])
            yield Quote("must for may, can for cannot, …", changed, reference, REFUSED)
            break
    foreign = [one for one in everything if one not in reference]
    other = rng.choice(foreign)
    yield Quote("from another page", other, reference, REFUSED)
    stitched = " ".join([*tokens[:middle], *other.split()[len(other.split()) // 2 :]])
    yield Quote("stitched from two pages", stitched, reference, REFUSED)
    shuffled = rng.sample(tokens, len(tokens))
    yield Quote("its words in another order", " ".join(shuffled), reference, REFUSED)


def _with(tokens: Sequence[str], at: int, word: str) -> str:
    return " ".join([*tokens[:at], word, *tokens[at + 1 :]])


def rate(hits: int, of: int) -> str:
    """A share with its 95 % interval."""
    spread = wilson(hits, of)
    return f"{hits / of:.1%} ({spread.low:.1%} to {spread.high:.1%})"


def quote_figures() -> list[str]:
    """How often each kind of quote gets the status that it should."""
    by_kind: dict[str, list[bool]] = {}
    kept = shown = 0
    wanted = {}
    for quote in quotes():
        wanted[quote.kind] = next(iter(quote.may_be))
        status = check_quote(quote.words, quote.reference).status
        by_kind.setdefault(quote.kind, []).append(status in quote.may_be)
        if quote.may_be == REFUSED:
            kept += status != "unverified"
            shown += 1
    lines = ["| quotes that are | should be | of | are (95 %) |", "|---|---|--:|---|"]
    lines += [
        f"| {kind} | {wanted[kind]} | {len(right)} | {rate(sum(right), len(right))} |"
        for kind, right in by_kind.items()
    ]
    return [*lines, "", f"Unfaithful quotes that pass as found: {rate(kept, shown)} of {shown}."]


def support_figures() -> list[str]:
    """How well the share of words tells carried claims from others."""
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


def _support(claim: str, reference: str) -> float:
    """The support that a reader is shown for *claim*, cited to *reference*."""
    said = {"verdict": "No", "rationale": "You asked.", "key_points": ["a", "b", "c"]}
    reply = {
        "paraphrase": "You ask.",
        "personas": [{"name": persona.name, **said} for persona in DEFAULT_PERSONAS],
        "summary": f"{claim.rstrip('.')} [1].",
    }
    page = Reference(1, "page", "https://a.example/", "", reference, WHEN, stale=False)
    checked = check_reply(
        ModelReply(json.dumps(reply), "m"), personas=DEFAULT_PERSONAS, references=[page]
    ).reply
    share = checked.citations[0].support if checked else None
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
    """The 95 % interval of *figure*, by drawing both groups anew."""
    rng = random.Random(0)
    drawn = sorted(
        figure(rng.choices(yes, k=len(yes)), rng.choices(no, k=len(no))) for _ in range(ROUNDS)
    )
    return drawn[int(ROUNDS * 0.025)], drawn[int(ROUNDS * 0.975) - 1]


def detection_figures(shared: Path) -> list[str]:
    """The scores of the domain on posts that were never looked at; empty without the posts."""
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
    from judge.judging.pages.extract import first_paragraph

    folder = shared / "eval" / "first_paragraph"
    if not folder.is_dir():
        return []
    scorer = extraction.load_scorer(folder)
    lines = ["| pages | of | right paragraph (95 %) | text that is no content (95 %) |"]
    lines.append("|---|--:|---|---|")
    for corpus, title in (("pages", "of all kinds"), ("uk", "of British guidance")):
        rows: list[dict] = []
        loaded = extraction.load_pages(scorer, folder / corpus)
        scorer.run({"judge": first_paragraph}, loaded, "str", rows)
        hits = sum(bool(row["hit"]) for row in rows)
        wrong = len(rows) - sum(bool(row["body"]) + bool(row["none"]) for row in rows)
        lines.append(f"| {title} | {len(rows)} | {rate(hits, len(rows))} | "
                     f"{rate(wrong, len(rows))} |")  # fmt: skip
    return lines


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
    """Print every figure, and write them into the page if that is asked for."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    options.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    options.add_argument("--write", action="store_true", help="put them into docs/quality.md")
    chosen = options.parse_args(arguments)
    figures = {
        "detection": detection_figures(chosen.shared),
        "extraction": extraction_figures(chosen.shared),
        "quotes": quote_figures(),
        "support": support_figures(),
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
