from datetime import UTC, datetime

import pytest

from judge.library.extract.document_reader import DocumentMetadata, read_document
from judge.library.extract.markdown import read_front_matter
from judge.library.extract.text_blocks import DocumentText

SPRING = datetime(2025, 3, 1, tzinfo=UTC)
YAML = """---
title: "A: title"
tags: [one, 'two']
date: 2025-03-01
author:
  name: Somebody
---
# Heading

Text."""
TOML = """+++
title = "A: title"
tags = ["one", "two"]
date = 2025-03-01
+++
Text."""


@pytest.mark.parametrize(("text", "end"), [(YAML, 7), (TOML, 5)])
def test_front_matter_gives_title_tags_and_date(text, end):
    told = DocumentText((), "A: title", tags=("one", "two"), date=SPRING)
    assert read_front_matter(text.split("\n")) == (end, told)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("tags: one, two", ("one", "two")),
        ("tags:\n  - one\n  - two", ("one", "two")),
        ("Tags: []", ()),
        ("# tags: one\nlayout: page", ()),
        ("tags: [one, 'two, three'] # so far", ("one", "two, three")),
        ("tags: [one,\n  two]", ("one", "two")),
        ('tags: ["to\\n do"]', ("to do",)),
        ('tags: ["#lease", "c#"]', ("lease", "c#")),
        ("title: [Draft] Lease\ntags: [one, two]", ("one", "two")),
        ("tags: {one: two}", ()),
    ],
)
def test_tags_are_lists_of_any_kind(tags, expected):
    assert read_front_matter(f"---\n{tags}\n---".split("\n"))[1].tags == expected


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2025-03-01T02:00:00+02:00", SPRING),
        ("spring", None),
        ("0001-01-01T00:00:00+05:00", None),
    ],
)
def test_date_is_utc_and_an_invalid_one_is_left_out(date, expected):
    assert read_front_matter(["---", f"date: {date}", "---"])[1].date == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("title: >-\n  A long\n  title", "A long title"),
        ('"title": "A \\"quoted\\" one"', 'A "quoted" one'),
        ("title: Part 1: The start, \U0001f600\ntags: [a]", "Part 1: The start, \U0001f600"),
        ("title: [Draft] Lease # 2", "[Draft] Lease # 2"),
        ("title: Guide\nauthor: @jo\nrate: %10", "Guide"),
        ("title: `run` it", "`run` it"),
    ],
)
def test_titles_are_written_in_any_way_that_yaml_has(title, expected):
    assert read_front_matter(f"---\n{title}\n---".split("\n"))[1].title == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"---\ntitle: {'[' * 4_000}\n---", id="deep brackets"),
        pytest.param(f"---\n{'- ' * 2_000}\n---", id="deep lists"),
        pytest.param(f"+++\na = {'[' * 4_000}\n+++", id="deep arrays"),
        pytest.param(f"+++\na{'.a' * 20_000} = 1\n+++", id="deep keys"),
        "---\ntags: &all [*all, one]\n---",
        "---\ntitle: a\x01b\n---",
        "",
        "---",
        "---\n\n---",
        "---\ntitle: never closed",
        "---\nA rule above and a rule below are text.\n---",
        "+++\nno toml\n+++",
        " ---\ntitle: x\n---",
    ],
)
def test_other_text_is_not_front_matter(text):
    assert read_front_matter(text.split("\n")) == (0, DocumentText(()))


def read(text, **known):
    place = dict.fromkeys(("collection", "document_id", "path"), "a")
    return read_document(
        text.encode(), DocumentMetadata(name="a.md", **place, **known), lambda _: None
    )


def test_front_matter_is_metadata_and_not_a_passage():
    (passage,) = read(YAML).passages
    assert passage.text == "# Heading\n\nText."
    assert (passage.start_line, passage.end_line) == (8, 10)
    assert (passage.title, passage.tags, passage.modified) == ("A: title", ("one", "two"), SPRING)


def test_caller_overrides_front_matter():
    known = datetime(2024, 1, 1, tzinfo=UTC)
    (passage,) = read(YAML, title="Mine", tags=("two", "three"), modified=known).passages
    assert (passage.title, passage.modified) == ("Mine", known)
    assert passage.tags == ("two", "three", "one")
