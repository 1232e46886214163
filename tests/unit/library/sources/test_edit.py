"""A source is added to its domain, and nothing else in the file changes."""

import difflib
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import ConfigurationError
from judge.library.sources.edit import format_source, with_source
from judge.types.references import SourceSpec

PAGE = SourceSpec("https://example.org/new", 'The "new" one', ("rent",), ("wales",), "")
ROW = format_source(PAGE)
TABLE = [
    "[[domains.x.sources]]",
    'url = "https://example.org/new"',
    'title = "The \\"new\\" one"',
    'topics = ["rent"]',
    'nations = ["wales"]',
]


def added(text: str) -> list[str]:
    """The lines that were added; none is removed."""
    written = with_source(text, "x", PAGE)
    changes = list(difflib.ndiff(text.splitlines(), written.splitlines()))
    assert not [line for line in changes if line.startswith("- ")]
    return [line[2:] for line in changes if line.startswith("+ ")]


LAYOUTS = (
    (
        "[domains.x]\nsources = [\n    { url = 'a', title = '[' }, # ends ]\n]\n",
        [f"    {ROW},"],
    ),
    (
        "[domains.x]\nsources = [\n  {url='a',title='b'},\n  ] # x\n[domains.x.terms]\na = 1\n",
        [f"  {ROW},"],
    ),
    ("[domains.x]\ntitle = 'X' # X\n", ["sources = [", f"    {ROW},", "]"]),
    (
        "domains.x.title = 'X'\ndomains.x.terms.a = 1\n",
        ["domains.x.sources = [", f"    {ROW},", "]"],
    ),
    ("[domains.x]\n[[domains.x.sources]]\nurl = 'a' # t\n", TABLE),
    ("[[domains.x.sources]]\nurl = 'a'\n[domains.y]\ntitle = 'b'\n", TABLE),
)


def test_page_is_added_in_the_layout_of_the_domain() -> None:
    for text, lines in LAYOUTS:
        assert added(text) == lines


def test_crlf_line_ends_are_kept_in_every_layout() -> None:
    for text, lines in LAYOUTS:
        written = with_source(text.replace("\n", "\r\n"), "x", PAGE)
        assert written.replace("\r\n", "\n") == with_source(text, "x", PAGE)
        assert written.count("\n") == written.count("\r\n") >= text.count("\n") + len(lines)


SPACES = st.sampled_from(["", " ", "\n", "\n  ", " # ], }\n", "\r\n"])
ROWS = st.sampled_from(["{url='a'}", '{ url = "b#]", topics = ["c,", "d"] }', "{}"])


@given(st.lists(st.tuples(ROWS, SPACES, SPACES), max_size=4), SPACES, st.booleans())
def test_source_is_appended_to_any_list_or_refused_with_the_line_to_add(
    rows: list[tuple[str, str, str]], first: str, has_comma: bool
) -> None:
    body = ",".join(f"{before}{row}{after}" for row, before, after in rows)
    comma = "," if has_comma and rows else ""
    text = f"[domains.x]\nsources = [{first}{body}{comma}\n] # end\n[domains.y]\n"
    before = tomllib.loads(text)["domains"]["x"]["sources"]
    try:
        written = with_source(text, "x", PAGE)
    except ConfigurationError:
        with pytest.raises(ConfigurationError, match=re.escape(ROW)):
            with_source(text, "x", PAGE)
        return
    after = tomllib.loads(written)["domains"]["x"]["sources"]
    assert after[:-1] == before
    assert after[-1]["title"] == PAGE.title
