"""Citation marks: understood exactly, or reported as malformed."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.citations.marks import find_marks


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("[1]", [(1,)]),
        ("as they say [1, 3].", [(1, 3)]),
        ("[1][3]", [(1,), (3,)]),
        ("[1-3]", [(1, 2, 3)]),
        ("[1–3]", [(1, 2, 3)]),
        ("【1】", [(1,)]),
        ("［２］", [(2,)]),
        ("[ 1 ]", [(1,)]),
        ("[1 and 2]", [(1, 2)]),
        ("[1;2 & 3]", [(1, 2, 3)]),
        ("[2, 2]", [(2,)]),
        ("word[1]word", [(1,)]),
        ("[[1]]", [(1,)]),
        ("[1](https://evil.example)", [(1,)]),
        ("[0] [9] [2024]", [(0,), (9,), (2024,)]),
        ("[1\n]", [(1,)]),
    ],
)
def test_well_formed_marks_give_their_numbers(text: str, numbers: list[tuple[int, ...]]) -> None:
    assert [mark.numbers for mark in find_marks(text)] == numbers


@pytest.mark.parametrize(
    "text",
    [
        "[-1]", "[1.5]", "[^1]", "[ref 2]", "[Reference 2]", "[source: 3]", "[#1]", "[¹]", "[①]",
        "[3-1]", "[1-1000000]", "[99999999999999]", "[1,]", "[(1)]", "[1†source]", "【4:0†file】",
        "[" + "9" * 5000 + "]", "[1, 2,]", "[no. 1]", "[1 2]",
    ],
)  # fmt: skip
def test_a_number_in_brackets_that_names_no_reference_is_malformed(text: str) -> None:
    assert [mark.is_malformed for mark in find_marks(text)] == [True]


@pytest.mark.parametrize(
    "text", ["[sic]", "[...]", "[]", "[2 weeks]", "[section 21]", "(1)", "1]", "[1", "[a1]", "]1["]
)
def test_other_brackets_are_prose(text: str) -> None:
    assert find_marks(text) == []


def test_offsets_count_code_points() -> None:
    text = "😀 é [1] and 【2】"
    assert [text[mark.start : mark.end] for mark in find_marks(text)] == ["[1]", "【2】"]


@given(st.text(alphabet="[]【】 0123456789,-–;and†^x\n", max_size=120))
def test_every_mark_is_a_bracket_of_the_text(text: str) -> None:
    for mark in find_marks(text):
        assert text[mark.start : mark.end] == mark.text
        assert mark.text[0] in "[【"
        assert mark.text[-1] in "]】"
        assert all(str(number) in mark.text or "-" in mark.text or "–" in mark.text
                   for number in mark.numbers[:1])  # fmt: skip


@pytest.mark.parametrize(
    "unit", ["[", "[1", "[1 ", " ", "[1,", "- ", "and ", ".", "†", "[n", "1", "(", "[1]", "【"]
)
def test_time_is_linear_in_the_length_of_the_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text = "[1" + unit * (size // len(unit)) + "x]"
        started = time.process_time()
        find_marks(text)
        return time.process_time() - started

    # Ten times the text may take ten times as long; a quadratic pattern would take a hundred.
    assert min(seconds(300_000) for _ in range(2)) < 40 * max(seconds(30_000), 0.001)
