"""Patterns of a sources file: which are refused, and that a set of them finds what each finds."""

import re
import tomllib
from pathlib import Path

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from judge.bootstrap.sources import compile_knowledge, read_sources
from judge.library.dispute import fold
from judge.text.patterns import PatternSet, checked_regex

ROOT = Path(__file__).parents[3]
REFUSED = {
    "(a": "is no regular expression: missing )",
    "[[a]": "is no regular expression: Possible nested set",
    "(?<=a|bc)d": "is no regular expression: look-behind requires fixed-width pattern",
    "a{0,9}": "matches the empty text",
    "a||b": "matches the empty text",
    "(a+)+b": "could be slow",
    r"\d*x": "could be slow",
    "a{2,}": "could be slow",
    "\brent": "holds a control character",
}
ACCEPTED = (
    r"\b\d{1,2}[- ]?(?:year|yr)s?[- ]old\b",
    r"\$\d{1,5}[.+*]{1,2}",
    r"\(\?",
    "[]+*]x",
    "x{2}y{,2}z{ a{}",
    "colou?r(?! blind)(?<!red)",
    r"\bno\s+fault\b",
    "no *fault +eviction",
)
REGEXES = (
    r"\bsection (?:8|21)\b",
    r"\b(?:he|she)(?:.s| is| was) (?:now |only )?(?:1[89]|[2-5]\d|twenty)\b(?! (?:days?|weeks?))",
    r"(?<!new )\bdd ?\(?[1-9]\b",
    r"\bleave$",
    r"\b(?:my|our) (?:[\w-]{1,9} )?(?:flat|house)s?\b",
    r"[^!?;]{2,5}hit me",
    r"[^\w]{1,2}\Bé",
    r"a|bc{1,3}+",
    r"(a)\1",
    "Mum says",
    r"charg(?:ed|es) me\b",
    r"he [^;]{1,9} she",
    r"[^a-z ]+ld",
    r"\b[^0-9]\b",
    r"\xe9",
    r"h{,2}e",
    r"(?<=[)(]) (?!\(|[^)]s)\w{2}",
    "section .{1,30}?he|is£?",
)
TEXTS = st.lists(
    st.sampled_from(
        "section 8 21 he she is was now only 18 25 twenty days new dd dd(3 leave my our öld flat é "
        "٣ Ж² i\u0307s is£ ) houses hit me a aa bcc he's mum says charged . ? ; !".split()
    ),
    max_size=25,
).map(" ".join) | st.text(max_size=60)


@pytest.mark.parametrize("regex", REFUSED)
def test_invalid_or_unbounded_pattern_is_refused_with_its_reason(regex: str) -> None:
    with pytest.raises(ValueError, match=re.escape(REFUSED[regex])):
        checked_regex(regex)


def test_bounded_pattern_is_accepted() -> None:
    assert [checked_regex(regex) for regex in ACCEPTED] == [*ACCEPTED]


ITEMS = st.sampled_from(
    [
        *"he her hit Hits? h \\b \\B - [-_] \\W \\S 's (?!t) (?<!h) [^.!?]{0,9} \\w{1,3}".split(),
        *"é £ \\d [^a-z]".split(),
        " ",
    ]
)
BUILT = st.recursive(
    ITEMS,
    lambda inner: (
        st.builds(
            "(?:{}){}".format,
            st.lists(st.lists(inner, max_size=4).map("".join), min_size=1, max_size=3).map(
                "|".join
            ),
            st.sampled_from(["", "", "?", "{0,2}", "{1,2}"]),
        )
        | st.lists(inner, min_size=2, max_size=4).map("".join)
    ),
    max_leaves=12,
)
GAP = st.sampled_from(["", "", " ", "-", r"\b", r"\W", "(?: so)?"])


@given(st.lists(st.tuples(BUILT, GAP).map("".join), min_size=1, max_size=4).map("".join), st.data())
def test_no_pattern_that_matches_is_left_out(pattern: str, data: st.DataObject) -> None:
    text = fold(data.draw(st.from_regex(pattern, alphabet=st.characters(max_codepoint=0x2FF))))
    alone = [match.span() for match in regex.finditer(pattern, text, regex.IGNORECASE)]
    assert [match.span() for _, match in PatternSet([pattern]).matches(text)] == alone


def test_letters_after_what_is_no_gap_begin_no_word() -> None:
    told = (
        (r"\Shit", "ahit"),
        (r"h\Bit", "hit"),
        (r"(?:he|h-)(?:r )?hit", "h-hit"),
        (r"h?it", "hit"),
        (r"\bk", "\u212a"),
    )
    for pattern, text in told:
        assert [*PatternSet([pattern]).matches(text)], pattern


@given(TEXTS.map(fold))
@example("\0")
def test_set_finds_what_its_patterns_find_one_by_one(text: str) -> None:
    alone = [
        (number, match.span())
        for number, pattern in enumerate(REGEXES)
        for match in regex.finditer(pattern, text, regex.IGNORECASE)
    ]
    assert [(n, match.span()) for n, match in PatternSet(REGEXES).matches(text)] == alone


def test_what_is_too_large_for_re2_is_found_too() -> None:
    large = r"(?:\w{1,999}-){1,999}"
    many = [rf"(?:\w{{1,40}} ?){{1,9}}x{number}\b" for number in range(3000)]
    assert [number for number, _ in PatternSet([large, "b"]).matches("a-b")] == [0, 1]
    assert [number for number, _ in PatternSet(many).matches("so x17")] == [17]


def test_slow_pattern_is_given_up() -> None:
    matches = PatternSet(["(?:a{0,99}){9,99}(?=b)b", "c"]).matches("a" * 500 + " b c")
    assert [number for number, _ in matches] == [1]  # without a limit the first would not end


def test_only_patterns_that_cannot_match_are_left_out():
    known = compile_knowledge(*read_sources(ROOT / "config" / "sources.toml"))
    told = tomllib.loads((ROOT / "tests/fixtures/disputes.toml").read_text(encoding="utf-8"))
    # A text for each domain: on all at once a pattern may reach its time limit where it is slow.
    texts = [" ".join(context for _, context in pairs).casefold() for pairs in told.values()]
    rules = known.catalog.safety
    for patterns in ([p for rule in rules for p in rule.patterns], [r"charg(?:ed|es) me\b", r"\."]):
        together = PatternSet(patterns)
        found = [[(n, match.span()) for n, match in together.matches(text)] for text in texts]
        assert found == [
            [
                (number, match.span())
                for number, pattern in enumerate(patterns)
                for match in regex.compile(pattern, regex.IGNORECASE).finditer(text)
            ]
            for text in texts
        ]
        assert any(found)
