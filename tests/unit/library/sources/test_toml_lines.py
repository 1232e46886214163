"""The line of every key in a TOML file."""

import json
import tomllib

from hypothesis import given
from hypothesis import strategies as st

from judge.library.sources.toml_lines import key_lines, line_of

TEXT = """\
include = [ # [not, a, list]
  "a",
  'b = 1']
[domains.tenancy]
title = \"\"\"x = [
"" # y\\\"
\"\"\"
sources = [
  { url = "h", topics = ["a",
    "b"] },

  { url = "g" },
]
"a.b".c = 1.5
when = 1979-05-27 07:32:00 # ]
[[domains.tenancy.help]]
url = '''
x''' # '
  [[domains.tenancy.help]]
  d = +1e3
  [domains.tenancy.help.deep]
  e = {}
[other]
"""


LINES = [
    (("include",), 1),
    (("include", 0), 2),
    (("include", 1), 3),
    (("domains", "tenancy"), 4),
    (("domains", "tenancy", "title"), 5),
    (("domains", "tenancy", "sources"), 8),
    (("domains", "tenancy", "sources", 0, "topics", 0), 9),
    (("domains", "tenancy", "sources", 0, "topics", 1), 10),
    (("domains", "tenancy", "sources", 1, "url"), 12),
    (("domains", "tenancy", "a.b", "c"), 14),
    (("domains", "tenancy", "when"), 15),
    (("domains", "tenancy", "help"), 16),
    (("domains", "tenancy", "help", 0, "url"), 17),
    (("domains", "tenancy", "help", 1), 19),
    (("domains", "tenancy", "help", 1, "d"), 20),
    (("domains", "tenancy", "help", 1, "deep", "e"), 22),
    (("other",), 23),
]


def test_key_or_entry_has_its_line():
    tomllib.loads(TEXT)
    for path, line in LINES:
        assert line_of(TEXT, path) == line
        assert line_of(TEXT.replace("\n", "\r\n"), path) == line


def test_missing_key_has_the_line_of_its_table():
    assert line_of(TEXT, ("domains", "tenancy", "sources", 1, "title")) == 12
    assert line_of(TEXT, ("domains", "health")) == 4
    assert line_of(TEXT, ("retrieval", "contact")) == 1


SCALARS = st.one_of(
    st.integers(),
    st.booleans(),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=9),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text("ab.'[ #=", max_size=4), inner, max_size=3),
    ),
    max_leaves=12,
)


def written(value):
    """*value* as TOML, with lists and texts over several lines and brackets in comments."""
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)} = {written(item)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[ # ]'[\n" + ",\n".join(written(item) for item in value) + "\n]"
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        return f'""{quoted}""' if value and value[-1] != '"' else quoted
    return json.dumps(value)


def paths(value, path=()):
    """Every path in *value*."""
    items = value.items() if isinstance(value, dict) else ()
    for key, inner in enumerate(value) if isinstance(value, list) else items:
        yield (*path, key)
        yield from paths(inner, (*path, key))


@given(st.dictionaries(st.text("ab.'[ #=", max_size=4), VALUES, max_size=4))
def test_exactly_the_paths_of_any_file_are_found(tables):
    text = "\n".join(f"{json.dumps(key)} = {written(value)}" for key, value in tables.items())
    parsed = tomllib.loads(text)

    assert parsed == tables
    assert set(key_lines(text)) == set(paths(tables))
