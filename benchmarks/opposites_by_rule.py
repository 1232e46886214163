"""How often an opposite, made by rule from real guidance, scores below a true paraphrase.

    python -m benchmarks.opposites_by_rule [--shared FOLDER]

A sentence is reversed by one of fifteen changes (a `not`, another number, `may` for `must not`),
drawn by a fixed seed, and paraphrased by one of seven, or by moving its condition to the end.
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from judge.citations.support import support
from judge.text.english import sentences

ROOT = Path(__file__).parent.parent
_TURNS = [
    (re.compile(pattern), change)
    for pattern, change in [
        (r"\bmust not\b", "may"), (r"\bmust\b(?! not)", "do not have to"),
        (r"\b(?:cannot|can't)\b", "can"), (r"\bcan\b(?!'t)", "cannot"), (r"\bmay\b", "must not"),
        (r"\b(?:do not|don't) have to\b", "must"), (r"\bshould\b(?! not)", "should not"),
        (r"\b(is|are|will|was|were)\b(?! not)", r"\1 not"), (r"\bwill not\b", "will"),
        (r"\bbefore\b", "after"), (r"\bat least\b", "at most"), (r"\ballowed\b", "forbidden"),
        (r"\b(\d+) (days|weeks|months|years|hours)\b", r"1\1 \2"), (r"\bincrease", "decrease"),
        (r"\bunless\b", "even if"),
    ]
]  # fmt: skip
_SAME = [
    (r"\bmust\b", "have to"), (r"\bYou can\b(?!')", "It is possible for you to"),
    (r"\bcannot\b", "are not able to"), (r"\bshould\b", "ought to"), (r"\bdon't\b", "do not"),
    (r"\bat least\b", "no less than"), (r"\ballowed\b", "permitted"),
]  # fmt: skip
_CONDITION = re.compile(r"(If|When|Before|After|Unless) ([^,]+), (.+)\.")
_WORDS = range(6, 26)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    options.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    pages = options.parse_args(arguments).shared / "eval" / "relevance" / "pages.jsonl"
    triples = list(_triples(pages))
    pairs = [(support(same, [s]), support(turned, [s])) for s, same, turned in triples]
    below = sum((same.score or 0.0) > (turned.score or 0.0) for same, turned in pairs)
    for told, count in [
        ("opposites below", below),
        ("opposites flagged", sum(turned.contradicts for _, turned in pairs)),
        ("paraphrases flagged", sum(same.contradicts for same, _ in pairs)),
    ]:
        print(f"{told}: {count} of {len(pairs)}, {count / len(pairs):.1%}")
    return 0


def _triples(pages: Path) -> Iterator[tuple[str, str, str]]:
    """A sentence, a true paraphrase and an opposite of each that has both."""
    rng = random.Random(1)
    for sentence in dict.fromkeys(_guidance(pages)):
        same = _said_otherwise(sentence)
        turned = [changed for p, to in _TURNS if (changed := p.sub(to, sentence, 1)) != sentence]
        if same != sentence and turned:
            yield sentence, same, rng.choice(turned)


def _guidance(pages: Path) -> Iterator[str]:
    for line in pages.read_text(encoding="utf-8").splitlines():
        for paragraph in json.loads(line)["paragraphs"]:
            text = paragraph.replace("’", "'")
            for span in sentences(text):
                sentence = text[span.start : span.end].strip()
                if len(sentence.split()) in _WORDS and sentence.endswith("."):
                    yield sentence


def _said_otherwise(sentence: str) -> str:
    for pattern, other in _SAME:
        said = re.sub(pattern, other, sentence, count=1)
        if said != sentence:
            return said
    found = _CONDITION.fullmatch(sentence)
    return f"{found[3][0].upper()}{found[3][1:]} {found[1].lower()} {found[2]}." if found else said


if __name__ == "__main__":
    sys.exit(main())
