"""The answer format, byte for byte, and the citations of a reply."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.citations.marks import find_cite_marks
from judge.library.search.answer_format import (
    count_sources,
    format_answer,
    reply_marks,
)
from judge.types.search import Hit
from tests.fakes.passages import passage

GOLDEN = Path(__file__).parents[3] / "fixtures" / "search"
HITS = [
    Hit(
        passage(
            "def greet(name):\n    return f'Hello {name}'\n",
            path="src/greeting.py",
            language="python",
            start_line=10,
            end_line=11,
        ),
        0.85,
    ),
    Hit(
        passage(
            "## Running\n\n```bash\nmake run\n```",
            path="docs/run it.md",
            language="markdown",
            start_line=5,
            end_line=9,
        ),
        0.78,
    ),
    Hit(passage("Plain words.", path="notes.txt", start_line=1, end_line=1), 0.5),
]


def test_answer_is_unchanged_to_the_byte():
    assert format_answer(HITS) == (GOLDEN / "answer.txt").read_text()


def test_no_results_are_stated():
    assert format_answer([]) == (GOLDEN / "answer-empty.txt").read_text()


@given(st.text("`~a\n", max_size=40))
def test_no_text_can_close_its_fence(text):
    answer = format_answer([Hit(passage(text), 1.0)])
    fence = answer.split("\n")[3]
    assert set(fence) == {"`"}
    assert len(fence) >= 3
    inside = answer.split("\n")[4:-5]
    assert all(not re.match(rf" *`{{{len(fence)},}} *$", line) for line in inside)


def test_a_path_stays_on_its_line():
    answer = format_answer([Hit(passage("x", path="a\nb.md"), 1.0)])
    assert "[1] a b.md:1-1\n" in answer


@pytest.mark.parametrize(
    ("reply", "bad"),
    [
        ('It is so <cite i="1"/> and <cite i="2"/>.', []),
        ("<cite i='2' /> <cite i=1/> <CITE I=\"1\">", []),
        ('<cite i="3"/>', ['<cite i="3"/>']),
        ('<cite i="0"/><cite i="-1"/>', ['<cite i="0"/>', '<cite i="-1"/>']),
        ('<cite i="x"/>', ['<cite i="x"/>']),
        ('<cite/> <cite i="1" j="2"/>', ["<cite/>", '<cite i="1" j="2"/>']),
        ("<cite i=\"1'/>", ["<cite i=\"1'/>"]),
        ('<cite i="1"', ['<cite i="1"']),
        ('<cite i="99999999999"/>', ['<cite i="99999999999"/>']),
        ("no marks, <citation/>", []),
    ],
)  # fmt: skip
def test_citations_without_a_source_are_found(reply, bad):
    assert [mark.text for mark in reply_marks(reply, 2) if not mark.in_range] == bad


def test_generated_answer_includes_its_sources():
    answer = format_answer(HITS)
    assert count_sources(answer) == 3
    assert [mark.text for mark in find_cite_marks(answer)] == [
        '<cite i="1"/>',
        '<cite i="2"/>',
        '<cite i="3"/>',
    ]
    assert [mark.in_range for mark in reply_marks(answer, 3)] == [True] * 3
