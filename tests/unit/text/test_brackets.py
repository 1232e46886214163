"""Numbers in brackets become parenthesised in what comes from outside, and nothing else changes."""

from hypothesis import given
from hypothesis import strategies as st

from judge.citations.marks import find_marks
from judge.text.untrusted import in_parentheses, without_brackets

PIECES = st.sampled_from(
    ["[", "]", "{", "}", "【", "】", "⟦", "<", ">", "\\", "&#91;", "&rbrack;", "&amp;#93;", "&#10;",
     "&lt;", "&amp;", "%5B", "%5d", "%255B", "\\u005d", "(", ")", "](", "<sup>", "1", "23", "⁹",
     "½", "九", "a", "sic", " ", "\n", ".", ";", "#", "amp;", "x" * 45]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=60)
OPENED = {
    "a [2] b": "a (2) b",
    "{1} a ⟦2⟧": "(1) a (2)",
    "[[2]] and [sic]": "((2)) and [sic]",
    "[a [2] b]": "(a (2) b)",
    "a [2": "a (2",
    "see] b": "see) b",
    "\\[2\\]": "\\(2\\)",
    "&#91;2&rbrack; R&amp;D &lt;b&gt;": "(2) R&amp;D &lt;b&gt;",
    "%5B2%5D %20": "(2) %20",
    "[" * 60 + "3" + "]" * 60: "(" * 60 + "3" + ")" * 60,
    "&#91;" * 20 + "3" + "&#93;" * 20: "(" * 20 + "3" + ")" * 20,
}
UNCHANGED = (
    "", "a [sic] b", "(1) and (b) 2", "（1）", "1", "[]1[]", "3 < 5", "„1“ «2»",
    "&#8217;s 24 hours", "[sic] (1990)", "<b>14 days</b>", "AT&T has 1", "[a&#8217;b]",
)  # fmt: skip


def test_numbered_brackets_and_those_without_a_partner_become_parentheses() -> None:
    assert {text: in_parentheses(text) for text in OPENED} == OPENED
    assert [in_parentheses(text) for text in UNCHANGED] == list(UNCHANGED)


def test_every_bracket_can_be_replaced() -> None:
    assert without_brackets("[a] {1} &#91;b] (c) 【d】") == "(a) (1) (b) (c) (d)"


@given(TEXTS)
def test_in_parentheses_leaves_no_mark_and_is_idempotent(text: str) -> None:
    opened = in_parentheses(text)
    assert not find_marks(opened)
    assert in_parentheses(opened) == opened
