"""Which nations of the United Kingdom does a text mention? Law and landlords differ by nation.

Missing one costs little: the page is used as for everybody. Naming a wrong one hides good
pages, so look-alikes (New South Wales, Bank of England, London in Ontario) are left out, and a
city counts only as a place: "in Leeds", not "a Leeds fan".
"""

import functools
import re

from judge.judging.dispute import Dispute
from judge.text.pattern_set import literal_finder
from judge.text.word_memory import WordMemory

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


def _cities(names: str) -> str:
    return rf"\b{_PLACE}(?:{names})\b{_ABROAD}{_NOT_A_NAME}|\b(?:{names})(?:-based| {_HOME})\b"


_SIGNS = {
    "england": (
        r"(?<!new )(?<!bank of )(?<!church of )\bengland\b(?! patriots)|"
        + _cities(
            "london|birmingham|manchester|leeds|liverpool|sheffield|bristol|nottingham|leicester|"
            "newcastle upon tyne|southampton|portsmouth|brighton|norwich|coventry|hull|sunderland"
        )
    ),
    "scotland": (
        r"(?<!bank of )(?<!new )\bscotland\b(?! yard)|\bprivate residential tenancy\b|"
        r"\bsheriff (?:court|officer)s?\b|\bhousing and property chamber\b|\bscots law\b|"
        # The one where tenants go to; those of England and of the United Kingdom are named in full.
        r"\bfirst[- ]tier tribunal\b(?! \(?(?:property|tax|social|immigration|general|health|war|"
        r"in england|for england))|"
        r"\bscottish (?:law|court|government|tenancy|tenant|landlord|council|employer)\b|"
        + _cities("glasgow|edinburgh(?<!duke of edinburgh)|aberdeen|dundee|inverness|stirling")
    ),
    "wales": (
        r"(?<!south )(?<!prince of )(?<!princess of )(?<!jimmy )\bwales\b"
        r"(?! (?:pub|arms|hotel|road)\b)|\bshelter cymru\b|\bwritten statement of occupation\b|"
        r"(?<!new )\bsouth wales\b|\boccupation contract|"
        r"\bwelsh (?:law|court|government|tenancy|tenant|landlord|council|employer)\b|"
        + _cities("cardiff|swansea|wrexham|aberystwyth|llandudno|merthyr tydfil")
    ),
    "northern-ireland": (
        r"\b(?:northern|n\.?) ireland\b|\bnorthern irish\b|\b(?:county|co\.?) (?:antrim|armagh|"
        r"down|fermanagh|tyrone)\b|\bnihe\b|\blabour relations agency\b|"
        + _cities("belfast|londonderry|derry|lisburn|newry|omagh|enniskillen")
    ),
}
# Every sign begins with a word, so that most of the text is passed over at once; the text is in
# small letters, since ignoring case takes twice as long.
_SIGNS_OF_ALL = re.compile(
    r"\b(?:"
    + "|".join(f"(?P<{nation.replace('-', '_')}>{signs})" for nation, signs in _SIGNS.items())
    + ")"
)

_TELLING = frozenset(
    "england london birmingham manchester leeds liverpool sheffield bristol nottingham leicester "
    "newcastle southampton portsmouth brighton norwich coventry hull sunderland "
    "scotland scots scottish residential sheriff chamber tribunal "
    "glasgow edinburgh aberdeen dundee inverness stirling "
    "wales welsh cymru occupation cardiff swansea wrexham aberystwyth llandudno merthyr "
    "ireland irish antrim armagh down fermanagh tyrone nihe labour "
    "belfast londonderry derry lisburn newry omagh enniskillen".split()
)
"""Every sign holds one of these words; most texts hold none, and need not be searched."""

REACH = 60
"""Characters within which every sign, from its beginning, holds its telling word."""

_WORD_START = re.compile(r"\b[^\W_]")


@functools.cache
def _telling() -> WordMemory[tuple[str, ...]]:
    """Which telling words each word of a text holds."""
    finder = literal_finder(_TELLING)
    return WordMemory(lambda word: tuple(telling for _, telling in finder.iter(word)))


def find_nations(dispute: Dispute) -> frozenset[str]:
    """The nations that *dispute* mentions, as `nations` of a source spells them; often none.

    >>> from judge.judging.dispute import read_dispute
    >>> sorted(find_nations(read_dispute("He is in Cardiff.", "Does the law of England apply?")))
    ['england', 'wales']
    """
    telling = _telling()
    told = {one for word in {*dispute.query.words, *dispute.context.words} for one in telling[word]}
    found: set[str] = set()
    folded, free = dispute.folded, 0
    for last in sorted(match.end() - 1 for one in told for match in re.finditer(one, folded)):
        for start in _WORD_START.finditer(folded, max(free, last - REACH), last + 1):
            if start.start() >= free and (sign := _SIGNS_OF_ALL.match(folded, start.start())):
                free = sign.end()
                found.add((sign.lastgroup or "").replace("_", "-"))
    return frozenset(found)
