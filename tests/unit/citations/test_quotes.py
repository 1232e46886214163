"""Quotes: verified, repaired with the page's own words, or unverified."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.citations.quotes import check_quote
from judge.text.english import fold_space

PAGE = (
    "Your landlord must not enter the property without 24 hours’ written notice – unless there "
    "is an emergency. They are always responsible for repairs to the boiler, pipes and wiring."
)


@pytest.mark.parametrize(
    "quote",
    [
        "always responsible for repairs to the boiler",
        "24 hours' written notice - unless",
        "  always  responsible\nfor repairs ",
        '"always responsible for repairs..."',
        "They are always",
    ],
)
def test_a_quote_found_after_folding_is_verified_in_the_words_of_the_page(quote: str) -> None:
    checked = check_quote(quote, PAGE)
    assert checked.status == "verified"
    assert checked.text is not None
    assert checked.text in PAGE


@pytest.mark.parametrize(
    "quote",
    [
        "They are always responsible for repair to the boiler, pipes and wiring",
        "They are always responsible for repairs to a boiler, pipes and wiring",
        "they are Always responsible for repairs to the boiler",
    ],
)
def test_a_quote_that_is_nearly_there_is_repaired(quote: str) -> None:
    checked = check_quote(quote, PAGE)
    assert checked.status == "repaired"
    assert checked.text is not None
    assert checked.text in PAGE
    assert "responsible for repairs to the boiler" in checked.text


def test_a_quote_that_cuts_words_is_given_whole_ones() -> None:
    checked = check_quote("ways responsible for repairs to the boil", PAGE)
    assert checked.text == "always responsible for repairs to the boiler"
    assert checked.status == "repaired"


@pytest.mark.parametrize(
    ("quote", "why"),
    [
        ("Your landlord must enter the property without 24 hours' written notice", "not dropped"),
        ("Your landlord must not enter the property without 14 hours' written notice", "number"),
        ("Your landlord must not enter the property with 24 hours' written notice", "without"),
        ("Your landlord may not enter the property without 24 hours' written notice", "may"),
        ("They are always irresponsible for repairs to the boiler, pipes and wiring", "prefix"),
        ("They are never responsible for repairs to the boiler, pipes and wiring", "never"),
        ("They aren't always responsible for repairs to the boiler, pipes and wiring", "n't"),
        ("Your landlord must pay you compensation for every day", "invented"),
        ("Your landlord must not enter the property. They are always responsible", "stitched"),
        ("the boiler", "too short"),
        ("for repair to the", "too short to repair"),
        ("", "empty"),
        ("...", "only punctuation"),
        (PAGE + PAGE, "longer than the page"),
        ("x " * 500_000, "huge"),
    ],
)
def test_a_quote_whose_meaning_is_not_on_the_page_is_unverified(quote: str, why: str) -> None:
    assert check_quote(quote, PAGE).status == "unverified", why


@given(st.data())
def test_any_run_of_three_words_of_a_page_is_verified(data: st.DataObject) -> None:
    tokens = PAGE.split()
    start = data.draw(st.integers(0, len(tokens) - 4))
    end = data.draw(st.integers(start + 4, len(tokens)))
    # One more than three, since a dash is a token here and no word.
    assert check_quote(" ".join(tokens[start:end]), PAGE).status == "verified"


@given(st.text(max_size=80), st.text(max_size=80))
def test_whatever_is_given_the_text_comes_from_the_reference(quote: str, reference: str) -> None:
    checked = check_quote(quote, reference)
    assert (checked.text is None) == (checked.status == "unverified")
    assert checked.text is None or checked.text in fold_space(reference)


def test_a_negation_that_is_lost_is_not_made_up_for_by_another_one() -> None:
    page = "Your employer may not treat you badly for saying no. Tell them in writing."
    quote = "Your employer may treat you badly for saying no"
    assert check_quote(quote, page).status == "unverified"
    assert check_quote("Your employer may never treat you badly for saying no", page).text == (
        "Your employer may not treat you badly for saying no"
    )
