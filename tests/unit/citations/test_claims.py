"""What a text claims with a citation: the whole sentence around it, without any mark."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.citations.claims import find_claims
from judge.citations.marks import find_marks


def claims(text: str) -> list[str]:
    return [claim.text for claim in find_claims(text, find_marks(text))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("They must repair it [1].", ["They must repair it."]),
        ("They must repair it. [1] You may wait.", ["They must repair it."]),
        ("They must [1] repair it within days.", ["They must repair it within days."]),
        ("[1] says they must repair it. You may wait.", ["says they must repair it."]),
        ("[1]", [""]),
        ("You may wait. They must, says [2], repair it.", ["They must, says, repair it."]),
        ("They must [1] repair it [2] soon.", ["They must repair it soon."] * 2),
        ("They must [1]. You may [2].", ["They must.", "You may."]),
        ("They must repair it.[1][2] You may wait.", ["They must repair it."] * 2),
        ("No full stop [1] but more text", ["No full stop but more text"]),
        ("They said no", []),
    ],
)
def test_a_claim_is_the_sentence_of_its_mark_to_its_very_end(text: str, found: list[str]) -> None:
    assert claims(text) == found


def test_each_claim_carries_its_own_mark() -> None:
    text = "They must [1]. You may [2, 3]."
    assert [claim.mark.numbers for claim in find_claims(text, find_marks(text))] == [(1,), (2, 3)]


@given(
    st.lists(
        st.sampled_from(["[1]", "[2, 3]", "【4】", "They must", "repair", ".", "?", " ", "\n",
        "e.g.", "é"]), max_size=25,
    ).map("".join)
)  # fmt: skip
def test_every_mark_has_one_claim_of_the_words_of_its_text(text: str) -> None:
    marks = find_marks(text)
    found = list(find_claims(text, marks))
    assert [claim.mark for claim in found] == marks
    for claim in found:
        assert not find_marks(claim.text)
        assert "".join(claim.text.split()) in _without_marks(text)


def _without_marks(text: str) -> str:
    for mark in reversed(find_marks(text)):
        text = text[: mark.start] + text[mark.end :]
    return "".join(text.split())


def test_of_several_marks_in_a_sentence_each_carries_the_words_before_it() -> None:
    text = "The boiler is your landlord's job [1], and a cold home is put right in two days [2]."
    assert [claim.text for claim in find_claims(text, find_marks(text))] == [
        "The boiler is your landlord's job",
        "and a cold home is put right in two days.",
    ]


def test_marks_side_by_side_carry_the_same_words() -> None:
    text = "It is the landlord's duty to repair boilers [1] [2] and pipes."
    first, second = find_claims(text, find_marks(text))
    assert first.text == second.text == "It is the landlord's duty to repair boilers and pipes."


def test_a_part_that_says_too_little_alone_stands_for_its_sentence() -> None:
    text = "Yes [1], your landlord must repair the boiler this week [2]."
    assert next(find_claims(text, find_marks(text))).text == (
        "Yes, your landlord must repair the boiler this week."
    )
