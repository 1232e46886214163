"""How far the sentences of a source support a claim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.citations.support import Support, support

BOILER = "Your landlord must keep the boiler, the heating and the hot water in working order."
NOTICE = "Your landlord must give you at least 24 hours' notice before visiting."
RENT = "Keep paying your rent: if you stop, you can lose your home."
PAGE = [BOILER, NOTICE, RENT]

TEXTS = st.text(max_size=200) | st.lists(
    st.sampled_from(
        "you your landlord tenant must not can cannot n't unless if only without before after 14 "
        "£20 days every two weeks more than is , : ; ( ) . - ' ’ 1,5 2024 May".split()
    ),
    max_size=40,
).map(" ".join)


def contradicts(claim: str, sentences: list[str]) -> bool:
    return support(claim, sentences).contradicts


def score(claim: str, sentences: list[str] = PAGE) -> float:
    found = support(claim, sentences).score
    assert found is not None
    return found


@pytest.mark.parametrize("at", range(3))
def test_sentence_of_the_source_has_full_support_and_is_found(at: int) -> None:
    assert support(PAGE[at], PAGE) == Support(1.0, contradicts=False, sentence=at)


def test_a_number_that_the_source_lacks_costs_more_than_a_word() -> None:
    said = "The boiler must be kept in working order by the landlord"
    assert score(f"{said} for 12 winters.") < score(f"{said} for many winters.")


def test_a_name_that_the_source_lacks_costs_more_than_a_word() -> None:
    said = "The boiler must be kept in working order by"
    assert score(f"{said} Worcester.") < score(f"{said} plumbers.")


def test_a_short_form_of_function_words_is_no_word_that_the_source_lacks() -> None:
    said = "{} able to lose your home when you stop the rent."
    assert score(said.format("You’re")) == score(said.format("You are"))
    assert score(said.format("It’ll be")) == score(said.format("It will be"))


def test_a_number_in_other_words_is_not_missing() -> None:
    source = ["The seller must refund you within 14 days."]
    assert score("The seller must refund you within two weeks.", source) > score(
        "The seller must refund you within three weeks.", source
    )


def test_claim_over_two_sentences_has_less_support_than_one_in_a_single_sentence() -> None:
    whole = "Landlords must keep boilers working and give tenants 24 hours' notice."
    assert score(whole, [whole, RENT]) > score(whole, [BOILER, NOTICE, RENT])


@given(TEXTS)
def test_every_text_supports_itself_without_contradiction(text: str) -> None:
    found = support(text, [text])
    assert not found.contradicts
    assert found.score in {None, 1.0}


@given(claim=TEXTS, sentences=st.lists(TEXTS, max_size=3))
def test_the_claim_itself_among_the_sentences_is_never_contradicted(
    claim: str, sentences: list[str]
) -> None:
    assert not contradicts(claim, [*sentences, claim])
