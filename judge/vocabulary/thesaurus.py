"""What people say and what guidance calls it: reads `thesaurus.toml`, finds its phrases in a text.

An entry has several lay phrases and the official words they stand for; without such words the
phrases say nothing of a subject, and what they hold is not looked for. Phrases are compared by
stems; `*` in one stands for up to three words ("kicked * out"). A phrase inside a longer one that
was found does not count: "credit union" says nothing of a union.
"""

import functools
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from judge.errors import ConfigurationError
from judge.text.english import STOP_WORDS, stems, words
from judge.text.phrase_trie import PhraseTrie

GAP = "*"
WIDEST_GAP = 3
"""Words that a gap may span: "kick my sister's boyfriend out"."""

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThesaurusEntry:
    """Lay phrases, and the stems of the official words for the same thing, or none."""

    lay: tuple[str, ...]
    official: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LayPhrase:
    """A phrase of the entry with this number: as written, and its stems (and gaps).

    `rest` are those from the first gap on. Where several begin, the lowest `place` comes first.
    """

    entry: int
    shown: str
    stems: Words
    rest: Words
    place: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Thesaurus:
    """All entries; their phrases by the stems before a gap; the words that only tell the story."""

    entries: tuple[ThesaurusEntry, ...]
    phrases: PhraseTrie[LayPhrase]
    storytelling: frozenset[str]


class FoundPhrase(NamedTuple):
    """A lay phrase that stands in `words[start:end]`."""

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
    """The thesaurus in *text*; raises ConfigurationError saying what is wrong with it."""
    try:
        file = _ThesaurusFile.model_validate(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        message = f"The thesaurus cannot be used: {error}. Mend it, or put back the old one."
        raise ConfigurationError(message) from None
    entries = tuple(
        _entry(lay, official) for table in file.subjects.values() for lay, official in table.items()
    )
    lay = ((number, shown) for number, entry in enumerate(entries) for shown in entry.lay)
    phrases = [_phrase(place, *one) for place, one in enumerate(lay)]
    return Thesaurus(
        entries,
        PhraseTrie(
            ((one.stems[: len(one.stems) - len(one.rest)], one) for one in phrases), _hurried_stem
        ),
        frozenset(file.storytelling.ignore.split()),
    )


def _entry(lay: str, official: str) -> ThesaurusEntry:
    """An entry as written: phrases between commas, and official words."""
    phrases = tuple(phrase for part in lay.split(",") if (phrase := part.strip()))
    wanted = tuple(dict.fromkeys(stems(w for w in words(official) if w not in STOP_WORDS)))
    if (
        not phrases
        or bool(wanted) != bool(official)
        or any(GAP in (p[:1], p[-1:]) for p in phrases)
    ):
        message = (
            f"The thesaurus entry {lay!r} = {official!r} says nothing: give phrases that begin "
            "and end with a word, and official words that are more than function words, or none."
        )
        raise ConfigurationError(message)
    return ThesaurusEntry(phrases, wanted)


def _phrase(place: int, entry: int, shown: str) -> LayPhrase:
    written = tuple(_phrase_stems(shown))
    rest = written[written.index(GAP) :] if GAP in written else ()
    alone = (len(written) > 1) + (len(written) - len(rest) > 1)
    return LayPhrase(entry, shown, written, rest, (alone, place))


def _phrase_stems(shown: str) -> Iterator[str]:
    for part in shown.split():
        yield from [GAP] if part == GAP else map(_hurried_stem, words(part))


def _hurried_stem(word: str) -> str:
    """The stem of *word* as many write it: wont, cant, didnt."""
    [stem] = stems([word])
    return stem[:-2] + "t" if stem.endswith("n't") else stem


def find_phrases(thesaurus: Thesaurus, text_words: Sequence[str]) -> list[FoundPhrase]:
    """The lay phrases in a text, given as words, in order.

    A single word that only tells the story counts when it is written just like the phrase:
    "quit" is found in "I quit", not in "quite".
    """
    kept: list[FoundPhrase] = []
    reach = 0
    for start, here in thesaurus.phrases.find(text_words):
        found: list[FoundPhrase] = []
        longest = 0
        for length, phrase in here:
            end = start + length
            if phrase.rest:
                end = _end(thesaurus, phrase.rest, text_words, end)
            # None inside a longer one without gaps, which may have begun before.
            if end > reach and (end > start + 1 or _is_meant(thesaurus, phrase, text_words[start])):
                found.append(FoundPhrase(phrase, start, end))
                longest = longest if phrase.rest else end  # shorter ones come first
        if len(found) > 1:
            found = sorted([one for one in found if one.end >= longest], key=_place)
        kept += found
        reach = max(reach, longest)
    return kept


def _place(found: FoundPhrase) -> tuple[int, int]:
    return found.phrase.place


def _is_meant(thesaurus: Thesaurus, phrase: LayPhrase, word: str) -> bool:
    is_plain = word not in thesaurus.storytelling and word not in STOP_WORDS
    return is_plain or word == phrase.shown


def _end(thesaurus: Thesaurus, rest: Words, text_words: Sequence[str], at: int) -> int:
    """Where the *rest* of a phrase, which goes on with a gap at *at*, ends; 0 when it does not."""
    known, slack = thesaurus.phrases.words, 0
    for stem in rest:
        if stem == GAP:
            slack = WIDEST_GAP
            continue
        for candidate in range(at, min(at + slack + 1, len(text_words))):
            if known[text_words[candidate]][0] == stem:
                at, slack = candidate + 1, 0
                break
        else:
            return 0
    return at
