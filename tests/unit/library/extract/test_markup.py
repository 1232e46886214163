"""Markup is parsed in bounded time: refused, cut or freed of what the parser copies."""

import pytest

from judge.errors import UnreadableDocument
from judge.library.extract.html_page import ReadPage, read_html
from judge.library.extract.markup import MAX_TAGS, limit_markup, parse_markup

HOSTILE = {
    "nested": "<div>" * 20_000,
    "nested in closed boxes": "<div><ul><dd>" * 10_000,
    "close themselves": "<ruby>" + "<rb>x" * 20_000,
    "option groups": "<select>" + "<optgroup>" * 20_000,
    "attributes": f"<p {' '.join(f'a{n}' for n in range(50_000))}>",
    "names": "".join(f"<p a{n} b{n}>" for n in range(28_000)),
    "attributes of html": "".join(f"<html a{n}=1>" for n in range(9_000)),
    "quotes": '<a x="' * 30_000,
}


@pytest.mark.parametrize("markup", HOSTILE.values(), ids=HOSTILE)
def test_markup_that_keeps_the_parser_busy_is_refused(markup: str) -> None:
    with pytest.raises(UnreadableDocument, match="Its markup"):
        limit_markup(markup.encode())
    assert read_html(markup.encode()) == ReadPage()


def test_scripts_and_comments_go_without_joining_or_splitting_words() -> None:
    page = b"20<!-- <p> -->%<script a>if (a<b) x</script>b<style>to the end"
    assert limit_markup(page) == b"20<!---->% b "
    assert b"<script" not in limit_markup(b"<scr<!-- -->ipt><<!-- -->script>")


def test_a_page_is_cut_after_the_last_tag_that_is_read() -> None:
    assert limit_markup(b"<p>x" * (2 * MAX_TAGS)).count(b"<") == MAX_TAGS - 1


def test_formatting_of_many_kinds_loses_its_attributes_so_that_it_is_not_copied() -> None:
    markup = "".join(f"<b id={n}>" for n in range(400)) + "<p>x" * 5_000
    assert len(parse_markup(limit_markup(markup.encode())).css("b")) < 25_000


def test_an_ordinary_page_stays_as_it_is() -> None:
    page = b'<body class="a b"><ul><li>one<li>two</ul><p>a<p id=x>b <b class=c>d</b><br>'
    assert limit_markup(page) == page
