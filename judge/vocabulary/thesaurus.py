"""Maps lay phrases to the words of official guidance: reads `thesaurus.toml`, matches its phrases.

An entry has several lay phrases and the official words they stand for, if any. Phrases are compared
by stems; `*` stands for up to three words ("kicked * out"). A phrase inside a longer match does not
count: "credit union" says nothing of a union.
"""

import functools
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

from judge.text.english import STOP_WORDS, content_stems, stems, words
from judge.text.patterns import Phrases

GAP = "*"
MAX_GAP = 3
"""The most words that a gap may span: "kick my sister's boyfriend out"."""

Words = tuple[str, ...]


class ThesaurusEntry(NamedTuple):
    """Lay phrases, and the stems of the official words for them, if any."""

    lay: Words
    official: Words


class LayPhrase(NamedTuple):
    """A phrase of the entry with the index `entry`: as written, and its stems and gaps.

    `rest` are the stems from the first gap on.
    """

    entry: int
    text: str
    stems: Words
    rest: Words


@dataclass(frozen=True, slots=True)
class Thesaurus:
    """All entries, their phrases by the stems before a gap, and words that name no subject."""

    entries: tuple[ThesaurusEntry, ...]
    phrases: Phrases[LayPhrase]
    storytelling: frozenset[str]


class FoundPhrase(NamedTuple):
    """A lay phrase found in `words[start:end]`."""

    phrase: LayPhrase
    start: int
    end: int


@functools.cache
def load_thesaurus() -> Thesaurus:
    """The thesaurus that comes with Judge; read once."""
    text = files("judge.vocabulary").joinpath("thesaurus.toml").read_text(encoding="utf-8")
    return parse_thesaurus(text)


def parse_thesaurus(text: str) -> Thesaurus:
    """The thesaurus in *text*."""
    file = tomllib.loads(text)
    entries: list[ThesaurusEntry] = []
    phrases: list[tuple[Words, LayPhrase]] = []
    for table in file["subjects"].values():
        for lay, official in table.items():
            spoken = tuple(phrase.strip() for phrase in lay.split(","))
            phrases += [_phrase(len(entries), one) for one in spoken]
            entries.append(ThesaurusEntry(spoken, tuple(dict.fromkeys(content_stems(official)))))
    ignored = frozenset(file["storytelling"]["ignore"].split())
    return Thesaurus(tuple(entries), Phrases(phrases, _phrase_stem), ignored)


def _phrase(entry: int, text: str) -> tuple[Words, LayPhrase]:
    """The phrase, after its stems before the first gap."""
    parts = [
        part
        for written in text.split()
        for part in ([GAP] if written == GAP else map(_phrase_stem, words(written)))
    ]
    gap = parts.index(GAP) if GAP in parts else len(parts)
    return tuple(parts[:gap]), LayPhrase(entry, text, tuple(parts), tuple(parts[gap:]))


@functools.lru_cache(maxsize=8192)
def _phrase_stem(word: str) -> str:
    """The stem of *word*, without the apostrophe of "n't", which many leave out: wont, didnt."""
    [stem] = stems([word])
    return stem[:-2] + "t" if stem.endswith("n't") else stem


def find_phrases(thesaurus: Thesaurus, text_words: Sequence[str]) -> list[FoundPhrase]:
    """The lay phrases in a text, given as words, in order.

    A storytelling or stop word matches a phrase of one word only if it is written the same:
    "quit" is found in "I quit", not in "quite".
    """
    found: list[FoundPhrase] = []
    covered = 0
    for start, phrases in thesaurus.phrases.find(text_words):
        word = text_words[start]
        is_content = word not in thesaurus.storytelling and word not in STOP_WORDS
        matches = [
            FoundPhrase(phrase, start, end)
            for length, phrase in phrases
            for end in [_end(phrase.rest, text_words, start + length)]
            if end > start + 1 or (end and (is_content or word == phrase.text))
        ]
        # One inside a longer phrase without gaps, which may begin earlier, does not count.
        longest = max((match.end for match in matches if not match.phrase.rest), default=0)
        found += [match for match in matches if match.end >= longest and match.end > covered]
        covered = max(covered, longest)
    return found


def _end(rest: Words, text_words: Sequence[str], at: int) -> int:
    """The end of a phrase whose *rest*, from its first gap on, begins at *at*; 0 for no match."""
    slack = 0
    for stem in rest:
        if stem == GAP:
            slack = MAX_GAP
            continue
        following = map(_phrase_stem, text_words[at : at + slack + 1])
        place = next((place for place, other in enumerate(following) if other == stem), None)
        if place is None:
            return 0
        at, slack = at + place + 1, 0
    return at
