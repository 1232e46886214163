"""The country that the guidance is for, and which places a dispute names: law differs by place.

A missed region costs little: one is assumed. A wrong one hides good pages, so look-alikes do not
count (a bank that is called after a region, a town of the same name abroad), and a town counts only
as a place: "in TOWN", not "a TOWN fan". All names are data: `[country]` of the sources file and
`vocabulary/countries.toml`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from judge.library.dispute import Dispute, normalise
from judge.library.extract.page_status import RegionNames
from judge.library.sources.tables import CountryTable
from judge.text.patterns import PatternSet, Phrases
from judge.types.results import HelpLine

DATE_FORMATS = {
    "day-month-year": "%d %B %Y",
    "month-day-year": "%B %d, %Y",
    "year-month-day": "%Y-%m-%d",
}
"""How people of a country write a date, as `[country] dates` says, for `strftime`."""

_PLACE = (
    r"\b(?:in|near|from|to|around|outside|of|at|for|leave|left) "
    r"(?:(?:central|north|south|east|west|inner|greater) )?"
)
_NOT_A_NAME = (
    r"\b(?! (?:road|street|avenue|lane|close|drive|crescent|terrace|gardens|square|grove|mews|"
    r"united|city|county|fc|fan|airport|bridge|marathon)\b)"
)
_HOME = (
    r"\b(?:-based| (?:flat|house|home|tenement|landlord|landlady|tenancy|council|employer|"
    r"tribunal))\b"
)
_SET_IN = re.compile(
    r"(?:\bhere in|\b(?:i'?m|i am|we'?re|we are)(?: now| currently| all)? in|\b(?:i|we)(?: \w+)? "
    r"(?:live|lived|rent|work|study|moved|reside)(?: \w+){0,5} (?:in|to)|^(?:living|renting|"
    r"working|based)(?: \w+){0,3} in|\b(?:based|located) in|\blaws? (?:in|of)|\bresident of|"
    r"^(?:hi|hello|hey|posting|writing|asking)(?: \w+)? from|"
    r"\bmy (?:\w+ )?(?:landlord|landlady|boss|manager|employer|job|company|work|school|college|"
    r"house|home|flat|apartment|neighbou?rs?)(?: is| are)?(?: here)? in)"
    r"(?: the)?(?: state of)?(?: \w+){0,2}$"
)
"""What comes before a place where the dispute is set, and not one where somebody travels."""

_SET_BY = frozenset("law tenant landlord renter court employer resident state".split())
"""The word after such a place: "Texas law"."""

_BEFORE = 9
"""Words before a place that are looked at."""


@dataclass(frozen=True, slots=True)
class PlaceNames:
    """What names the regions of a country, and places elsewhere with their countries."""

    signs: PatternSet
    sign_regions: tuple[str, ...]
    """The region of each sign."""
    lookalikes: PatternSet
    towns: re.Pattern[str]
    """Any town of the country, at the end of a text."""
    abroad: Phrases[str]
    """The country of each place elsewhere."""
    short: PatternSet
    """Abbreviations after a town or in brackets: "Dayton, OH"."""
    short_countries: Mapping[str, str]


NO_PLACE_NAMES = PlaceNames(
    PatternSet(()), (), PatternSet(()), re.compile("(?!)"), Phrases(()), PatternSet(()), {}
)


@dataclass(frozen=True, slots=True)
class Country:
    """Where the guidance holds, as `[country]` of the sources file says and orders it."""

    name: str
    language: str
    regions: tuple[str, ...] = ()
    assumed: str = ""
    date_format: str = "%d %B %Y"
    emergency: tuple[HelpLine, ...] = ()
    region_names: RegionNames = ()
    """What pages call one region or several of them."""
    places: PlaceNames = field(default=NO_PLACE_NAMES, repr=False, compare=False)

    def regions_of_law(self, named: frozenset[str]) -> frozenset[str]:
        """The regions whose law counts where *named* ones are mentioned; none means any."""
        return named or frozenset(filter(None, [self.assumed]))


ANYWHERE = Country("their country", "en")
"""For a prompt without a sources file."""


def plain_name(name: str) -> str:
    """*name* of a country in lower case and without its article."""
    return name.casefold().removeprefix("the ")


def compile_places(table: CountryTable, others: Sequence[CountryTable]) -> PlaceNames:
    """The places of the country in *table*, and of *others*."""
    signs = [
        (sign, region)
        for region in table.regions
        for town in [_either(table.places.get(region, ()))]
        for sign in (
            rf"\b{re.escape(region).replace('-', ' ')}{_NOT_A_NAME}",
            rf"{_PLACE}{town}{_NOT_A_NAME}",
            rf"\b{town}{_HOME}",
            *(rf"(?:{pattern}){_NOT_A_NAME[2:]}" for pattern in table.patterns.get(region, ())),
        )
    ]
    ours = {name.casefold() for name in _names_of(table)}
    elsewhere = {
        name: other.name
        for other in others
        for name in _names_of(other)
        if name.casefold() not in ours
    }
    short = {code: other.name for other in others for code in other.short}
    towns = _either(name for region in table.regions for name in table.places.get(region, ()))
    states = _either(short)
    return PlaceNames(
        PatternSet(sign for sign, _ in signs),
        tuple(region for _, region in signs),
        PatternSet((*table.lookalikes, rf"\b{towns}, {states}\b")),
        re.compile(rf"\b{towns}\Z"),
        Phrases((normalise(name).words, country) for name, country in elsewhere.items()),
        PatternSet((rf"\b[a-z]{{3,}}, (?P<code>{states})\b", rf"[(\[](?P<code>{states})[)\]]")),
        short,
    )


def _names_of(table: CountryTable) -> Iterator[str]:
    """All names of places in a country, its own among them."""
    yield from (table.name, plain_name(table.name), *table.names)
    yield from (region.replace("-", " ") for region in table.regions)
    yield from (name for names in table.places.values() for name in names)


def _either(names: Iterable[str]) -> str:
    """A pattern for one of *names*, the longest first; one that never matches without any."""
    ordered = sorted({name.casefold() for name in names}, key=lambda name: (-len(name), name))
    return rf"(?:{'|'.join(map(re.escape, ordered))})" if ordered else r"(?!)"


def find_regions(country: Country, dispute: Dispute) -> frozenset[str]:
    """The regions of *country* that *dispute* mentions; often none."""
    places = country.places
    text = dispute.folded
    for _, match in list(places.lookalikes.matches(text)):
        text = text[: match.start()] + "-" * len(match[0]) + text[match.end() :]
    for name in {name for name, *_ in _named_abroad(places, dispute)}:
        for found in re.finditer(rf",? {re.escape(name)}\b", text):
            near = max(0, found.start() - 40)  # room for the longest name of a town
            if town := places.towns.search(text[: found.start()], near):  # its namesake elsewhere
                hidden = "-" * (found.end() - town.start())
                text = text[: town.start()] + hidden + text[found.end() :]
    return frozenset(places.sign_regions[number] for number, _ in places.signs.matches(text))


def find_abroad(country: Country, dispute: Dispute, regions: frozenset[str]) -> str:
    """The other country where *dispute*, which mentions *regions*, says that it is set, else ""."""
    places = country.places
    for _, where, before, after in _named_abroad(places, dispute):
        if (_SET_IN.search(before) or after in _SET_BY) and not regions:
            return where
    codes = (match["code"] for _, match in places.short.matches(dispute.folded))
    return next((places.short_countries[code.casefold()] for code in codes), "")


def _named_abroad(places: PlaceNames, dispute: Dispute) -> Iterator[tuple[str, str, str, str]]:
    """Each place elsewhere in *dispute*: name, country, and the words before and the one after."""
    for text in (dispute.query, dispute.context):
        for start, phrases in places.abroad.find(text.words):
            length, country = phrases[-1]
            end = start + length
            before = " ".join(text.words[max(0, start - _BEFORE) : start])
            after = text.words[end].removesuffix("s") if end < len(text.words) else ""
            yield " ".join(text.words[start:end]), country, before, after
