import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.library.country import find_abroad, find_regions
from judge.library.dispute import read_dispute
from tests.fakes.country import UK


def regions(text):
    return find_regions(UK, read_dispute(text, ""))


@pytest.mark.parametrize(
    ("text", "nations"),
    [
        ("We live in London", {"england"}),
        ("My landlord is in scotland", {"scotland"}),
        ("The First-tier Tribunal for Scotland", {"scotland"}),
        ("a private residential tenancy", {"scotland"}),
        ("sheriff officers came", {"scotland"}),
        ("a First-tier Tribunal for England", {"england"}),
        ("My Glasgow landlord", {"scotland"}),
        ("a Belfast employer", {"northern-ireland"}),
        ("the NIHE says no", {"northern-ireland"}),
        ("What does Scottish law say?", {"scotland"}),
        ("a farm in South Wales", {"wales"}),
        ("My occupation contract ends", {"wales"}),
        ("the Welsh Government's rules", {"wales"}),
        ("The law of England and Wales", {"england", "wales"}),
        ("I moved from Leeds to Dundee", {"england", "scotland"}),
        ("I rent at KY1 1AA", {"scotland"}),
        ("the children's panel sat", {"scotland"}),
        ("my council in Rhondda Cynon Taf", {"wales"}),
        ("a Scottish secure tenancy", {"scotland"}),
        ("I rent in Melbourne, Derbyshire", {"england"}),
    ],
)
def test_mentioned_nation_is_found(text, nations):
    assert regions(text) == nations


@pytest.mark.parametrize(
    "text",
    [
        "My landlord won't fix the boiler",
        "I live in New England",
        "England lost and he sulked",
        "custody of Paisley and Skye",
        "I left Devon at the altar, he and Kent are mates",
        "we drove the EH6 bus",
        "the meeting is at G20 1st thing",
        "I bank with the Bank of England",
        "English isn't my first language",
        "I live in London, Ontario",
        "He called Scotland Yard",
        "I do my Duke of Edinburgh award",
        "a Belfast sink",
        "the First-tier Tribunal (Property Chamber)",
        "I moved to Dublin, Ireland",
        "in Newport, in Bangor and in Perth",
        "He wants his Scotland shirt back",
    ],
)
def test_text_that_resembles_a_place_names_no_nation(text):
    assert regions(text) == frozenset()


@given(st.text(max_size=300))
def test_any_text_names_only_known_nations(text):
    assert regions(text) <= set(UK.regions)


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("My boss here in Ohio took my passport", "the United States"),
        ("We moved to a small town in Ontario", "Canada"),
        ("My landlord in Cork will not answer", "Ireland"),
        ("Does California law let him do that?", "the United States"),
        ("[TX] He kept the deposit", "the United States"),
        ("I live in London, Ontario", "Canada"),
        ("Hi all from Sydney! He never washes up", "Australia"),
        ("My ex lives in Newcastle, NSW", "Australia"),
        ("Hello, my mum came back from Sydney", ""),
        ("We had a holiday in Spain and the flight was late", ""),
        ("My sister in Ohio never rings", ""),
        ("or was it me, or him, in Paris of all places", ""),
        ("My landlord in Leeds took a trip to Texas", ""),
    ],
)
def test_dispute_set_in_another_country_is_told(text, country):
    dispute = read_dispute(text, "")
    assert find_abroad(UK, dispute, find_regions(UK, dispute)) == country
