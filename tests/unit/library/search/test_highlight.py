import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.library.search.highlight import CONTEXT_CHARS, highlighter
from judge.library.search.query import parse_query
from judge.text.index_tokens import UNSPACED
from judge.types.search import SearchQuery

LETTER = rf"[^\W_{UNSPACED}]"
"""Of a word that must not be cut."""

FILLER = "and so it went on for a good long while with nothing to be said about it "


def marked_in(text: str, query: SearchQuery) -> str:
    return highlighter(query)(text)


def test_about_fifty_characters_of_context_on_either_side():
    shown = marked_in(f"{FILLER}the boiler {FILLER}", parse_query("boiler"))

    before, marked, after = re.split(r"(\*\*boiler\*\*)", shown)
    assert marked == "**boiler**"
    assert before.startswith("...")
    assert after.endswith("...")
    assert CONTEXT_CHARS - 15 < len(before) - 3 <= CONTEXT_CHARS
    assert CONTEXT_CHARS - 15 < len(after) - 3 <= CONTEXT_CHARS


def test_place_with_most_query_words_is_shown():
    text = f"The boiler. {FILLER * 4} A tenant whose boiler broke. {FILLER * 4}"

    shown = marked_in(text, parse_query("tenant boiler broke"))

    assert "**tenant** whose **boiler** **broke**" in shown


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("call getUserId here", "user", "call **getUserId** here"),
        ("don't be cruel", "cruel", "don't be **cruel**"),
        ("Le café est là", "cafe", "Le **café** est là"),
        ("Le cafe\u0301 est", "café", "Le **cafe\u0301** est"),
        ("मकान का किराया।", "किराया", "मकान का **किराया**।"),
        ("hoping it is possible", "hope possibility", "**hoping** it is **possible**"),
        ("“the tenant’s boiler” – it", "boiler tenant", "“the **tenant’s** **boiler**” – it"),
        ("our **boiler** is off", "boiler", "our **boiler** is off"),
        ("a phrase of words", '"phrase of words"', "a **phrase** **of** **words**"),
        ("open(f'files/{x}')", "files", "open(f'**files**/{x}')"),
        (
            "the landlord's and l'avocat's",
            "landlord avocat",
            "the **landlord's** and l'**avocat's**",
        ),
        ("utf8 and x2y", "8 2", "**utf8** and x2y"),
        ("an e-mail", "email", "an **e-mail**"),
        ("L’appartement d’O’Neill", "l'appartement", "L’**appartement** d’O’Neill"),
        ("pay 1.250,00 €", "1250", "pay **1.250**,00 €"),
        ("pay £1,200 of 1200", "1,200", "pay £**1,200** of **1200**"),
        ("a 10kg bag", "10 kg", "a **10kg** bag"),
        ("Herr Müller", "mueller", "Herr **Müller**"),
        ("Straße 5, café", "straße", "**Straße** 5, café"),
        ("锅炉坏了，房东必须修理。", "房东", "锅炉坏了，**房东**必须修理。"),
        ("锅炉坏了，房东必须修理。", "修理锅炉", "**锅炉**坏了，房东必须**修理**。"),
        ("東京都のUSB接口", "usb接口", "東京都の**USB接口**"),
        ("锅 炉", "锅炉", "锅 炉"),
    ],
)
def test_whole_words_are_marked(text, query, marked):
    assert marked_in(text, parse_query(query)) == marked


TEXTS = st.lists(
    st.one_of(
        st.sampled_from(
            ["boiler", "Boilers", "repair-man", "getBoilerId", "**", "...", "\n", "x_y"]
        ),
        st.text(max_size=60),
    ),
    max_size=60,
).map(" ".join)


@given(TEXTS, st.sampled_from(["boiler", "repair boiler", '"get boiler"', "x", "zebra", ""]))
def test_nothing_is_cut_in_half(text, asked):
    plain = text.replace("*", "+")

    shown = marked_in(plain, parse_query(asked))

    assert shown.count("**") % 2 == 0
    inner = shown.replace("**", "")
    start = inner.removeprefix("...") if not plain.startswith(inner[:3]) else inner
    places = [start, start.removesuffix("..."), inner, inner.removesuffix("...")]
    places.append(inner.removeprefix("...").removesuffix("..."))
    assert any(_stands_whole(piece, plain) for piece in places)
    for marked in re.findall(r"\*\*(.*?)\*\*", shown, re.DOTALL):
        assert re.search(rf"(?<!{LETTER}){re.escape(marked)}(?!{LETTER})", plain)


def _stands_whole(piece, text):
    """Whether *piece* is in *text* with no letter or digit of the same word beyond its ends."""
    for match in re.finditer(re.escape(piece), text):
        before, after = text[: match.start()][-1:], text[match.end() :][:1]
        starts = not (re.match(LETTER, before) and re.match(LETTER, piece[:1]))
        ends = not (re.match(LETTER, after) and re.match(LETTER, piece[-1:]))
        if starts and ends:
            return True
    return not piece
