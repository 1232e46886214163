"""English: sentences, words, stems."""

import random
import string
from itertools import accumulate, pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from judge.text.english import (
    content_stems,
    fold_space,
    sentences,
    strip_invisible,
)


def split(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


def test_abbreviations_and_amounts_do_not_end_a_sentence() -> None:
    text = "It must work, e.g. the boiler. You pay £5.50, i.e. 6, under s. 11. Ask Mr. Smith!"
    assert split(text) == [
        "It must work, e.g. the boiler.",
        "You pay £5.50, i.e. 6, under s. 11.",
        "Ask Mr. Smith!",
    ]


def test_abbreviation_in_wrapped_text_does_not_end_a_sentence() -> None:
    for text in (
        "Then ask\nDr. Pike for it.",
        "Open till 9 p.m.\n   every day.",
        "At 9 p.m.  daily.",
    ):
        assert len(sentences(text)) == 1
    assert len(sentences("Till 9 p.m.\n\nevery day.")) == 2


def test_the_answer_no_is_a_sentence_but_no_4_is_not() -> None:
    assert split("No. Ask them. It is No. 4 here.") == ["No.", "Ask them.", "It is No. 4 here."]


def test_marks_after_a_full_stop_belong_to_the_sentence_before_them() -> None:
    assert split("They must repair it. [1] [2] You may wait.") == [
        "They must repair it. [1] [2]",
        "You may wait.",
    ]
    many = f"They must repair it. [{', '.join(map(str, range(1, 20)))} and 20]"
    assert split(f"{many} You may wait.") == [many, "You may wait."]


def test_sentences_of_guidance_are_told_apart_in_any_order() -> None:
    told = Path("tests/fixtures/guidance_sentences.txt").read_text(encoding="utf-8").splitlines()
    right = found = 0
    for seed in range(5):
        random.Random(seed).shuffle(told)
        ends = set(accumulate((len(sentence) + 1 for sentence in told), initial=-1))
        given = {span.end for span in sentences(" ".join(told))}
        right, found = right + len(given & ends), found + len(given)
    assert right / found >= 0.99
    assert right / (5 * len(told)) >= 0.99


@given(st.text(alphabet=string.ascii_letters + ".!? []1\n’'", max_size=200))
def test_sentences_have_every_word_once_and_in_order(text: str) -> None:
    spans = sentences(text)
    assert "".join("".join(split(text)).split()) == "".join(text.split())
    assert all(a.end <= b.start for a, b in pairwise(spans))


def test_content_stems_leave_function_words_out_and_keep_negations() -> None:
    assert content_stems("They must not have repaired the boilers") == ["not", "repair", "boiler"]


def test_invisible_characters_are_removed_and_white_space_is_kept() -> None:
    assert strip_invisible("a\u200bb\u202ec\x00d\ue000 e\nf\u2028g") == "abcd e\nf\u2028g"


def test_every_kind_of_white_space_folds_to_one_space() -> None:
    assert fold_space(" a\u00a0\u2028b\t\r\nc ") == "a b c"
