"""Maps lay phrases to the words of official guidance: reads `thesaurus.toml`, matches its phrases.

An entry has several lay phrases and the official words they stand for. One without official words
lists phrases that name no subject, so that the words inside them are not searched for. Phrases
are compared by stems; `*` stands for up to three words ("kicked * out"). A phrase inside a longer
match does not count: "credit union" says nothing of a union.
"""

import functools
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from judge.errors import ConfigurationError
from judge.text.english import STOP_WORDS, stems, words
from judge.text.phrases import Phrases

GAP = "*"
MAX_GAP = 3
"""The most words that a gap may span: "kick my sister's boyfriend out"."""

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThesaurusEntry:
    """Lay phrases, and the stems of the official words for them, if any."""

    lay: tuple[str, ...]
    official: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LayPhrase:
    """A phrase of the entry with the index `entry`: as written, and its stems and gaps.

    `rest` are the stems from the first gap on. Matches that begin at the same word are sorted by
    `rank`.
    """

    entry: int
    shown: str
    stems: Words
    rest: Words
    rank: tuple[int, int]


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


class _Storytelling(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    ignore: str


class _ThesaurusFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    storytelling: _Storytelling
    subjects: dict[str, dict[str, str]]


@functools.cache
def load_thesaurus() -> Thesaurus:
    """The thesaurus that comes with Judge; read once."""
    text = files("judge.vocabulary").joinpath("thesaurus.toml").read_text(encoding="utf-8")
    return parse_thesaurus(text)


def parse_thesaurus(text: str) -> Thesaurus:
    """The thesaurus in *text*; raises ConfigurationError that says what is wrong with it."""
    try:
        file = _ThesaurusFile.model_validate(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        message = f"The thesaurus cannot be used: {error}. Mend it, or put back the old one."
        raise ConfigurationError(message) from None
    entries = tuple(
        _entry(lay, official) for table in file.subjects.values() for lay, official in table.items()
    )
    lay = ((number, shown) for number, entry in enumerate(entries) for shown in entry.lay)
    stems_of = functools.cache(_part_stems)  # its words occur four times on average
    phrases = [_phrase(position, *phrase, stems_of) for position, phrase in enumerate(lay)]
    by_stems = ((p.stems[: len(p.stems) - len(p.rest)], p) for p in phrases)
    return Thesaurus(
        entries,
        Phrases(by_stems, _phrase_stem),
        frozenset(file.storytelling.ignore.split()),
    )


def _entry(lay: str, official: str) -> ThesaurusEntry:
    """An entry from its text: lay phrases separated by commas, and official words."""
    phrases = tuple(phrase for part in lay.split(",") if (phrase := part.strip()))
    official_stems = tuple(dict.fromkeys(stems(w for w in words(official) if w not in STOP_WORDS)))
    if (
        not phrases
        or bool(official_stems) != bool(official)
        or any(GAP in (p[:1], p[-1:]) for p in phrases)
    ):
        message = (
            f"The thesaurus entry {lay!r} = {official!r} says nothing: give phrases that begin "
            "and end with a word, and official words that are more than function words, or none."
        )
        raise ConfigurationError(message)
    return ThesaurusEntry(phrases, official_stems)


def _phrase(
    position: int, entry: int, shown: str, stems_of: Callable[[str], list[str]]
) -> LayPhrase:
    parts = tuple([stem for part in shown.split() for stem in stems_of(part)])
    rest = parts[parts.index(GAP) :] if GAP in parts else ()
    # A single word first, then one word before a gap, then several words.
    kind = (len(parts) > 1) + (len(parts) - len(rest) > 1)
    return LayPhrase(entry, shown, parts, rest, (kind, position))


def _part_stems(part: str) -> list[str]:
    """The stems of a part of a phrase without spaces: a gap, or mostly one word."""
    return [GAP] if part == GAP else [_phrase_stem(word) for word in words(part)]


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
        matches: list[FoundPhrase] = []
        longest = 0
        for length, phrase in phrases:
            end = start + length
            if phrase.rest:
                end = _end(thesaurus, phrase.rest, text_words, end)
            # Skip one inside a longer phrase without gaps, which may begin earlier.
            if end > covered and (
                end > start + 1 or _matches_alone(thesaurus, phrase, text_words[start])
            ):
                matches.append(FoundPhrase(phrase, start, end))
                longest = longest if phrase.rest else end  # shorter ones come first
        if len(matches) > 1:
            matches = sorted([match for match in matches if match.end >= longest], key=_rank)
        found += matches
        covered = max(covered, longest)
    return found


def _rank(found: FoundPhrase) -> tuple[int, int]:
    return found.phrase.rank


def _matches_alone(thesaurus: Thesaurus, phrase: LayPhrase, word: str) -> bool:
    """Whether *word*, whose stem is that of the one-word *phrase*, matches it."""
    is_content_word = word not in thesaurus.storytelling and word not in STOP_WORDS
    return is_content_word or word == phrase.shown


def _end(thesaurus: Thesaurus, rest: Words, text_words: Sequence[str], at: int) -> int:
    """The end of a phrase whose *rest*, from its first gap on, begins at *at*; 0 for no match."""
    slack = 0
    for stem in rest:
        if stem == GAP:
            slack = MAX_GAP
            continue
        for candidate in range(at, min(at + slack + 1, len(text_words))):
            if thesaurus.phrases.form(text_words[candidate]) == stem:
                at, slack = candidate + 1, 0
                break
        else:
            return 0
    return at
