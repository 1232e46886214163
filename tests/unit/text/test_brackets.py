"""Brackets that contain a digit are found in any script, and defused in untrusted text."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.brackets import in_parentheses, numbered_brackets

PROSE = frozenset("()（）﹙﹚")
OPENING, CLOSING = (
    [
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(character) == category
        and character not in PROSE
        and not unicodedata.name(character).endswith("QUOTATION MARK")
    ]
    for category in ("Ps", "Pe")
)
PIECES = st.sampled_from(
    ["[", "]", "{", "}", "【", "】", "⟦", "\u2329", "<", ">", "‹", "›", "\\", "&#91;", "&rbrack;",
     "&amp;#93;", "&#10;", "&lt;", "&gt;", "&#1;", "&amp;", "%5B", "%5d", "%255B", "\\u005d", "(",
     ")", "](", "<sup>", "</sup>", "<cite>", "1", "23", "⁹", "½", "九", "a", "sic", " ", "\n", ".",
     "/", ";", "#", "amp;", "x" * 45]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=60)


@pytest.mark.parametrize("opening", OPENING, ids=unicodedata.name)
def test_number_after_any_opening_sign_is_in_a_bracket(opening: str) -> None:
    assert [found.text for found in numbered_brackets(f"a {opening}9")] == [f"{opening}9"]


@pytest.mark.parametrize("closing", CLOSING, ids=unicodedata.name)
def test_number_before_any_closing_sign_is_in_a_bracket(closing: str) -> None:
    (found,) = numbered_brackets(f"a 9{closing}")
    assert found.text.endswith(f"9{closing}")
    assert not found.is_plain


@pytest.mark.parametrize(
    ("text", "found", "is_plain"),
    [
        ("a [1] b", "[1]", True),
        ("a [see 9, p. 4] b", "[see 9, p. 4]", True),
        ("a [1】 b", "[1】", True),
        ("a [⁹] b", "[⁹]", True),
        ("a \\[1\\] b", "[1\\]", False),
        ("a [1", "[1", False),
        ("a [1 [b]", "[1 ", False),
        ("1] a", "1]", False),
        ("[a] 1] b", " 1]", False),
        ("a <1> b", "<1>", False),
        ("a < 1 > b", "< 1 >", False),
        ("a <see 1> b", "<see 1>", False),
        ("a <!-- 1 --> b", "<!-- 1 -->", False),
        ("a <cite>b 1</cite>", "<cite>b 1", False),
        ("a <i>1</i>", "<i>1</", False),
        ("a &lt;1&gt; b", "&lt;1&gt;", False),
        ("a &#91;1&#93; b", "&#91;1&#93;", True),
        ("a [&#9;] b", "[&#9;]", True),
        (f"a [{'a' * 45} 9 [sic]] b", f"[{'a' * 45} 9 [sic]]", False),
        (f"[ a [b [sic], 9, {'a' * 45}]", f"[b [sic], 9, {'a' * 45}]", False),
        ("a [&#1] b", "[&#1]", True),
        ("a &amp;lbrack;1]", "&amp;lbrack;1]", True),
        ("a %5B1%5d", "%5B1%5d", True),
        ("a [here](#note-1) b", "](#note-1)", False),
        ("[" + "a" * 45 + "1]", "[" + "a" * 45 + "1]", True),
    ],
)
def test_numbered_bracket_is_found_with_its_position(text: str, found: str, is_plain: bool) -> None:
    (bracket,) = numbered_brackets(text)
    assert (bracket.text, bracket.is_plain) == (found, is_plain)
    assert text[bracket.start : bracket.end] == bracket.text


@pytest.mark.parametrize(
    "text",
    [
        "", "a [sic] b", "(1) and (b) 2", "（1）", "1", "[]1[]", "3 < 5", "if 3 < 5 and x > 2",
        "„1“", "&#8217;s 24 hours", "&#1; costs 24 hours", "[here](https://a.example/1)",
        "[sic] (1990)", "<b>14 days</b>", "AT&T has 1", "[" + "a" * 45 + "1",
        "1" + "a" * 45 + "]", "[a&#8217;b]",
    ],
)  # fmt: skip
def test_prose_has_no_numbered_bracket(text: str) -> None:
    assert numbered_brackets(text) == []
    assert in_parentheses(text) == text


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("a [2] b", "a (2) b"),
        ("{1} a ⟦2⟧", "(1) a (2)"),
        ("[[2]] and [sic]", "((2)) and [sic]"),
        ("[a [2] b]", "(a (2) b)"),
        ("a [2", "a (2"),
        ("\\[2\\]", "\\(2\\)"),
        ("&#91;2&rbrack; R&amp;D &lt;b&gt;", "(2) R&amp;D &lt;b&gt;"),
        ("[2&#10;b]", "(2&#10;b)"),
        ("%5B2%5D %20", "(2) %20"),
        ("a <2> ‹3› «4»", "a (2) (3) (4)"),
        ("[" * 60 + "3" + "]" * 60, "(" * 60 + "3" + ")" * 60),
        ("&#91;" * 20 + "3" + "&#93;" * 20, "(" * 20 + "3" + ")" * 20),
    ],
)
def test_only_numbered_brackets_become_parentheses(text: str, opened: str) -> None:
    assert in_parentheses(text) == opened


@given(TEXTS)
def test_in_parentheses_leaves_no_numbered_bracket_and_is_idempotent(text: str) -> None:
    opened = in_parentheses(text)
    assert numbered_brackets(opened) == []
    assert in_parentheses(opened) == opened
    assert opened == text or numbered_brackets(text)
