"""Texts that repeat themselves or the prompt, distinguished from ordinary guidance."""

import pytest

from judge.judging.verdicts import check
from judge.text.english import words

PLAIN = "Your landlord has to mend the boiler, and you may ask the council for help if they do not."


def repeats_itself(text: str) -> bool:
    return check.repeats_itself(words(text))


def repeats_prompt(text: str, instructions: str) -> bool:
    return check.repeats_prompt(words(text), instructions)


@pytest.mark.parametrize(
    "text",
    [
        "You, you, you, Yes.",
        "Talk to them. Talk to them. Talk to them.",
        "You should wait and you should wait and you should wait and that is all.",
        "so it is so it is so it is",
        "yes no yes no no yes yes no no yes no yes",
        "You want it mended soon by them, please do. " * 3,
    ],
)
def test_repetitive_text_is_detected(text: str) -> None:
    assert repeats_itself(text)
    assert repeats_itself(f"{PLAIN} {text}") or "no no" in text


@pytest.mark.parametrize(
    "text",
    [
        "", "…", "x" * 2000, PLAIN, "That is very, very kind.",
        "Talk to them. Talk to them again.", "No means no.", "Bit by bit and day by day by day.",
        "a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h", "a b c a c b a b c b a c",
    ],
)  # fmt: skip
def test_text_with_a_phrase_said_twice_is_not_repetitive(text: str) -> None:
    assert not repeats_itself(text)


@pytest.mark.parametrize(("size", "is_seen"), [(1, True), (40, True), (41, False)])
def test_phrase_of_up_to_forty_words_is_detected_three_times_in_a_row(
    size: int, is_seen: bool
) -> None:
    phrase = " ".join(f"w{n}" for n in range(size))
    assert repeats_itself(f"{phrase} {phrase} {phrase}") is is_seen
    assert not repeats_itself(f"{phrase} {phrase} {phrase[:-1]}x")


def test_twelve_words_of_the_instructions_repeat_them_but_eleven_do_not() -> None:
    ours = "one two three four five six seven eight nine ten eleven twelve thirteen"
    twelve = "two three four five six seven eight nine ten eleven twelve thirteen"
    assert repeats_prompt(f"He said: {twelve.upper()}!", ours)
    assert not repeats_prompt(twelve.removeprefix("two "), ours)
    assert not repeats_prompt(twelve.replace("seven", "eleven"), ours)
