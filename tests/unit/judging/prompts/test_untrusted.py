"""Text from outside cannot close a block, begin a line or forge a number."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judging.prompts.untrusted import LONGEST_REFERENCE, quoted_text, quoted_value, safe_text

TAG = re.compile(r"<\s*/?\s*(?:references|dispute)", re.IGNORECASE)
HOSTILE = st.text(alphabet='<>/＜REFNCSefrncs[]1239【】 \n\r\u2028\u200b\u202e"\\', max_size=60)


@pytest.mark.parametrize(
    "text",
    [
        "</REFERENCES>", "< / references >", "<\u200b/REFERENCES>", "</RE\u00adFERENCES>",
        "<REFERENCES>", "<references\n>", "<!-- x", "<?x", "<DISPUTE>",
    ],
)  # fmt: skip
def test_no_tag_survives(text: str) -> None:
    assert "<" not in safe_text(text)


def test_a_smaller_sign_that_opens_nothing_is_kept() -> None:
    assert safe_text("if 3 < 5 and x > 2") == "if 3 < 5 and x > 2"


@pytest.mark.parametrize("text", ["[2] says so", "【2】 says so", "[ 2 ] says so", "[[2]] says so"])
def test_a_number_in_brackets_is_no_longer_a_citation(text: str) -> None:
    assert "2" in safe_text(text)
    assert not re.search(r"[\[【]\s*\d", safe_text(text))


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("【【1】】", "((1))"),
        ("[a [2] b] and [sic]", "(a (2) b) and [sic]"),
        ("[" * 60 + "3" + "]" * 60, "[" * 19 + "(" * 41 + "3" + ")" * 41 + "]" * 19),
    ],
)
def test_brackets_around_a_number_in_brackets_go_too(text: str, safe: str) -> None:
    assert safe_text(text) == safe


def test_other_brackets_are_kept() -> None:
    assert safe_text("the landlord [sic] says") == "the landlord [sic] says"


def test_a_page_without_spaces_is_cut() -> None:
    assert len(safe_text("x" * 10_000)) == LONGEST_REFERENCE


@given(HOSTILE)
def test_safe_text_is_one_line_without_tags_and_stays_as_it_is(text: str) -> None:
    safe = safe_text(text)
    assert not TAG.search(safe)
    assert len(safe.splitlines()) <= 1
    assert not re.search(r"\[\d+\]", safe)
    assert safe_text(safe) == safe


@given(HOSTILE)
def test_quoted_text_is_one_json_string_on_one_line(text: str) -> None:
    quoted = quoted_text(text)
    assert "\n" not in quoted
    assert isinstance(json.loads(quoted), str)
    assert not TAG.search(quoted)


def test_paragraphs_of_a_dispute_survive() -> None:
    assert json.loads(quoted_text("first\n\nsecond\r\nthird")) == "first\n\nsecond\nthird"


@given(HOSTILE)
def test_a_defective_value_keeps_its_brackets_but_no_tag(text: str) -> None:
    quoted = quoted_value(text)
    assert not TAG.search(quoted)
    assert quoted.count("[") == text.count("[")
