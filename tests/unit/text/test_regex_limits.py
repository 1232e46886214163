import contextlib
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.regex_limits import checked_regex


@pytest.mark.parametrize(
    ("regex", "reason"),
    [
        ("(a", "is no regular expression: missing )"),
        ("[[a]", "is no regular expression: Possible nested set"),
        ("(?<=a|bc)d", "is no regular expression: look-behind requires fixed-width pattern"),
        ("a{0,9}", "matches the empty text"),
        ("a||b", "matches the empty text"),
        ("(a+)+b", "could be slow"),
        (r"\d*x", "could be slow"),
        (r"(?:\s*a)+b", "could be slow"),
        ("a{2,}", "could be slow"),
        ("(?:a{0,9}){0,9}b", "could be slow"),
        ("(?:a|a){9}(?:a|a){9}b", "could be slow"),
        ("a{1,30000}b", "could be slow"),
        ("(?:a?){40}b", "could be slow"),
        (r"(a)b\1", "uses flags, names or references"),
        ("(?i)a", "uses flags, names or references"),
        ("\brent", "holds a control character"),
        ("(?P<x>a)", "uses flags, names or references"),
    ],
)
def test_invalid_or_potentially_slow_regex_is_refused(regex, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        checked_regex(regex)


@pytest.mark.parametrize(
    "regex",
    [
        r"\b\d{1,2}[- ]?(?:year|yr)s?[- ]old\b",
        r"(?:\w{1,9} ){0,3}boiler",
        r"\$\d{1,5}[.+*]{1,2}",
        r"\(\?",
        "[]+*]x",
        "x{2}y{,2}z{ a{}",
        "colou?r(?! blind)(?<!red)",
        r"\bno\s+fault\b",
        "no *fault +eviction",
    ],
)
def test_bounded_regex_is_accepted(regex):
    assert checked_regex(regex) == regex


PARTS = st.sampled_from(
    r"a b ( (?: (?! ) | ? * {1,9} {0,9} {,3} { [ab] . \b \w \1 \\ ^ $ -".split()
)


@given(st.lists(PARTS, max_size=12).map("".join))
def test_accepted_regex_is_fast_on_hostile_text(regex):
    try:
        pattern = re.compile(checked_regex(regex))
    except ValueError:
        return
    start = time.process_time()
    for text in ("a" * 200, "ab" * 100):
        pattern.findall(text + "!")
    assert time.process_time() - start < 5


@given(st.text("ab()[]{}|?*+\\,.0123:=!<>^$-", max_size=20))
def test_any_text_is_accepted_or_raises_value_error(text):
    with contextlib.suppress(ValueError):
        assert checked_regex(text) == text
