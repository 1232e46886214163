"""Finds what must not get into a repository: keys, which are masked, and personal details.

The latter are only listed, since a name may be made up and a surname may be a town: whoever
records a case decides.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from judge.text.names import find_names

MIN_SECRET_LENGTH = 8
"""Characters; masking shorter settings would mask ordinary words too."""

_KEYS = re.compile(
    r"AIza[0-9A-Za-z_-]{30,}|\bAQ\.[0-9A-Za-z_-]{20,}"  # Google
    r"|\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bAKIA[0-9A-Z]{16}\b"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"  # JSON web tokens
    r"|(?<=Bearer )[A-Za-z0-9._~+/-]{12,}"
    r"|(?<=://)[^\s/:@]{1,64}:[^\s/:@]{3,128}(?=@)"  # user and password of an address
)


def scrubber(secrets: Iterable[str]) -> Callable[[str], str]:
    """A function that masks *secrets*, and what looks like a key, by as many x: offsets stay."""
    known = sorted({s for s in secrets if len(s) >= MIN_SECRET_LENGTH}, key=len, reverse=True)
    pattern = re.compile("|".join([*map(re.escape, known), _KEYS.pattern]))
    return lambda text: pattern.sub(lambda match: "x" * len(match.group()), text)


class PersonalDetail(NamedTuple):
    """Words that may identify a person."""

    kind: str
    field: str
    words: str


_PATTERNS: Mapping[str, re.Pattern[str]] = {
    "e-mail address": re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"),
    "phone number": re.compile(r"(?<![\w+])(?:\+44|0044|0)(?:[ ()-]{0,2}\d){9,10}(?!\d)"),
    "postcode": re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? ?\d[ABD-HJLNP-UW-Z]{2}\b", re.IGNORECASE),
    "card or account number": re.compile(
        r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)|\b\d\d-\d\d-\d\d\b|(?<!\d)\d{8}(?!\d)"
    ),
    "national insurance number": re.compile(
        r"\b[A-CEGHJ-PR-TW-Z]{2} ?\d\d ?\d\d ?\d\d ?[A-D]\b", re.IGNORECASE
    ),
    "date of birth": re.compile(r"\b\d{1,2}[/.-]\d{1,2}[/.-](?:19|20)\d\d\b"),
    "street": re.compile(
        r"\b\d{1,4}[a-z]? (?:[A-Z][a-z]+ ){1,3}"
        r"(?:Street|St|Road|Rd|Lane|Avenue|Ave|Close|Drive|Court|Way|Crescent|Terrace|Place)\b"
    ),
}


_PERSONA = re.compile(r'"name": ?"([^"]+)"')
"""The name of a persona in a reply; nobody is called so."""


def find_personal_details(document: Mapping[str, Any]) -> list[PersonalDetail]:
    """What may be personal in the dispute and the replies of a case, without repetitions."""
    fields = document["input"].items()
    texts = {f"input.{key}": value for key, value in fields if isinstance(value, str)}
    for number, reply in enumerate(document["replies"]):
        texts[f"replies.{number}"] = reply.get("text", "")
    personas = {name for text in texts.values() for name in _PERSONA.findall(text)}
    unique: dict[tuple[str, str], PersonalDetail] = {}
    for field, text in texts.items():
        found = [(kind, m.group()) for kind, each in _PATTERNS.items() for m in each.finditer(text)]
        found += [("name", name) for name in find_names(text) if name not in personas]
        for kind, words in found:
            unique.setdefault((kind, words.casefold()), PersonalDetail(kind, field, words))
    return list(unique.values())
