import re
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judge.library.dispute import fold
from judge.text.pattern_set import PatternSet, compile_folded, required_literals

REGEXES = (
    r"\bsection (?:8|21)\b",
    r"\b(?:he|she)(?:.s| is| was) (?:now |only )?(?:1[89]|[2-5]\d|twenty)\b(?! (?:days?|weeks?))",
    r"\b(?:afraid|scared) (?:of|near) (?:him|her|what (?:he|she)(?:'ll| will) do)\b",
    r"(?<!new )\bdd ?\(?[1-9]\b",
    r"\bleave$",
    r"\b(?:my|our) (?:\w{1,9} )?(?:flat|house)s?\b",
    r"[^!?;]{2,5}hit me",
    r"\bcall(?:ed|ing){1,2} (?:me )?\w+",
    r"a|bc+",
    r"\bcalled me (?:twenty days|only eighteen) (?:now|only)\b",
    r"Mum says",
)
WORDS = (
    "section 8 21 he she is was now only 18 25 twenty days afraid scared of him her what will do "
    "new twenty eighteen me called dd dd(3 leave my our old flat houses hit me called callinged a "
    "bcc he's mum says ; !"
).split()


TEXTS = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join) | st.text(max_size=60)


@given(TEXTS.map(fold))
@example("\0")
def test_pattern_set_finds_what_its_patterns_find_one_by_one(text):
    alone = [
        (number, match.span())
        for number, regex in enumerate(REGEXES)
        for match in compile_folded(regex).finditer(text)
    ]
    assert [(n, match.span()) for n, match in PatternSet(REGEXES).matches(text)] == alone


@given(TEXTS.map(fold))
def test_every_match_has_a_required_literal_and_at_most_the_maximum_length(text):
    for regex in REGEXES:
        required = required_literals(regex)
        for match in compile_folded(regex).finditer(text):
            assert len(match[0]) <= required.max_length
            assert not required.literals or any(one in match[0] for one in required.literals)


@pytest.mark.parametrize(
    ("regex", "literals"),
    [
        (r"\bboilers?\b", ["boiler", "boilers"]),
        (r"\w{1,9}", []),
        (r"(?:mould|\w{2,3})", []),
        (r"Big Ben", []),  # a capital is never found in folded text but by ignoring case
    ],
)
def test_required_literals_of_a_pattern(regex, literals):
    assert sorted(required_literals(regex).literals) == literals


def test_empty_pattern_set_finds_nothing():
    assert list(PatternSet([]).matches("anything")) == []


def test_adjacent_literals_do_not_make_a_pattern_set_slower_than_its_pattern():
    regex, text = "(?=(?:a{0,9}){0,3}b)a", "a" * 400
    alone = min(_seconds(lambda: list(re.finditer(regex, text))) for _ in range(3))
    in_a_set = PatternSet([regex])
    assert min(_seconds(lambda: list(in_a_set.matches(text))) for _ in range(3)) < 4 * alone


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
