"""Which nations of the United Kingdom does a text mention? Law and landlords differ by nation.

Missing one costs little: the page is used as for everybody. Naming a wrong one hides good
pages, so look-alikes (New South Wales, Bank of England, London in Ontario) are left out, and a
city counts only as a place: "in Leeds", not "a Leeds fan".
"""

import functools

from judge.judging.dispute import Dispute
from judge.text.pattern_set import PatternSet

_ABROAD = (
    r"(?!,? (?:ontario|canada|usa|united states|australia|new zealand|alabama|kentucky|ohio|"
    r"connecticut|new hampshire|maine|maryland|massachusetts|michigan|minnesota|new jersey|"
    r"new york|north carolina|pennsylvania|south dakota|tennessee|texas|virginia|washington)\b)"
    r"(?!, (?:al|ky|ct|nh|md|mi|mn|nj|ny|nc|pa|sd|tn|tx|va|us)\b)"
)
_PLACE = (
    r"(?:in|near|from|to|around|outside|of|at|for|leave|left) "
    r"(?:(?:central|north|south|east|west|inner|greater) )?"
)
_NOT_A_NAME = (
    r"(?! (?:road|street|avenue|lane|united|city|fc|fan|airport|bridge|angus|cake|marathon)\b)"
)
_HOME = r"(?:flat|house|home|tenement|landlord|landlady|tenancy|council|employer|sheriff|tribunal)"


def _cities(names: str) -> tuple[str, str]:
    return (
        rf"\b{_PLACE}(?:{names})\b{_ABROAD}{_NOT_A_NAME}",
        rf"\b(?:{names})(?:-based| {_HOME})\b",
    )


_OF_A_NATION = r"(?:law|court|government|tenancy|tenant|landlord|council|employer)\b"
_NOT_A_WALES = r"(?! (?:pub|arms|hotel|road)\b)"
_SCOTTISH_TRIBUNAL = (
    r"\bfirst[- ]tier tribunal\b"
    r"(?! \(?(?:property|tax|social|immigration|general|health|war|in england|for england))"
)
"""The one where tenants go to; those of England and of the United Kingdom are named in full."""

_SIGNS = {
    "england": (
        r"(?<!new )(?<!bank of )(?<!church of )\bengland\b(?! patriots)",
        *_cities(
            "london|birmingham|manchester|leeds|liverpool|sheffield|bristol|nottingham|leicester|"
            "newcastle upon tyne|southampton|portsmouth|brighton|norwich|coventry|hull|sunderland"
        ),
    ),
    "scotland": (
        r"(?<!bank of )(?<!new )\bscotland\b(?! yard)",
        r"\bprivate residential tenancy\b",
        r"\bsheriff (?:court|officer)s?\b",
        r"\bhousing and property chamber\b",
        r"\bscots law\b",
        _SCOTTISH_TRIBUNAL,
        rf"\bscottish {_OF_A_NATION}",
        *_cities("glasgow|edinburgh(?<!duke of edinburgh)|aberdeen|dundee|inverness|stirling"),
    ),
    "wales": (
        r"(?<!south )(?<!prince of )(?<!princess of )(?<!jimmy )\bwales\b" + _NOT_A_WALES,
        r"\bshelter cymru\b",
        r"\bwritten statement of occupation\b",
        r"(?<!new )\bsouth wales\b",
        r"\boccupation contract",
        rf"\bwelsh {_OF_A_NATION}",
        *_cities("cardiff|swansea|wrexham|aberystwyth|llandudno|merthyr tydfil"),
    ),
    "northern-ireland": (
        r"\b(?:northern|n\.?) ireland\b",
        r"\bnorthern irish\b",
        r"\b(?:county|co\.?) (?:antrim|armagh|down|fermanagh|tyrone)\b",
        r"\bnihe\b",
        r"\blabour relations agency\b",
        *_cities("belfast|londonderry|derry|lisburn|newry|omagh|enniskillen"),
    ),
}
_NATION_OF = tuple(nation for nation, signs in _SIGNS.items() for _ in signs)
"""The nation of each sign."""


@functools.cache
def _signs() -> PatternSet:
    return PatternSet(sign for signs in _SIGNS.values() for sign in signs)


def find_nations(dispute: Dispute) -> frozenset[str]:
    """The nations that *dispute* mentions, as `nations` of a source spells them; often none.

    >>> from judge.judging.dispute import read_dispute
    >>> sorted(find_nations(read_dispute("He is in Cardiff.", "Does the law of England apply?")))
    ['england', 'wales']
    """
    return frozenset(_NATION_OF[number] for number, _ in _signs().matches(dispute.folded))
