"""Which facts of a story a retelling lost or added."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judge.judging.story_facts import ChangedFact, changed_facts

STORY = (
    "My landlord Rowan Pike has left the boiler broken for ten days. I wrote twice and paid £1,200 "
    "on 3 March 2024. He said “wait until May” on Monday, and his sister Gwenda saw it at 11:45pm."
)
RETOLD = (
    "My tenant says that I left the boiler broken for 10 days. They wrote to me two times and paid "
    "me 1200 pounds on 3 March 2024. On Monday I said “wait until May”, as my sister Gwenda saw at "
    "11:45 pm."
)


def test_facts_in_other_words_are_unchanged() -> None:
    assert changed_facts(STORY, RETOLD) == []


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("10 days", "3 days", "lost number, new number"),
        (" for 10 days", "", "lost number"),
        ("two times", "often", "lost number"),
        ("3 March", "4 March", "lost date, new date"),
        ("On Monday", "Then", "lost date"),
        ("On Monday", "On Monday and Friday", "new date"),
        ("Gwenda", "", "lost name"),
        ("Gwenda", "Gwenda and Alwyn", "new name"),
        ("my sister", "my sister in the BBC", "new name"),
        ("my sister", "by the M25 my sister", "new name"),
        ("my sister", "my sister in Scotland", "new name"),
        ("my sister", "my sister at Tesco", "new name"),
        ("I said “wait until May”", "I told them to wait", "lost date, lost quote"),
        ("as my", "“not my job” I said, as my", "new quote"),
        ("as my", "'not my job' I said, as my", "new quote"),
        ("as my", "see https://a.example/x or a@b.example, as my", "new address, new address"),
    ],
)
def test_lost_or_added_fact_is_found(old: str, new: str, changed: str) -> None:
    assert old in RETOLD
    found = changed_facts(STORY, RETOLD.replace(old, new))
    assert [f"{'new' if one.is_new else 'lost'} {one.kind}" for one in found] == changed.split(", ")


def test_one_person_or_couple_may_lose_their_names() -> None:
    couple = "My neighbours Rowan and Gwenda are loud."
    assert changed_facts(couple, "We are loud, our neighbour says.") == []
    lost = changed_facts("My boss Rowan told on Gwenda.", "I told on them.")
    assert [one.words for one in lost] == ["Gwenda"]


def test_capitals_of_another_language_are_no_names_and_its_numbers_are_kept() -> None:
    before = "Mein Nachbar grillt von 16 bis 23 Uhr, und der Rauch zieht ins Schlafzimmer von uns."
    after = "Ich grille von 16 bis 23 Uhr, und der Rauch zieht ins Schlafzimmer meiner Nachbarn."
    assert changed_facts(before, after) == []
    assert len(changed_facts(before, after.replace("23", "22"))) == 2


@given(st.text(max_size=300))
def test_any_text_has_the_facts_of_itself(text: str) -> None:
    assert changed_facts(text, text) == []


@given(st.integers(min_value=2, max_value=999), st.integers(min_value=2, max_value=999))
def test_any_invented_number_is_found(told: int, invented: int) -> None:
    assume(told != invented)
    before = f"My flatmate owes me {told} pounds."
    after = f"I owe {told} pounds to my flatmate, who ate {invented} cakes."
    found = [one for one in changed_facts(before, after) if one.is_new]
    assert found == [ChangedFact("number", f"{invented}", is_new=True)]


PAIRS = [
    (f"{one['context']}\n{one['query']}", f"{one['retelling']}\n{one['retold_query']}")
    for one in tomllib.loads(Path("tests/fixtures/retellings.toml").read_text())["pairs"]
]
PLANTED = (
    "I waited 47 days.", "It cost me £88.", "It happened nineteen times.", "Then came Gwendolen.",
    "I said “never in my life”.", "That was on Wednesday.", "I wrote on 9 August.",
    "See www.mine.example.",
)  # fmt: skip


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_natural_retelling_passes_and_any_fact_added_to_it_is_found(
    before: str, after: str
) -> None:
    assert changed_facts(before, after) == []
    assert [one for one in PLANTED if not changed_facts(before, f"{after} {one}")] == []
    numbers = list(re.finditer(r"\d+", after))
    for found in numbers:
        other = f"{after[: found.start()]}{int(found[0]) + 1}{after[found.end() :]}"
        assert changed_facts(before, other)
        without = f"{after[: found.start()]}some{after[found.end() :]}"
        is_told_again = [one[0] for one in numbers].count(found[0]) > 1
        assert changed_facts(before, without) or is_told_again


def test_quotation_may_end_in_different_punctuation() -> None:
    before = "I said “this is not my job, is it?” to her (as she said “never, ever.”)."
    after = "She said to me, “never, ever”, and I “this is not my job, is it” to her."
    assert changed_facts(before, after) == []
    assert changed_facts(before, after.replace("not my job", "my job"))
