"""A dispute is folded and split into words before anything is compared with it."""

from judge.library.dispute import fold, read_dispute


def test_every_apostrophe_folds_to_the_straight_one() -> None:
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


def test_text_folds_to_one_line_of_plain_lower_case() -> None:
    assert fold(" My\n\tBOILER\u200b is ﬁne ").strip() == "my boiler is fine"


def test_invisible_characters_are_removed_from_any_text() -> None:
    for ending in ("", " – é"):
        assert fold(f"My land\x02lord hits\x08\n me{ending}") == f"my landlord hits me{ending}"


def test_non_breaking_hyphen_folds_to_a_hyphen() -> None:
    assert fold("self\u2011harm") == fold("self\u2010harm") == "self-harm"


def test_words_keep_inner_apostrophes_and_sentence_ends_are_known() -> None:
    context = read_dispute("'I won't,' he said. \"It's the dogs'!\"", "Am I wrong?").context
    assert context.words == ("i", "won't", "he", "said", "it's", "the", "dogs")
    assert context.ends == {4, 7}


def test_question_comes_before_the_context() -> None:
    assert read_dispute("It broke.", "Am I wrong?").folded == "am i wrong? it broke."
