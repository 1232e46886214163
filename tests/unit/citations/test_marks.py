"""Citation marks are parsed exactly or reported as malformed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.citations.marks import find_bare_citations, find_marks


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
        ("〔2〕", [(2,)]),
        ("[ 1 ]", [(1,)]),
        ("[1 and 2]", [(1, 2)]),
        ("[1;2 & 3]", [(1, 2, 3)]),
        ("[1-2, 5]", [(1, 2, 5)]),
        ("[2, 2]", [(2,)]),
        ("[3, 1]", [(3, 1)]),
        ("word[1]word", [(1,)]),
        ("[[1]]", [(1,)]),
        ("([1])", [(1,)]),
        ("**[1]**", [(1,)]),
        ("[1](https://evil.example)", [(1,)]),
        ("[1](#ref-1) [[12]](#cite_12)", [(1,), (12,)]),
        ("[0] [9] [2024]", [(0,), (9,), (2024,)]),
        ("[1-20]", [tuple(range(1, 21))]),
        ("[1\n]", [(1,)]),
    ],
)
def test_well_formed_marks_give_their_numbers(text: str, numbers: list[tuple[int, ...]]) -> None:
    assert [mark.numbers for mark in find_marks(text)] == numbers


@pytest.mark.parametrize(
    "text",
    [
        "[-1]", "[1.5]", "[^1]", "[ref 2]", "[Reference 2]", "[source: 3]", "[#1]", "[¹]", "[①]",
        "[3-1]", "[1-21]", "[1-1000000]", "[99999999999999]", "[1,]", "[(1)]", "[1†source]",
        "【4:0†file】", "[" + "9" * 5000 + "]", "[1, 2,]", "[no. 1]", "[1 2]", "[1-2-3]",
        "[1 or 9]", "[1 to 9]", "[1/9]", "[9a]", "[a1]", "[see 9]", "[9: gov.uk]", "[9, p. 4]",
        "['9']", "[_9_]", "[Ref9]", "\\[9\\]", "⟦9⟧", "〖9〗", "{1}", "‹1›", "<1>", "⟨1⟩", "⁽¹⁾",
        "[1】", "【1]", "[1", "1]", "[2 weeks]", "[section 21]", "&#91;1&#93;", "%5B1%5D",
        "\\u005b1\\u005d", "[½]", "[Ⅸ]", "<cite>1</cite>", "[here](#1)",

    ],
)  # fmt: skip
def test_a_number_in_any_other_bracket_is_malformed(text: str) -> None:
    marks = find_marks(text)
    assert marks
    assert all(mark.is_malformed for mark in marks)


def test_a_citation_that_leads_to_the_entry_of_another_number_is_malformed() -> None:
    for text in ("[1](#ref-2)", "[1](#ref-11)", "[11](#ref-1)", "[1](#ref-1-2)"):
        assert [mark.is_malformed for mark in find_marks(text)] == [False, True]


@pytest.mark.parametrize(
    "text",
    ["[sic]", "[...]", "[]", "(1)", "{sic}", "[a] 1 [b]", "]a[", "2 < 3", "“1”", "[sic] (9)"],
)
def test_brackets_without_digits_and_parentheses_are_prose(text: str) -> None:
    assert find_marks(text) == []


def test_offsets_count_code_points() -> None:
    text = "😀 é [1] and 【2】"
    assert [text[mark.start : mark.end] for mark in find_marks(text)] == ["[1]", "【2】"]


@given(st.text(alphabet="[]【】⟦{}<> 0123456789,-–;and†^x\\\n", max_size=120))
def test_every_mark_is_a_bracket_of_the_text_and_names_only_its_numbers(text: str) -> None:
    for mark in find_marks(text):
        assert text[mark.start : mark.end] == mark.text
        assert any(character.isdigit() for character in mark.text)
        if not mark.is_malformed:
            assert mark.text[0] + mark.text[-1] in {"[]", "【】"}
            assert text[mark.start - 1 : mark.start] != "\\"
            assert str(mark.numbers[0]) in mark.text
            assert str(mark.numbers[-1]) in mark.text


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=6), st.sampled_from([", ", ",", "; ", "&"])
)
def test_a_list_gives_each_number_once_in_its_order(numbers: list[int], between: str) -> None:
    (mark,) = find_marks(f"so [{between.join(map(str, numbers))}].")
    assert mark.numbers == tuple(dict.fromkeys(numbers))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is theirs (9).", ["(9)"]),
        ("It is theirs (9), and (8); so", ["(9)", "(8)"]),
        ("It is theirs (1, 9).", ["(1, 9)"]),
        ("It is theirs *(9)*.", ["(9)"]),
        ("It is theirs (see 9)", ["(see 9)"]),
        ("It is theirs（9）.", ["（9）"]),
        ("See ref. 9 there", ["ref. 9"]),
        ("See reference no. 9 and source 2", ["reference no. 9", "source 2"]),
        ("It is theirs.⁹ Or theirs⁸", ["⁹", "⁸"]),
        ("It is theirs ⑨ or 9\u20e3", ["⑨", "9\u20e3"]),
        ("It is theirs^9", ["^9"]),
        ("It is theirs [1]-9", ["]-9"]),
    ],
)
def test_citation_without_brackets_is_found(text: str, found: list[str]) -> None:
    assert find_bare_citations(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "Under section 21 (1).", "Under section 4(2), it is.", "within 14 days (2 weeks).",
        "(9) So it is", "First (1) write, then (2) wait.", "a room of 9 m²", "in (2024).",
        "reference number 12345", "It is theirs [1].", "the sources are 9",
        "See [1] 14 days later", "£9 (nine pounds).", "x^y",
    ],
)  # fmt: skip
def test_ordinary_prose_cites_nothing(text: str) -> None:
    assert find_bare_citations(text) == []
