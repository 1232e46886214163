"""The words of a dispute as everything is compared with them."""

from judge.judging.dispute import fold, read_dispute


def test_whatever_is_typed_for_an_apostrophe_is_one() -> None:
    for typed in (
        "won`t",
        "won’t",
        "won‘t",
        "WON\u00b4T",
        "café won`t",
        "won\u2032t",
        "won\u201bt",
    ):
        assert fold(typed).endswith("won't")


def test_a_text_is_folded_onto_one_line_in_small_plain_letters() -> None:
    assert fold(" My\n\tBOILER\u200b is ﬁne ").strip() == "my boiler is fine"


def test_a_hyphen_that_does_not_break_is_one() -> None:
    assert fold("self\u2011harm") == fold("self\u2010harm") == "self-harm"


def test_words_keep_their_inner_apostrophes_and_sentences_their_ends() -> None:
    context = read_dispute("'I won't,' he said. \"It's the dogs'!\"", "Am I wrong?").context
    assert context.words == ("i", "won't", "he", "said", "it's", "the", "dogs")
    assert context.ends == {4, 7}


def test_the_question_is_read_before_what_happened() -> None:
    assert read_dispute("It broke.", "Am I wrong?").folded == "am i wrong? it broke."
