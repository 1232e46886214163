"""Texts that repeat themselves or the prompt, distinguished from ordinary guidance."""

import pytest

from judge.judging.verdicts import check
from judge.text.english import words

PLAIN = "Your landlord has to mend the boiler, and you may ask the council for help if they do not."


def repeats_itself(text: str) -> bool:
    return check.repeats_itself(words(text))


def repeats_prompt(text: str, instructions: str) -> bool:
    return check.repeats_prompt(words(text), instructions)


REPETITIVE = (
    "You, you, you, Yes.",
    "Talk to them. Talk to them. Talk to them.",
    "You should wait and you should wait and you should wait and that is all.",
    "yes no yes no no yes yes no no yes no yes",
    "You want it mended soon by them, please do. " * 3,
)
PLAIN_TEXTS = (
    "", "…", "x" * 2000, PLAIN, "That is very, very kind.", "Talk to them. Talk to them again.",
    "No means no.", "Document, document, document.", "No, no, no.",
    "Bit by bit and day by day by day.", "a b c a c b a b c b a c",
    "It is £1,000,000,000.", "a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h",
)  # fmt: skip


def test_repetitive_text_is_told_from_a_phrase_said_twice() -> None:
    assert [text for text in REPETITIVE if not repeats_itself(text)] == []
    assert [text for text in PLAIN_TEXTS if repeats_itself(text)] == []


@pytest.mark.parametrize(("size", "is_seen"), [(1, True), (40, True), (41, False)])
def test_word_four_times_or_phrase_of_up_to_forty_words_three_times_is_detected(
    size: int, is_seen: bool
) -> None:
    phrase = " ".join(f"w{n}" for n in range(size))
    assert repeats_itself(" ".join([phrase] * (4 if size == 1 else 3))) is is_seen
    assert not repeats_itself(f"{phrase} {phrase} {phrase[:-1]}x")


def test_twelve_words_of_the_instructions_repeat_them_but_eleven_do_not() -> None:
    ours = "one two three four five six seven eight nine ten eleven twelve thirteen"
    twelve = "two three four five six seven eight nine ten eleven twelve thirteen"
    assert repeats_prompt(f"He said: {twelve.upper()}!", ours)
    assert not repeats_prompt(twelve.removeprefix("two "), ours)
    assert not repeats_prompt(twelve.replace("seven", "eleven"), ours)
