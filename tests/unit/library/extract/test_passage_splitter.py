"""Readers and passages: no text is lost, and boundaries follow the structure of the text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.library.extract.document_reader import is_binary
from judge.library.extract.markdown import read_html, read_markdown
from judge.library.extract.structured import read_code
from judge.library.extract.text_blocks import (
    MAX_WORDS,
    TARGET_WORDS,
    read_text,
    size,
    split_lines,
    split_passages,
)
from tests.fakes.passages import passage

LIKE = passage("", title="A title", folder="a/b", tags=("t",), chapter="C")
SENTENCE = "This sentence has exactly eight words in it. "


def cut(reading):
    return split_passages(reading, LIKE)


def squeezed(text: str) -> str:
    return re.sub(r"[\s\u00ad\u200b\u2060\ufeff]+", "", text)


def html(markup: str):
    return read_html(markup.encode())


BITS = st.sampled_from(
    [
        "# One",
        "Title\n===",
        "---",
        "```python",
        "```",
        "word",
        "def f():\n    return 1",
        "class A:\n    def b(self):\n        pass",
        "func x() {",
        "",
        "",
        "x" * 3000,
        SENTENCE * 60,
        "a b " * 400,
        "中文" * 700,
        "\x0c",
        "\r\n",
    ]
) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x1b"), max_size=30)
TEXTS = st.lists(BITS, max_size=12).map("\n".join)


@given(TEXTS, st.sampled_from(["text", "markdown", "python", "go"]))
def test_nothing_is_lost_and_lines_are_right(text, kind):
    read = {"text": read_text, "markdown": read_markdown}.get(kind)
    passages = cut(read(text) if read else read_code(text, kind))
    assert squeezed("".join(p.text for p in passages)) == squeezed(text)
    assert [p.position for p in passages] == list(range(len(passages)))
    lines = split_lines(text)
    for p in passages:
        assert 1 <= p.start_line <= p.end_line <= len(lines)
        within = squeezed("\n".join(lines[p.start_line - 1 : p.end_line]))
        assert squeezed(p.text) in within
    starts = [p.start_line for p in passages]
    assert starts == sorted(starts)


@given(TEXTS)
def test_no_passage_is_much_longer_than_the_target(text):
    for p in cut(read_markdown(text)):
        assert size(p.text) <= MAX_WORDS + TARGET_WORDS


def test_a_heading_begins_a_passage_and_names_its_section():
    found = cut(read_markdown("# Top\n\nOne.\n\n## Sub *it*\n\nTwo.\n\nThree."))
    assert [(p.section, p.start_line, p.end_line) for p in found] == [
        ("Top", 1, 3),
        ("Sub it", 5, 9),
    ]
    assert found[1].text == "## Sub *it*\n\nTwo.\n\nThree."


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("# Top\n## Sub\n\nText.", ["Sub"]),  # headings stay with what follows
        ("# Top\n## Sub", ["Sub"]),  # a document of headings is kept
        ("Words.\n\n# Top\n\nMore.", [None, "Top"]),
    ],
)
def test_section_is_the_nearest_heading_above_the_text(text, sections):
    found = cut(read_markdown(text))
    assert [p.section for p in found] == sections
    assert squeezed("".join(p.text for p in found)) == squeezed(text)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("## Sub\n\n# Top", "Top"),
        ("---\ntitle: 'From front'\n---\n# Top", "From front"),
        ("---\ntags: x\n...\nText", None),
        ("---\nnever closed", None),
        ("Top\n===\n\nSub\n---\n", "Top"),
        ("# [A link](x.md) and `code` {#anchor}", "A link and code"),
        ("#\n\ntext", None),
    ],
)
def test_the_title_is_the_top_heading_or_what_the_front_matter_says(text, title):
    assert read_markdown(text).title == title


def test_chapter_is_the_nearest_heading_above_the_section_and_never_the_title():
    text = "# Top\n\na\n\n## Two\n\nb\n\n### Three\n\nc\n\n#### Four\n\nd\n\n## Six\n\ne"
    found = split_passages(read_markdown(text), passage("", chapter=None))
    assert [(p.chapter, p.section) for p in found] == [
        (None, "Top"),
        (None, "Two"),
        ("Two", "Three"),
        ("Three", "Four"),
        (None, "Six"),
    ]


def test_heading_in_a_code_fence_is_not_a_heading():
    reading = read_markdown("```\n# not\n```\n\n~~~\n# nor\n~~~\n# Top")
    assert (reading.title, len(reading.blocks)) == ("Top", 3)
    longer = read_markdown("````\n```\n# not\n```\n````")
    assert [block.is_code for block in longer.blocks] == [True]


def test_a_long_paragraph_is_cut_between_sentences():
    found = cut(read_text(SENTENCE * 100))
    assert len(found) == 4
    assert all(p.text.rstrip().endswith("it.") for p in found)
    assert all(p.start_line == p.end_line == 1 for p in found)


PYTHON = '''"""Module."""

import os

LIMIT = 3


# About f.
@cache
def f(x):
    """Twice the size of all that was given, and whatever else may come to mind on the way.

    It goes on for some lines so that it is long enough to stand alone as a passage of its own.
    """
    return x * 2


TABLE = {}


class Small:
    """One, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen."""

    def method(self):
        """Fourteen, fifteen, sixteen, seventeen, eighteen, nineteen, twenty, twenty-one."""
'''


def test_python_is_cut_at_definitions_with_their_decorators_and_comments():
    reading = read_code(PYTHON, "python")
    assert [(b.section, b.text.splitlines()[0]) for b in reading.blocks] == [
        (None, '"""Module."""'),
        ("f", "# About f."),
        ("Small", "class Small:"),
        ("method", "    def method(self):"),
    ]
    assert reading.language == "python"


GO = """package main

import "fmt"

// Foo greets.
func (s *Server) Foo(a int) error {
	x()

	y()
}

type Bar struct {
}

static int baz(int a,
               int b) {
"""


def test_other_languages_are_split_at_what_looks_like_a_definition():
    sections = [(b.section, b.start_line) for b in read_code(GO, "go").blocks]
    assert sections == [(None, 1), ("Foo", 5), ("Bar", 12)]


@pytest.mark.parametrize("length", [2_000, 1_000_000])
def test_a_line_of_white_space_in_code_is_fast_and_counts_as_a_line(length):
    calls = "    call()\n" * 400
    passages = cut(read_code(f"def f():\n{' ' * length}\n{calls}    last()", "python"))
    assert (passages[0].start_line, passages[-1].end_line) == (1, 403)
    assert max(size(p.text) for p in passages) <= MAX_WORDS + TARGET_WORDS


def test_a_page_cannot_tag_itself():
    reading = html("<p>---<p>title: Ours<p>tags: [signed]<p>---<p>Text.")
    assert (reading.title, reading.tags, len(reading.blocks)) == (None, (), 5)


def test_comments_without_an_end_are_read_in_linear_time():
    assert len(read_markdown("<!--\n\n" * 300_000).blocks) == 300_000


PAGE = """<html><head><title>A  page</title><style>x{}</style></head><body>
<nav>Menu</nav><main><h1>Top <b>it</b></h1><p>One<br>two <a href="x">three</a></p>
<!-- not this --><ul><li>a</li><li>b</li></ul><pre>x = 1

```
y</pre><h2>Sub</h2>tail<script>no()</script><table><tr><td>1</td></tr></table></main>
<footer>Imprint</footer></body></html>"""


def test_form_around_the_whole_page_is_read_and_one_in_it_is_not():
    page = "<form><h1>Bins</h1><p>On Monday.</form><form><p>Search here.</form>"
    assert [block.text for block in html(page).blocks] == ["# Bins", "On Monday."]


def test_html_page_becomes_text_under_headings():
    reading = html(PAGE)
    assert [(p.section, p.text) for p in cut(reading)] == [
        ("Top it", "# Top it\n\nOne two three\n\n- a\n\n- b\n\n````\nx = 1\n\n```\ny\n````"),
        ("Sub", "## Sub\n\ntail\n\n1"),
    ]
    assert (reading.title, reading.language) == ("Top it", "")


def test_binary_content_holds_a_nul_unless_letters_are_wide():
    assert is_binary(b"GIF\0")
    assert is_binary(b"RIFF\0\0\1\0" + b"\1\0\2\0" * 99)
    assert not is_binary("wide without a mark".encode("utf-16-be"))
    assert not is_binary("wide".encode("utf-16"))
    assert not is_binary(b"text")
