"""Brackets, OR and AND between mentions: groups, errors, and plain text."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import BadScope
from judge.library.scopes.grammar import MAX_DEPTH
from judge.library.scopes.scopes import extract_scope, format_scope, parse_scope, scope_text
from judge.types.search import EVERYWHERE, AnyOf, Clause, Scope

NOW = datetime(2025, 3, 14, 15, 9, tzinfo=UTC)
A, B, C = (Scope((Clause("tag", (name,)),)) for name in "abc")


def extract_mentions(query: str, now: datetime) -> tuple[str, Scope]:
    parsed = extract_scope(query, now)
    return parsed.text, parsed.scope


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("(@collection:a OR @tag:b) -@folder:old", "(@collection:a OR @tag:b) -@folder:old"),
        ("@tag:a OR @tag:b", "(@tag:a OR @tag:b)"),
        ("@tag:a or @folder:b", "(@tag:a OR @folder:b)"),
        ("@tag:a AND @tag:b", "@tag:a @tag:b"),
        ("(@tag:a)", "@tag:a"),
        ("((@tag:a @tag:b))", "@tag:a @tag:b"),
        ("( @tag:a  OR\n@tag:b )", "(@tag:a OR @tag:b)"),
        ("((@tag:a OR @tag:b) OR @tag:c)", "(@tag:a OR @tag:b OR @tag:c)"),
        ("(@tag:a OR @tag:a)", "@tag:a"),
        ("((@tag:a @tag:b) OR -@tag:c)", "((@tag:a @tag:b) OR -@tag:c)"),
        ("(@tag:a AND @tag:b) OR @tag:c", "((@tag:a @tag:b) OR @tag:c)"),
        ("(@tag:a (@tag:b OR @tag:c))", "@tag:a (@tag:b OR @tag:c)"),
        ("-(@tag:a OR @tag:b)", "-(@tag:a OR @tag:b)"),
        ("-(@tag:a @tag:b)", "-(@tag:a @tag:b)"),
        ("-(-(@tag:a @tag:b))", "@tag:a @tag:b"),
        ("-(-@tag:a)", "@tag:a"),
        ("NOT @tag:a !@tag:b –@tag:c −@tag:d", "-@tag:a -@tag:b -@tag:c -@tag:d"),
        ("not (@tag:a OR @tag:b) !(@tag:c)", "-(@tag:a OR @tag:b) -@tag:c"),
        ("(@tag:a OR @*)", "@*"),
        (
            '(@tag:"(x) OR y" OR @document:notes(1).md)',
            '(@tag:"(x) OR y" OR @document:"notes(1).md")',
        ),
        ("(@tag:a,b OR @modified:2025-01-01..)", "(@tag:a,b OR @modified:>=2025-01-01)"),
    ],
)
def test_brackets_are_parsed_and_formatted(text, written):
    scope = parse_scope(text, NOW)
    assert scope_text(scope) == written
    assert parse_scope(written, NOW) == scope


def test_bracket_matches_any_of_its_scopes():
    assert parse_scope("(@tag:a OR @tag:b) @tag:c", NOW) == Scope((AnyOf((A, B)), *C.clauses))
    assert parse_scope("-(@tag:a @tag:b)", NOW).clauses == (
        AnyOf((Scope((*A.clauses, *B.clauses)),), is_excluded=True),
    )


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("revenue (@tag:a OR @tag:b) 2024", "revenue 2024"),
        ("(@tag:a OR @tag:b), revenue", ", revenue"),
        ("revenue @tag:a OR @tag:b growth", "revenue growth"),
        ("cats OR dogs (@tag:a OR @tag:b)", "cats OR dogs"),
        ("((cats) and (dogs)) (@tag:a OR @tag:b)", "((cats) and (dogs))"),
        ("what (if in @tag:a or @tag:b) is it?", "what (if in ) is it?"),
        ("f(x) -(y) :( (@tag:a OR @tag:b) :)", "f(x) -(y) :( :)"),
        ("(half (@tag:a OR @tag:b)", "(half"),
        ("half) (@tag:a OR @tag:b)", "half)"),
    ],
)
def test_scopes_leave_the_words_of_a_query_alone(query, rest):
    text, scope = extract_mentions(query, NOW)
    assert text == rest
    assert scope == Scope((AnyOf((A, B)),))


@pytest.mark.parametrize(
    "query", ["cats OR dogs", "(cats OR dogs)", "-(x)", "()", ") (", "((((", "OR", "a AND b"]
)
def test_brackets_and_operators_without_mentions_are_text(query):
    assert extract_mentions(query, NOW) == (query, EVERYWHERE)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("revenue (@tag:a OR @tag:b", "The bracket at character 9 is not closed"),
        ("(@tag:a OR (@tag:b)", "at character 1 is not closed"),
        ("((@tag:a) growth", "at character 1 is not closed"),
        ("revenue @tag:a)", "The bracket at character 15 was never opened"),
        ("(@tag:a OR @tag:b))", "at character 19 was never opened"),
        ("@tag:a)b", "at character 7 was never opened"),
        ("(@tag:a OR)", "'OR' at character 9 needs a mention on either side"),
        ("(OR @tag:a)", "'OR' at character 2"),
        ("(@tag:a or)", "'or' at character 9"),
        ("(@tag:a OR OR @tag:b)", "'OR' at character 9"),
        ("@tag:a OR", "'OR' at character 8"),
        ("@tag:a OR growth", "'OR' at character 8"),
        ("growth OR @tag:a", "'OR' at character 8"),
        ("(@tag:a OR growth)", "'OR' at character 9"),
        ("@tag:a OR @tag:b @tag:c", "Beside OR at character 8"),
        ("@tag:a OR @tag:b AND @tag:c", "Beside OR at character 8"),
        ("(@tag:a @tag:b OR @tag:c)", "Beside OR at character 16"),
        ("@tag:a revenue @tag:b OR @tag:c", "Beside OR at character 23"),
        ("(@tag:a OR @tag:b)-@tag:c", "There must be a space after the bracket at character 18"),
        ("-(@tag:a OR @*)", "-(…) leaves nothing to search (at character 1)"),
        ("(@tag:a OR @tagg:b)", "@tagg: did you mean @tag? (at character 12)"),
        ("(@tag:a OR @tag:)", "'@tag:' lacks a value (at character 12)"),
        ('(@tag:a OR @tag:"b)', "quotation mark that opens at character 17 is not closed"),
    ],
)
def test_error_has_its_position_and_the_syntax(text, told):
    with pytest.raises(BadScope) as caught:
        extract_mentions(text, NOW)
    assert told in str(caught.value)


@pytest.mark.parametrize("text", ["(reports)", "(@tag:a reports)", "@tag:a or", "()", "(@tag:a) ("])
def test_words_in_brackets_are_not_a_scope(text):
    with pytest.raises(BadScope, match="is no scope"):
        parse_scope(text, NOW)


def nested(depth):
    return f"{'-(@tag:b OR ' * depth}@tag:a{')' * depth}"


def test_nesting_of_brackets_is_bounded():
    assert parse_scope(nested(MAX_DEPTH - 1), NOW).clauses
    with pytest.raises(BadScope, match="is too deep: 7 brackets may stand in one another"):
        parse_scope(nested(MAX_DEPTH), NOW)


def test_deepest_allowed_scope_can_be_formatted():
    with pytest.raises(BadScope, match="is too deep: 7 brackets may stand in one another"):
        parse_scope(f"@tag:c OR {nested(MAX_DEPTH - 1)}", NOW)
    scope = parse_scope(f"@tag:c OR {nested(MAX_DEPTH - 2)}", NOW)
    assert parse_scope(scope_text(scope), NOW) == scope


@pytest.mark.parametrize(
    "text", ["(" * 20_000, "(" * 20_000 + "@tag:a", nested(2_000), "-(" * 9_000 + "x" + ")" * 9_000]
)
def test_any_number_of_brackets_is_parsed_quickly(text):
    try:
        rest, scope = extract_mentions(text, NOW)
    except BadScope as error:
        rest, scope = str(error), EVERYWHERE
    assert (rest, scope) != ("", EVERYWHERE)


def test_filters_applied_shows_brackets():
    assert format_scope(parse_scope("-(@tag:a OR @collection:b)", NOW)) == {
        "scope": "-(@tag:a OR @collection:b)",
        "clauses": [
            {
                "any_of": [
                    [{"kind": "tag", "values": ["a"], "excluded": False}],
                    [{"kind": "collection", "values": ["b"], "excluded": False}],
                ],
                "excluded": True,
            }
        ],
    }


PIECES = st.sampled_from(
    '(| )|-(| | OR | AND | or | NOT |@tag:a|-@tag:b|!@tag:b|@*| word |"x|,|-|–'.split("|")
)


@given(st.lists(PIECES, max_size=25).map("".join))
def test_any_scope_round_trips_or_is_refused_with_its_position(text):
    places: list[bool] = []
    try:
        rest, scope = extract_mentions(text, NOW)
    except BadScope as error:
        rest, scope = text, EVERYWHERE
        places.append("at character" in str(error))
    assert all(places)
    assert parse_scope(scope_text(scope), NOW) == scope
    assert rest == text or "@" in text
    assert "word" not in text or "word" in rest
