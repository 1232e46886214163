"""Synonyms, and how a sentence is split into tokens."""

import pytest

from judge.citations.reading import read
from judge.citations.vocabulary import lexeme_of, plain, statement_tokens, vocabulary

SAME = """
They are doing away with the fee. | They are abolishing the fee.
He does away with fees. | He abolishes fees.
They are taking off the door. | They are removing the door.
He takes off the door. | He removes the door.
They turned down the offer. | They refused the offer.
They call off the party. | They cancel the party.
The home is safer. | The home is safe.
The room is cheaper. | The room is cheap.
The room is drier. | The room is dry.
The room is wetter. | The room is wet.
Rents go up each year. | Rents increase each year.
""".strip().splitlines()


@pytest.mark.parametrize("row", SAME)
def test_synonyms_are_read_as_one_word(row: str) -> None:
    one, other = (read(text).words for text in row.split(" | "))
    assert [(w.lexeme.concept, w.lexeme.sign) for w in one] == [
        (w.lexeme.concept, w.lexeme.sign) for w in other
    ]


@pytest.mark.parametrize("word", ["her", "water", "river", "letter", "partner", "lawyer", "carer"])
def test_not_every_word_in_er_is_a_degree_of_another(word: str) -> None:
    known = lexeme_of(word)
    assert (known.concept, known.sign) == (known.stem, 1)


def test_contracted_negations_are_written_out() -> None:
    text = "We haven’t, can't, won`t, shan‘t, cannot and MUSTN'T"
    assert plain(text) == "we have not, can not, will not, shall not, can not and must not"
    assert plain("It's fee-free, rent-free and free.") == "it's without fee, without rent and free."


def test_a_sentence_is_cut_into_words_numbers_and_marks() -> None:
    told = statement_tokens("You dont (yet) owe £1,200.50 – or 5% – for the tenant's café!")
    assert told == ("you do not ( yet ) owe £1,200.50 – or 5% – for the tenant's café !".split())


def test_a_table_is_read_to_its_300th_word() -> None:
    assert len(statement_tokens("word " * 400)) == 300


def test_words_on_the_same_side_are_not_antonyms() -> None:
    tenant = vocabulary().contraries["tenant"]
    assert "landlord" in tenant
    assert tenant.isdisjoint({"tenant", "renter", "lodger"})
    assert "accept" in vocabulary().opposites["refus"]
    assert "reject" not in vocabulary().opposites["refus"]
