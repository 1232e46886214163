"""The claim of a citation: the whole sentence around it, without citations."""

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
        ("[1], so you may wait.", ["so you may wait."]),
        ("They said no", []),
    ],
)
def test_claim_is_the_whole_sentence_of_its_citation(text: str, found: list[str]) -> None:
    assert claims(text) == found


@given(
    st.lists(
        st.sampled_from(["[1]", "[2, 3]", "【4】", "They must", "repair", ".", "?", " ", "\n",
        "e.g.", "é"]), max_size=25,
    ).map("".join)
)  # fmt: skip
def test_every_citation_has_one_claim_with_words_of_the_text(text: str) -> None:
    marks = find_marks(text)
    found = list(find_claims(text, marks))
    assert [claim.mark for claim in found] == [*marks]
    for claim in found:
        assert not find_marks(claim.text)
        assert "".join(claim.text.split()) in _without_marks(text)


def _without_marks(text: str) -> str:
    for mark in reversed(find_marks(text)):
        text = text[: mark.start] + text[mark.end :]
    return "".join(text.split())


def test_short_part_of_a_sentence_is_extended_to_the_sentence() -> None:
    text = "Yes [1], your landlord must repair the boiler this week [2]."
    assert next(find_claims(text, find_marks(text))).text == (
        "Yes, your landlord must repair the boiler this week."
    )
