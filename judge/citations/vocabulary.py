"""The words that reverse or qualify a sentence, read once from `judge/vocabulary/`.

`contrasts.toml` was written by hand; `antonyms.txt` has further antonyms, from WordNet.
"""

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files

from judge.text.english import STOP_WORDS, stems
from judge.text.phrase_trie import PhraseTrie

_CONTRACTED = {"can't": "can not", "won't": "will not", "shan't": "shall not", "cannot": "can not"}
PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "mis")
"""Negative prefixes."""

SMALL_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
).split()
TENS = "thirty forty fifty sixty seventy eighty ninety".split()
MONTHS = (
    "january february march april may june july august september october november december"
).split()
FIGURES = frozenset(
    [*SMALL_NUMBERS, *TENS, *MONTHS, *"hundred thousand million half per cent percent".split()]
) - {"may"}
"""Words for numbers and months, which are compared as quantities and dates; "may" is a modal."""

_COMMENT = re.compile(r"^#.*$", re.MULTILINE)

_TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+|(?<=s)')*|[£$€]?\d[\d.,:/]*\w*%?|[,;:()\[\]–—?!]")
_MAX_TOKENS = 300
"""Tokens read of a sentence, to keep time linear; longer text is a table."""


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A word out of context; `sign` is -1 if it means the opposite of its `concept`.

    `opposites` and `contraries` are stems.
    """

    stem: str
    concept: str
    sign: int
    is_person: bool
    is_content: bool
    is_stop_word: bool
    roots: tuple[str, ...]
    """Its concept without a negative prefix, if it has one."""
    opposites: frozenset[str]
    contraries: frozenset[str]


@dataclass(frozen=True, slots=True)
class ContrastWords:
    """Cues by phrase, concepts and signs by stem, contraries by stem, and parties by stem."""

    cues: Mapping[str, str]
    phrases: Mapping[str, str]
    """The one word that replaces a phrase of the same meaning."""
    trie: PhraseTrie[str]
    """All cues and phrases."""
    concepts: Mapping[str, tuple[str, int]]
    """The shared name of synonyms, by stem; the sign is -1 for those that mean the opposite."""
    opposites: Mapping[str, frozenset[str]]
    """The opposites of a stem; there may be several: stop has start and continue."""
    contraries: Mapping[str, frozenset[str]]
    people: frozenset[str]
    pronouns: frozenset[str]


def _by_phrase(named: Mapping[str, str]) -> dict[str, str]:
    return {
        " ".join(phrase.split()): name
        for name, lines in named.items()
        for line in lines.splitlines()
        for phrase in line.split("|")
        if phrase.strip()
    }


def _inflected(phrases: Mapping[str, str]) -> dict[str, str]:
    """*phrases* with the regular inflections of their first words: turns, turned, turning down."""
    return {
        f"{form} {rest}".strip(): name
        for phrase, name in phrases.items()
        for first, _, rest in [phrase.partition(" ")]
        for form in (
            first,
            *(first.removesuffix("e") + end for end in ("es", "ed", "ing")),
            first + "s",
        )
    }


@functools.cache
def vocabulary() -> ContrastWords:
    """The vocabulary that comes with the package."""
    lists = _lists()
    antonyms = _COMMENT.sub("", _read("antonyms.txt"))
    cues, phrases = _by_phrase(lists["cues"]), _inflected(_by_phrase(lists["phrases"]))
    concepts = _concepts(lists["words"]["same"], lists["words"]["opposites"])
    contraries = _across(lists["words"]["contraries"].split("\n"))
    opposites = _across([*lists["words"]["opposites"].split("\n"), *antonyms.split(";")])
    return ContrastWords(
        cues=cues,
        phrases=phrases,
        trie=PhraseTrie((phrase.split(), phrase) for phrase in cues | phrases),
        concepts=concepts,
        opposites={
            stem: others - contraries.get(stem, frozenset()) for stem, others in opposites.items()
        },
        contraries=contraries,
        people=frozenset(base_stems(lists["parties"]["people"].split())),
        pronouns=frozenset(lists["parties"]["pronouns"].split()),
    )


def _read(name: str) -> str:
    return files("judge").joinpath("vocabulary", name).read_text(encoding="utf-8")


@functools.cache
def _lists() -> dict[str, dict[str, str]]:
    return tomllib.loads(_read("contrasts.toml"))


@functools.cache
def _forms() -> Mapping[str, str]:
    """The base of each irregular form or derived word."""
    groups = [group.split() for group in _lists()["words"]["forms"].split(";")]
    return {form + s: group[0] for group in groups for form in group[1:] for s in ("", "s")}


def base_stems(tokens: Iterable[str]) -> list[str]:
    """The stems of *tokens*; irregular forms get the stem of their base."""
    forms = _forms()
    return stems(forms.get(token, token) for token in tokens)


def _concepts(same: str, opposites: str) -> dict[str, tuple[str, int]]:
    """Each stem's concept: the first word of its line, and its first line if it is in several."""
    concepts: dict[str, tuple[str, int]] = {}
    for line in opposites.split("\n"):
        sides = [base_stems(side.split()) for side in line.split("|")]
        if len(sides) == 2:
            for sign, side in zip((1, -1), sides):
                for stem in side:
                    concepts.setdefault(stem, (sides[0][0], sign))
    for line in same.split("\n"):
        group = base_stems(line.split())
        earlier = next((concepts[stem] for stem in group if stem in concepts), None)
        for stem in group:
            concepts.setdefault(stem, earlier or (group[0], 1))
    return concepts


def _across(lines: Iterable[str]) -> dict[str, frozenset[str]]:
    """The stems on the other sides of each stem's lines."""
    across: dict[str, set[str]] = {}
    for line in lines:
        sides = [base_stems(side.split()) for side in line.split("|")]
        for side in sides:
            others = {stem for other in sides if other is not side for stem in other}
            for stem in side:
                across.setdefault(stem, set()).update(others)
    return {stem: frozenset(others) for stem, others in across.items()}


@functools.lru_cache(maxsize=4096)
def lexeme_of(text: str) -> Lexeme:
    """Look up the word *text*. Cached: most words of any text are the same few thousand."""
    words = vocabulary()
    stem = base_stems([text.removesuffix("'s").removesuffix("'")])[0]
    concept = words.concepts.get(stem)
    is_owner = text.endswith(("'s", "s'"))
    is_stop_word = text in STOP_WORDS
    return Lexeme(
        stem,
        *(concept or (stem, 1)),
        is_person=not is_owner and (text in words.pronouns or stem in words.people),
        is_content=text[0].isalpha() and text not in FIGURES and not (is_stop_word and not concept),
        is_stop_word=is_stop_word,
        roots=_roots(concept[0] if concept else stem),
        opposites=words.opposites.get(stem, frozenset()),
        contraries=words.contraries.get(stem, frozenset()),
    )


def _roots(concept: str) -> tuple[str, ...]:
    """*concept* without each negative prefix it begins with, if more than 3 letters are left."""
    roots = [concept.removeprefix(prefix) for prefix in PREFIXES if concept.startswith(prefix)]
    return tuple(form for form in roots if len(form) > 3)


def statement_tokens(sentence: str) -> list[str]:
    """The words, numbers and punctuation marks of *sentence*."""
    tokens = _TOKEN.findall(plain(sentence))
    if not NO_APOSTROPHE.keys().isdisjoint(tokens):
        tokens = [part for word in tokens for part in NO_APOSTROPHE.get(word, word).split()]
    return tokens[:_MAX_TOKENS]


def plain(text: str) -> str:
    """*text* in lower case, without emphasis, with straight apostrophes and "n't" as "not"."""
    text = text.lower().replace("’", "'").replace("‘", "'").replace("`", "'")
    if "*" in text or "_" in text:
        text = _EMPHASIS.sub("", text)
    if "n't" not in text and "cannot" not in text and "free" not in text:
        return text
    text = _FREE.sub(r"without \1", text)
    return _CONTRACTION.sub(lambda m: _CONTRACTED.get(m[0]) or m[0][:-3] + " not", text)


_EMPHASIS = re.compile(r"(?<!\d)\*++|\*++(?!\d)|(?<![^\W_])_++|_++(?![^\W_])")
"""As in **14** days and _cannot_, but neither 2*3 nor a_b."""

_FREE = re.compile(r"\b(\w+)-free\b")
"""As in interest-free, smoke-free."""

_CONTRACTION = re.compile(r"\b(?:can't|won't|shan't|cannot|\w+n't)\b")

NO_APOSTROPHE = {
    word.replace("'", ""): word[:-3] + " not"
    for word in "don't doesn't didn't isn't aren't wasn't weren't couldn't shouldn't wouldn't "
    "hasn't haven't hadn't mustn't needn't".split()
} | {"can't".replace("'", ""): "can not"}
