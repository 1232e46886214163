"""Finds which nations of the United Kingdom a text mentions: law differs by nation.

A missed nation costs little: England is assumed. A wrong one hides good pages, so look-alikes (New
South Wales, Bank of England, London in Ontario) do not count, and a city counts only as a place:
"in Leeds", not "a Leeds fan".
"""

import functools

from judge.library.dispute import Dispute
from judge.text.patterns import PatternSet

NATIONS = ("england", "scotland", "wales", "northern-ireland")
"""As `nations` of a source spells them."""

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
    r"(?! (?:road|street|avenue|lane|close|drive|crescent|terrace|gardens|square|grove|mews|"
    r"united|city|county|fc|fan|airport|bridge|angus|cake|marathon)\b)"
)
_HOME = r"(?:flat|house|home|tenement|landlord|landlady|tenancy|council|employer|sheriff|tribunal)"


def _cities(names: str) -> tuple[str, str]:
    return (
        rf"\b{_PLACE}(?:{names})\b{_ABROAD}{_NOT_A_NAME}",
        rf"\b(?:{names})(?:-based| {_HOME})\b",
    )


def _postcodes(areas: str) -> tuple[str, ...]:
    """Patterns for postcodes of these areas: whole, or the first half after "postcode"."""
    halves = [rf"{area}[0-9][0-9]?" for area in areas.split("|")]
    return (
        *(rf"\b{half} ?[0-9](?!st|nd|rd|th|am|pm)[a-z]{{2}}\b" for half in halves),
        rf"\bpostcode (?:is )?(?:{'|'.join(halves)})\b",
    )


_OF_A_NATION = r"(?:law|court|government|tenancy|tenant|landlord|council|employer)\b"
_NOT_A_WALES = r"(?! (?:pub|arms|hotel|road)\b)"
_NOT_A_TEAM = r"(?! (?:patriots|lost|won|win|lose|beat|played|play|drew|fans?|shirt|match|game)\b)"
_SCOTTISH_TRIBUNAL = (
    r"\bfirst[- ]tier tribunal\b"
    r"(?! \(?(?:property|tax|social|immigration|general|health|war|in england|for england))"
)
"""The Scottish housing tribunal; other first-tier tribunals are written with their chamber."""

_SIGNS = {
    "england": (
        r"(?<!new )(?<!bank of )(?<!church of )\bengland\b" + _NOT_A_TEAM,
        *_cities(
            "london|birmingham|manchester|leeds|liverpool|sheffield|bristol|nottingham|leicester|"
            "newcastle|southampton|portsmouth|brighton|norwich|coventry|hull|sunderland|bradford|derby|"
            "wolverhampton|plymouth|cambridge|oxford|exeter|milton keynes|middlesbrough|luton|"
            "hackney|croydon|cornwall|essex|yorkshire|lancashire|cumbria|norfolk|suffolk|"
            "sussex|surrey"
        ),
        r"\b(?:in|near|outside) (?:devon|kent)\b" + _ABROAD + _NOT_A_NAME,
    ),
    "scotland": (
        r"(?<!bank of )(?<!new )\bscotland\b(?! yard)",
        r"\bprivate residential tenancy\b",
        r"\bsheriff (?:court|officer)s?\b",
        r"\bhousing and property chamber\b",
        r"\bscots law\b",
        _SCOTTISH_TRIBUNAL,
        rf"\bscottish {_OF_A_NATION}",
        *_cities(
            "glasgow|edinburgh(?<!duke of edinburgh)|aberdeen|dundee|inverness|stirling|"
            "falkirk|livingston|motherwell|greenock|elgin|oban|ayr|leith|st andrews|orkney|"
            "shetland|moray|the (?:highlands|borders)"
        ),
        r"\b(?:fife|kirkcaldy|dunfermline|lothian|midlothian|ayrshire|lanarkshire|renfrewshire|"
        r"dunbartonshire|aberdeenshire|perthshire|clackmannanshire|inverclyde|argyll|dumfries|"
        r"tayside|grampian|strathclyde|kilmarnock|cumbernauld|stornoway|fort william)\b"
        + _ABROAD
        + _NOT_A_NAME,
        r"\b(?:in|near|outside|on) (?:paisley|skye)\b" + _ABROAD + _NOT_A_NAME,
        r"\bchildren's (?:panel|hearing|reporter)\b",
        r"\b(?:nat(?:ional)? 5s?|advanced highers?)\b",
        *_postcodes("ab|dd|dg|eh|fk|g|hs|iv|ka|kw|ky|ml|pa|ph|ze"),
    ),
    "wales": (
        r"(?<!south )(?<!prince of )(?<!princess of )(?<!jimmy )\bwales\b" + _NOT_A_WALES,
        r"\bshelter cymru\b",
        r"\bwritten statement of occupation\b",
        r"(?<!new )\bsouth wales\b",
        r"\boccupation contract",
        r"\bcontract[- ]holders?\b",
        r"\bwelsh[- ]medium\b",
        r"\b(?:gwynedd|powys|ceredigion|carmarthen|carmarthenshire|pembrokeshire|monmouthshire|"
        r"glamorgan|caerphilly|rhondda|gwent|torfaen|anglesey|conwy|denbighshire|flintshire|llanelli|"
        r"bridgend|port talbot|pontypridd|cwmbran|haverfordwest|caernarfon|rhyl|betsi cadwaladr|"
        r"hywel dda|cwm taf|aneurin bevan)\b" + _ABROAD + _NOT_A_NAME,
        *_postcodes("cf|ld|ll|np|sa"),
        rf"\bwelsh {_OF_A_NATION}",
        *_cities("cardiff|swansea|wrexham|aberystwyth|llandudno|merthyr tydfil"),
    ),
    "northern-ireland": (
        r"\b(?:northern|n\.?) ireland\b",
        r"\bnorthern irish\b",
        r"\b(?:county|co\.?) (?:antrim|armagh|down|fermanagh|tyrone)\b",
        r"\b(?:nihe|psni|stormont|housing executive)\b",
        r"\b(?:ballymena|ballymoney|coleraine|craigavon|carrickfergus|newtownards|portadown|lurgan|"
        r"banbridge|strabane|limavady|cookstown|dungannon|magherafelt|portrush|larne)\b"
        + _ABROAD
        + _NOT_A_NAME,
        *_postcodes("bt"),
        r"\blabour relations agency\b",
        *_cities("belfast|londonderry|derry|lisburn|newry|omagh|enniskillen"),
    ),
}
_NATION_OF = tuple(nation for nation, signs in _SIGNS.items() for _ in signs)
"""The nation of each pattern, in the order of `_signs()`."""


@functools.cache
def _signs() -> PatternSet:
    return PatternSet(sign for signs in _SIGNS.values() for sign in signs)


def find_nations(dispute: Dispute) -> frozenset[str]:
    """The NATIONS that *dispute* mentions; often none.

    >>> from judge.library.dispute import read_dispute
    >>> sorted(find_nations(read_dispute("He is in Cardiff.", "Does the law of England apply?")))
    ['england', 'wales']
    """
    return frozenset(_NATION_OF[number] for number, _ in _signs().matches(dispute.folded))
