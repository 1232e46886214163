"""Mentions in a query or a context, and the scope that they give."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import BadScope
from judge.library.scopes.grammar import MAX_DEPTH, extract_scope, read_context
from judge.library.scopes.scopes import (
    KINDS,
    MAX_NAMES,
    SearchFilters,
    all_of,
    any_of,
    check_size,
    complement,
    format_scope,
    nearest_name,
    scope_of,
    scope_text,
)
from judge.types.search import EVERYWHERE, AnyOf, Clause, Scope

NOW = datetime(2025, 3, 14, 15, 9, tzinfo=UTC)


def extract_mentions(query: str, now: datetime) -> tuple[str, Scope]:
    parsed = extract_scope(query, now)
    return parsed.text, parsed.scope


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def clauses(text: str) -> tuple[Clause, ...]:
    return read_context(text, NOW).scope.clauses


def only(text: str) -> Clause:
    (clause,) = clauses(text)
    return clause


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("@collection:a,b", Clause("collection", ("a", "b"))),
        ("@Collection:Reports", Clause("collection", ("Reports",))),
        ('@collection:"my reports",drafts', Clause("collection", ("my reports", "drafts"))),
        (r'@tag:"say \"yes\" \\ no"', Clause("tag", ('say "yes" \\ no',))),
        ("@document:https://x.org/a?b=c:d", Clause("document", ("https://x.org/a?b=c:d",))),
        ("@folder:/2024//q1/", Clause("folder", ("2024/q1",))),
        (r"@folder:./2024\q1", Clause("folder", ("2024/q1",))),
        ("@folder:/", Clause("folder", ("",))),
        ("@document:notes(1).md", Clause("document", ("notes(1).md",))),
        ("-@collection:drafts", Clause("collection", ("drafts",), is_excluded=True)),
        ("@tag:'two words','b c'", Clause("tag", ("two words", "b c"))),
        ("@tag:‘two words’", Clause("tag", ("two words",))),
        ("@tag:«two words»", Clause("tag", ("two words",))),
        ("@tag:„two words“", Clause("tag", ("two words",))),
        ("@document:'it's/tenant's notes.md'", Clause("document", ("it's/tenant's notes.md",))),
        ("@tag:ann's", Clause("tag", ("ann's",))),
        ("@tag:'tis", Clause("tag", ("'tis",))),
        ("except @tag:a", Clause("tag", ("a",), is_excluded=True)),
        ("Except for @tag:a", Clause("tag", ("a",), is_excluded=True)),
        ("not in @folder:a", Clause("folder", ("a",), is_excluded=True)),
        ("excluding @tag:a", Clause("tag", ("a",), is_excluded=True)),
        ("without @tag:a", Clause("tag", ("a",), is_excluded=True)),
        ("except those in the folder @folder:a", Clause("folder", ("a",), is_excluded=True)),
        ("not tagged @tag:a", Clause("tag", ("a",), is_excluded=True)),
        ("other than @tag:a", Clause("tag", ("a",), is_excluded=True)),
        ("outside of @folder:a", Clause("folder", ("a",), is_excluded=True)),
        ("apart from @folder:a", Clause("folder", ("a",), is_excluded=True)),
        ("ignoring those in @folder:a", Clause("folder", ("a",), is_excluded=True)),
        ("Everything but @tag:a", Clause("tag", ("a",), is_excluded=True)),
        ("leaving out the folder @folder:a", Clause("folder", ("a",), is_excluded=True)),
        ("ohne @tag:a", Clause("tag", ("a",), is_excluded=True)),
        ("nicht in @folder:a", Clause("folder", ("a",), is_excluded=True)),
        ("sauf @tag:a", Clause("tag", ("a",), is_excluded=True)),
        ("кроме @tag:a", Clause("tag", ("a",), is_excluded=True)),
        ("@tag:x,X,y", Clause("tag", ("x", "y"))),
    ],
)
def test_mention_becomes_a_clause(text, clause):
    assert clauses(text) == (clause,)


@pytest.mark.parametrize("text", ["", "  ", "@*", "@collection:*", "@collection:a,*", "@folder:*"])
def test_a_star_or_nothing_is_everywhere(text):
    assert clauses(text) == ()


@pytest.mark.parametrize(
    ("value", "after", "before"),
    [
        ("today", "2025-03-14", "2025-03-15"),
        ("2025-01-31", "2025-01-31", "2025-02-01"),
        ("2025-01-01..2025-03-31", "2025-01-01", "2025-04-01"),
        ("2025-01-01..9999-12-31", "2025-01-01", "9999-12-31T23:59:59.999999"),
        ("2025-01-01..", "2025-01-01", None),
        ("..2025-01-01", None, "2025-01-02"),
        (">2025-01-01", "2025-01-02", None),
        ("<=2025-01-01", None, "2025-01-02"),
        ("<2025-01-01T09:00+02:00", None, "2025-01-01T07:00"),
        ('">=2025-01-01 09:00Z"', "2025-01-01T09:00", None),
    ],
)
def test_a_period_has_whole_days_in_utc(value, after, before):
    clause = only(f"@modified:{value}")
    assert clause.after == (day(after) if after else None)
    assert clause.before == (day(before) if before else None)


@pytest.mark.parametrize(
    ("value", "days"), [("last-week", 7), ("LAST-MONTH", 30), ("last-year", 365)]
)
def test_last_week_is_the_last_seven_days(value, days):
    clause = only(f"@modified:{value}")
    assert (clause.after, clause.before) == (NOW - timedelta(days=days), None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("@foldr:x", "@foldr: did you mean @folder? (at character 1)"),
        ("robots @colection:x", "@colection: did you mean @collection? (at character 8)"),
        ("-@tagg:x", "-@tagg: did you mean @tag? (at character 1)"),
        ("@collection:", "'@collection:' lacks a value (at character 1)."),
        ('@tag:"open', "@tag: the quotation mark that opens at character 6 is not closed."),
        (
            '@tag:"a"b',
            (
                "'@tag:\"a\"' lacks a space or a comma after the closing quotation mark "
                "(at character 1)."
            ),
        ),
        (
            "@tag:*",
            "@tag:*: a star stands for everything in @* and @collection:* only (at character 1).",
        ),
        (
            "@modified:*",
            (
                "@modified:*: a star stands for everything in @* and @collection:* only "
                "(at character 1)."
            ),
        ),
        ("-@*", "-@* leaves nothing to search (at character 1)."),
        ("@modified:2025-02-30", "@modified:2025-02-30: '2025-02-30' is no date. (at character 1)"),
        (
            "@modified:>9999-12-31T23:59-12:00",
            (
                "@modified:>9999-12-31T23:59-12:00: '9999-12-31t23:59-12:00' is no date. "
                "(at character 1)"
            ),
        ),
        ("@modified:..", "@modified:..: a range needs a date. (at character 1)"),
        (
            "@modified:2025-03-31..2025-01-01",
            (
                "@modified:2025-03-31..2025-01-01: the range ends (2025-01-01) before it begins "
                "(2025-03-31). (at character 1)"
            ),
        ),
        ("@modified:today,yesterday", "@modified takes one range, not several (at character 1)."),
    ],
)
def test_an_error_says_what_and_where(text, told):
    with pytest.raises(BadScope) as caught:
        extract_mentions(text, NOW)
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("reports", "'reports' is no scope."),
        ("@jo", "'@jo' is no scope."),
        ("-(FOLDR:x", "'-(FOLDR:x' is no scope: did you mean @folder:?"),
        ("@tag:x with more", "'with more' is no scope."),
        ("x" * 90, f"{'x' * 80!r} is no scope."),
    ],
)
def test_a_context_holds_nothing_but_mentions(text, told):
    with pytest.raises(BadScope) as caught:
        read_context(text, NOW)
    assert str(caught.value) == (
        f"{told} Write @kind:value, such as @collection:reports, or @* for everything."
    )
    assert caught.value.valid == KINDS


@pytest.mark.parametrize(
    ("query", "rest", "count"),
    [
        ("revenue @collection:reports", "revenue", 1),
        ("what (see @folder:2024) is it?", "what (see ) is it?", 1),
        ("in @collection:reports, not", None, None),
        ("is it in @folder:2024?", "is it in ?", 1),
        ("@tag:a b @tag:c", "b", 2),
        ("everything @*", "everything", 0),
        ("fees, exclude @tag:a", "fees,", 1),
        ("what does it exclude @tag:a", "what does it exclude", 1),
        ("when is she leaving @tag:a", "when is she leaving", 1),
    ],
)
def test_mentions_are_taken_out_of_a_query(query, rest, count):
    if rest is None:
        with pytest.raises(BadScope):
            extract_mentions(query, NOW)
        return
    text, scope = extract_mentions(query, NOW)
    assert (text, len(scope.clauses)) == (rest, count)


@pytest.mark.parametrize(
    "query",
    [
        "write to jo@example.com",
        "ask @jo  about it",
        "a @ b",
        "@9:30",
        "@",
        "-@",
        "f(x)@tag:y",
    ],
)
def test_other_text_with_an_at_sign_is_query(query):
    assert extract_mentions(query, NOW) == (query, Scope())


def test_scope_is_formatted_as_parsed():
    told = format_scope(read_context("@folder:2024/q1 -@tag:X @modified:2025-01-01..", NOW).scope)
    assert told == {
        "scope": "@folder:2024/q1 -@tag:X @modified:>=2025-01-01",
        "clauses": [
            {"kind": "folder", "values": ["2024/q1"], "recursive": True, "excluded": False},
            {"kind": "tag", "values": ["X"], "excluded": True},
            {"kind": "modified", "after": day("2025-01-01"), "before": None, "excluded": False},
        ],
    }


def test_quotation_marks_in_a_name_are_escaped():
    scope = read_context(r'@tag:"a \"b\" c"', NOW).scope
    assert scope == Scope((Clause("tag", ('a "b" c',)),))
    assert scope_text(scope) == r'@tag:"a \"b\" c"'


@pytest.mark.parametrize(("name", "meant"), [("howto", "doc/howto"), ("clean", "doc/clean.html")])
def test_the_nearest_name_may_be_meant_by_its_last_part(name, meant):
    assert nearest_name(name, ["doc/howto", "hono", "doc/clean.html", "express"]) == meant


NAMES = st.text(min_size=1, max_size=12).map(str.strip).filter(lambda name: name not in {"", "*"})
MOMENTS = st.integers(0, 4 * 10**15).map(
    lambda n: datetime(1990, 1, 1, tzinfo=UTC) + timedelta(microseconds=n)
) | st.integers(0, 40_000).map(lambda n: datetime(1990, 1, 1, tzinfo=UTC) + timedelta(days=n))


@st.composite
def named_clauses(draw):
    kind = draw(st.sampled_from(["collection", "document", "tag"]))
    values = draw(st.lists(NAMES, min_size=1, max_size=3, unique_by=str.casefold))
    return Clause(kind, tuple(values), is_excluded=draw(st.booleans()))


@st.composite
def folder_clauses(draw):
    part = st.text("abc d.é,\"'", min_size=1, max_size=6).map(str.strip)
    parts = draw(st.lists(part.filter(lambda p: p not in {"", "."}), min_size=1, max_size=3))
    folder = draw(st.sampled_from(["/".join(parts), ""]))
    return Clause("folder", (folder,), is_excluded=draw(st.booleans()))


@st.composite
def period_clauses(draw):
    after, before = sorted(
        draw(st.tuples(MOMENTS, MOMENTS).filter(lambda pair: pair[0] != pair[1]))
    )
    kept = draw(st.sampled_from([(after, before), (after, None), (None, before)]))
    return Clause("modified", after=kept[0], before=kept[1], is_excluded=draw(st.booleans()))


CLAUSES = st.one_of(named_clauses(), folder_clauses(), period_clauses())
SCOPES = st.recursive(
    CLAUSES.map(lambda clause: Scope((clause,))),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda scopes: all_of(*scopes)),
        st.lists(inner, min_size=2, max_size=3).map(any_of),
        inner.map(complement),
    ),
    max_leaves=6,
)


@given(st.just(EVERYWHERE) | SCOPES)
def test_formatted_scope_parses_to_the_same_scope(scope):
    written = scope_text(scope)
    assert read_context(written, NOW).scope == scope
    assert extract_mentions(f"revenue {written}", NOW) == ("revenue", scope)


def test_a_scope_may_have_a_thousand_names_and_a_time_counts_as_one() -> None:
    def scope(names: int) -> Scope:
        tags = ",".join(f"x{n}" for n in range(names))
        return read_context(f"@tag:{tags} @modified:2025-01-01..", NOW).scope

    check_size(scope(MAX_NAMES - 1))
    with pytest.raises(
        BadScope, match=r"^The scope has 1001 names; 1000 are the most\. Name fewer\.$"
    ):
        check_size(scope(MAX_NAMES))


def test_every_filter_is_a_clause():
    scope = scope_of(
        SearchFilters(
            collection_name="Reports",
            collection_id=("a", "b"),
            document_id="x.md",
            folder_path="/2024/q1/",
            recursive=False,
            tags=("one", "two"),
            modified_after="2025-01-01",
            modified_before="2025-02-01T09:00:00+01:00",
        )
    )
    assert scope.clauses == (
        Clause("collection", ("Reports",)),
        Clause("collection", ("a", "b")),
        Clause("document", ("x.md",)),
        Clause("folder", ("2024/q1",), is_recursive=False),
        Clause("tag", ("one", "two")),
        Clause(
            "modified",
            after=datetime(2025, 1, 1, tzinfo=UTC),
            before=datetime(2025, 2, 1, 8, tzinfo=UTC),
        ),
    )


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        (SearchFilters(collection_name=" "), "collection_name"),
        (SearchFilters(tags=()), "tags"),
        (SearchFilters(tags="*"), "tags"),
        (SearchFilters(document_id=("a", "")), "document_id"),
        (SearchFilters(folder_path=" "), "folder_path"),
        (SearchFilters(modified_after="2025-02-30"), "'2025-02-30' is no date"),
        (SearchFilters(modified_before="soon"), "modified_before"),
        (SearchFilters(modified_after=""), "modified_after"),
        (SearchFilters(modified_after="2025-02-01", modified_before="2025-01-01"), "not later"),
    ],
)
def test_an_empty_or_impossible_filter_is_refused_by_name(filters, told):
    with pytest.raises(BadScope, match=told):
        scope_of(filters)


A, B, C = (Scope((Clause("tag", (name,)),)) for name in "abc")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("(@collection:a OR @tag:b) -@folder:old", "(@collection:a OR @tag:b) -@folder:old"),
        ("@tag:a OR @tag:b", "(@tag:a OR @tag:b)"),
        ("@tag:a or @folder:b", "(@tag:a OR @folder:b)"),
        ("@tag:a AND @tag:b", "@tag:a @tag:b"),
        ("((@tag:a @tag:b))", "@tag:a @tag:b"),
        ("((@tag:a OR @tag:b) OR @tag:c)", "((@tag:a OR @tag:b) OR @tag:c)"),
        ("(@tag:a AND @tag:b) OR @tag:c", "((@tag:a @tag:b) OR @tag:c)"),
        ("(@tag:a (@tag:b OR @tag:c))", "@tag:a (@tag:b OR @tag:c)"),
        ("-(@tag:a OR @tag:b)", "-(@tag:a OR @tag:b)"),
        ("-(@tag:a @tag:b)", "-(@tag:a @tag:b)"),
        ("-(-(@tag:a @tag:b))", "@tag:a @tag:b"),
        ("NOT @tag:a !@tag:b –@tag:c −@tag:d", "-@tag:a -@tag:b -@tag:c -@tag:d"),
        ("not (@tag:a OR @tag:b) !(@tag:c)", "-(@tag:a OR @tag:b) -@tag:c"),
        ("(@tag:a OR @*)", "@*"),
        ("AND NOT @tag:a - @tag:b — @tag:c", "-@tag:a -@tag:b -@tag:c"),
        ("(NOT @tag:a) NOT: @tag:b ~@tag:c", "-@tag:a -@tag:b -@tag:c"),
        ("-\u00a0@tag:a ﹣@tag:b ¬@tag:c -\u200b@tag:d", "-@tag:a -@tag:b -@tag:c -@tag:d"),
        ("＠tag：a || @tag:b | @tag:c", "(@tag:a OR @tag:b OR @tag:c)"),
        ("@tag:a && @tag:b", "@tag:a @tag:b"),
        (
            '(@tag:"(x) OR y" OR @document:notes(1).md)',
            '(@tag:"(x) OR y" OR @document:"notes(1).md")',
        ),
        ("(@tag:a,b OR @modified:2025-01-01..)", "(@tag:a,b OR @modified:>=2025-01-01)"),
    ],
)
def test_brackets_are_parsed_and_formatted(text, written):
    scope = read_context(text, NOW).scope
    assert scope_text(scope) == written
    assert read_context(written, NOW).scope == scope


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("revenue (@tag:a OR @tag:b) 2024", "revenue 2024"),
        ("revenue @tag:a OR @tag:b growth", "revenue growth"),
        ("cats OR dogs (@tag:a OR @tag:b)", "cats OR dogs"),
        ("((cats) and (dogs)) (@tag:a OR @tag:b)", "((cats) and (dogs))"),
        ("what (if in @tag:a or @tag:b) is it?", "what (if in ) is it?"),
        ("f(x) -(y) :( (@tag:a OR @tag:b) :)", "f(x) -(y) :( :)"),
        ("(half (@tag:a OR @tag:b)", "(half"),
    ],
)
def test_scopes_leave_the_words_of_a_query_alone(query, rest):
    text, scope = extract_mentions(query, NOW)
    assert text == rest
    assert scope == Scope((AnyOf((A, B)),))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("revenue (@tag:a OR @tag:b", "The bracket at character 9 is not closed"),
        ("((@tag:a) growth", "at character 1 is not closed"),
        ("revenue @tag:a)", "The bracket at character 15 was never opened"),
        ("(@tag:a OR)", "'OR' at character 9 needs a mention on either side"),
        ("(OR @tag:a)", "'OR' at character 2"),
        ("(@tag:a OR growth)", "'OR' at character 9"),
        ("@tag:a OR @tag:b @tag:c", "Beside OR at character 8"),
        ("@tag:a OR @tag:b AND @tag:c", "Beside OR at character 8"),
        ("@tag:a revenue @tag:b OR @tag:c", "Beside OR at character 23"),
        ("(@tag:a OR @tag:b)-@tag:c", "There must be a space after the bracket at character 18"),
        ("boiler-@tag:a", "There must be a space before '-@tag:' at character 7"),
        ("boiler NOT@tag:a", "There must be a space before 'NOT@tag:'"),
        ("boiler || @tag:a", "'||' at character 8 needs a mention on either side"),
        ("-(@tag:a OR @*)", "-(…) leaves nothing to search (at character 1)"),
        ('(@tag:a OR @tag:"b)', "quotation mark that opens at character 17 is not closed"),
    ],
)
def test_error_has_its_position_and_the_syntax(text, told):
    with pytest.raises(BadScope) as caught:
        extract_mentions(text, NOW)
    assert told in str(caught.value)


def nested(depth):
    return f"{'-(@tag:b OR ' * depth}@tag:a{')' * depth}"


def test_nesting_of_brackets_is_bounded():
    assert read_context(nested(MAX_DEPTH), NOW).scope.clauses
    with pytest.raises(BadScope, match="is too deep: 7 may stand in one another"):
        read_context(nested(MAX_DEPTH + 1), NOW)


@pytest.mark.parametrize(
    "text", ["(" * 4_000, "(" * 4_000 + "@tag:a", nested(400), "-(" * 2_000 + "x" + ")" * 2_000]
)
def test_any_number_of_brackets_is_parsed_quickly(text):
    try:
        rest, scope = extract_mentions(text, NOW)
    except BadScope as error:
        rest, scope = str(error), EVERYWHERE
    assert (rest, scope) != ("", EVERYWHERE)
