"""A source is added to its domain, and nothing else in the file changes."""

import difflib
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import ConfigurationError
from judge.library.sources.add_source import format_source, with_source
from judge.types.references import SourceSpec

PAGE = SourceSpec("https://example.org/new", 'The "new" one', ("rent",), ("wales",), "")
ROW = format_source(PAGE)


def added(text):
    """The lines that were added; none is removed."""
    written = with_source(text, "x", PAGE)
    changes = list(difflib.ndiff(text.splitlines(), written.splitlines()))
    assert not [line for line in changes if line.startswith("- ")]
    return [line[2:] for line in changes if line.startswith("+ ")]


def test_row_has_only_the_fields_that_are_set():
    assert ROW == (
        '{ url = "https://example.org/new", title = "The \\"new\\" one", topics = ["rent"], '
        'nations = ["wales"] }'
    )
    page = SourceSpec("https://example.org/new", "New", selector="main p")
    assert format_source(page) == (
        '{ url = "https://example.org/new", title = "New", selector = "main p" }'
    )


@pytest.mark.parametrize(
    "text",
    [
        "[domains.x]\nsources = [\n    { url = 'a', title = '[' }, # ends ]\n    # more\n]\n",
        "[domains.x]\nsources = [\n    {url='a',title='b'},\n  ] # x\n[domains.x.terms]\na = 1\n",
        "[domains.y]\nsources = []\n[domains.x]\nsources = [{url='a'},\n    {url = 'b'},\n\n]",
    ],
)
def test_multi_line_list_gets_one_more_line(text):
    assert added(text) == [f"    {ROW},"]


def test_missing_comma_is_added_after_the_last_entry():
    text = "[domains.x]\nsources = [\n  { url = 'a' } # no, comma\n]\n"
    assert with_source(text, "x", PAGE) == (
        f"[domains.x]\nsources = [\n  {{ url = 'a' }}, # no, comma\n  {ROW},\n]\n"
    )


@pytest.mark.parametrize("end", ["", ",", " ", " , "])
def test_one_line_list_stays_on_one_line(end):
    written = with_source(f"domains = {{ x = {{ sources = [{{ url = 'a' }}{end}] }} }}", "x", PAGE)
    assert written.count("\n") == 0
    assert len(tomllib.loads(written)["domains"]["x"]["sources"]) == 2


def test_domain_without_pages_gets_a_list():
    assert added("[domains.x] # X\ntitle = 'X'\n") == ["sources = [", f"  {ROW},", "]"]


@pytest.mark.parametrize("header", ["[domains.x]", "[domains.x] # the end"])
def test_list_follows_a_header_that_ends_the_file_without_a_line_end(header):
    assert with_source(header, "x", PAGE) == f"{header}\nsources = [\n  {ROW},\n]\n"


def test_list_that_has_only_a_comment_gets_no_empty_line():
    text = "[domains.x]\nsources = [ # ours\n  # none yet ]\n]\n"
    assert added(text) == [f"  {ROW},"]


def test_new_table_follows_the_last_one():
    text = (
        "[[domains.x.sources]]\nurl = 'a'\ntopics = [\n'a',\n] # t\n\n[[domains.x.examples]]\n"
        "text = 'a'\n"
    )
    written = with_source(text, "x", PAGE)
    assert written.index("] # t") < written.index(PAGE.url) < written.index("examples")
    assert f'[[domains.x.sources]]\nurl = "{PAGE.url}"\n' in written
    assert added(text)


def test_domain_with_only_terms_gets_a_table_at_the_end():
    assert "[[domains.x.sources]]" in added("[domains.x.terms]\na = 1")


def test_crlf_line_ends_are_kept():
    written = with_source("[domains.x]\r\nsources = [\r\n  { url = 'a' },\r\n]\r\n", "x", PAGE)
    assert written.count("\n") == written.count("\r\n") == 5


def test_inline_domain_is_refused_with_the_line_to_add():
    with pytest.raises(ConfigurationError) as refused:
        with_source("domains = { x = { terms = { a = 1 } } }", "x", PAGE)
    assert str(refused.value) == (
        "The page was not written, since [domains.x] is put down in a way that only a person can "
        f"add to. Add it to its sources: {ROW}"
    )


SPACES = st.sampled_from(["", " ", "\n", "\n  ", " # ], }\n", "\r\n"])
ROWS = st.sampled_from(["{url='a'}", '{ url = "b#]", topics = ["c,", "d"] }', "{}"])


@given(st.lists(st.tuples(ROWS, SPACES, SPACES), max_size=4), SPACES, st.booleans())
def test_source_is_appended_to_any_list(rows, first, has_comma):
    body = ",".join(f"{before}{row}{after}" for row, before, after in rows)
    comma = "," if has_comma and rows else ""
    text = f"[domains.x]\nsources = [{first}{body}{comma}\n] # end\n[domains.y]\n"
    before = tomllib.loads(text)["domains"]["x"]["sources"]
    after = tomllib.loads(with_source(text, "x", PAGE))["domains"]["x"]["sources"]
    assert after[:-1] == before
    assert after[-1]["title"] == PAGE.title
