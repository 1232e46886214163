"""Guesses which words of a text are names; a surname may also be a town."""

import re
from importlib.resources import files

from judge.text.data import package_data
from judge.text.english import STOP_WORDS, sentences

_TITLED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sir)\.? ([A-Z][^\W_]+(?:[ -][A-Z][^\W_]+)?)"  # also MacDonald
)
_CAPITALISED = re.compile(r"\b[A-Z][a-z]+(?:[-'’][A-Z][a-z]+)*\b")
_SPEAKS = re.compile(r"(?:'s|’s)?,? (?:said|says|told|thinks|wants|asked|refuse[sd]|replied)\b")
_PUBLIC = frozenset(files("judge.text").joinpath("public_names.txt").read_text("utf-8").split())
"""Names that identify no person: nations, public bodies and companies."""

_NO_NAMES = STOP_WORDS | _PUBLIC | frozenset(package_data("english")["no_names"].split())
"""Words that may be capitalised and are not the name of a person or place."""


def find_public_names(text: str) -> list[str]:
    """The names in *text* that identify no person: nations, public bodies and companies."""
    return [word for word in _CAPITALISED.findall(text) if word.casefold() in _PUBLIC]


def find_names(text: str) -> list[str]:
    """The words of *text* that are probably names of people or places, without repeats.

    At the beginning of a sentence only what "said" or the like follows.
    """
    found, starts = _TITLED.findall(text), {span.start for span in sentences(text)}
    for match in _CAPITALISED.finditer(text):
        opens = match.start() in starts or text[: match.start()].rstrip()[-1:] in "\"“'‘:([{\n"
        is_said = not opens or _SPEAKS.match(text, match.end())
        if is_said and match.group().casefold() not in _NO_NAMES:
            found.append(match.group())
    return list(dict.fromkeys(found))
