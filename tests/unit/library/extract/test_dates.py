"""The date of a page is read where publishers put it, and from nothing else."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.library.extract.html_page import read_html
from judge.library.extract.page_status import parse_date

DAY = date(2024, 5, 3)


def updated(markup):
    return read_html(f"<html>{markup}</html>".encode()).updated


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-03",
        "2024-05-03T09:33:15+01:00",
        "3 May 2024",
        "3rd of May, 2024",
        "3/5/2024",
        "2024/05/03",
        "2024-5-3",
        "20240503",
        "May 3, 2024",
        "03/05/2024",
    ],
)
def test_date_is_parsed_in_any_common_format(text):
    assert parse_date(text) == DAY


@pytest.mark.parametrize("month", range(1, 13))
def test_every_month_is_parsed_by_name_and_abbreviation(month):
    day = date(2024, month, 3)
    for written in ("%d %B %Y", "%d %b %Y", "%B %d, %Y"):
        assert parse_date(day.strftime(written)) == day


@pytest.mark.parametrize(
    "text",
    ["", "May 2024", "2024", "30 February 2024", "2024-13-01", "1/2/3", "103/05/2024", "120240503"],
)
def test_text_without_a_valid_date_gives_none(text):
    assert parse_date(text) is None


@pytest.mark.parametrize(
    "markup",
    [
        '<script type="application/ld+json">{"dateModified": "2024-05-03T01:02:03Z"}</script>',
        '<p>a</p><script type="application/ld+json">{"dateModified": "2024-05-03"}</script>',
        '<meta property="article:modified_time" content="2024-05-03T01:02:03Z">',
        '<meta name="govuk:public-updated-at" content="2024-05-03T01:02:03Z">',
        '<script type="application/ld+json">{"a": "</p>", "dateModified": ["2024-05-03"]}</script>',
        '<script type="application/ld&#x2B;json">{"dateModified": "2024-05-03"}</script>',
        "<footer>Last updated: 3 May 2024</footer>",
        "<footer>Last update:&nbsp;3&nbsp;May&nbsp;2024</footer>",
        "<dl><dt>Last updated</dt>\n<dd><strong>3 May 2024</strong></dd></dl>",
        "<p>Page last reviewed: <time datetime='2024-05-03'>a while ago</time></p>",
        "<p>Published on 3 May 2024</p>",
        '<meta http-equiv="last-modified" content="Fri, 03 May 2024 10:00:00 GMT">',
        '<meta itemprop="dateModified" content="2024-05-03">',
        "<p><time itemprop=dateModified datetime=2024-05-03>last spring</time></p>",
    ],
)
def test_date_of_the_publisher_is_found(markup):
    assert updated(markup) == DAY


def test_last_update_is_preferred_to_the_publication():
    markup = '<script type="application/ld+json">{"datePublished": "2001-01-01"}</script>'
    assert updated(markup + "<p>Updated 3 May 2024</p>") == DAY
    assert updated(markup) == date(2001, 1, 1)


@pytest.mark.parametrize("subject", ["The law was", "Limits have been", "Costs were last"])
def test_update_of_another_subject_is_not_the_date_of_the_page(subject):
    assert updated(f"<p>{subject} updated on 1 May 2001. </p><p>Updated 3 May 2024</p>") == DAY
    assert updated(f"<p>{subject} updated on 1 May 2001.</p>") is None


@pytest.mark.parametrize("subject", ["This page was", "The guidance has been", "Content last"])
def test_update_of_the_page_itself_is_its_date(subject):
    assert updated(f"<p>{subject} updated on 3 May 2024.</p>") == DAY


@pytest.mark.parametrize("word", ["Edited", "Reviewed", "Posted"])
def test_longer_word_that_contains_a_label_is_not_a_label(word):
    assert updated(f"<p>{word}: 3 May 2024</p>") == DAY
    assert updated(f"<p>{word}s 3 May 2024</p>") is None
    assert updated(f"<p>Un{word.lower()} 3 May 2024</p>") is None


@given(st.text())
def test_any_text_is_parsed_without_an_error(text):
    assert parse_date(text) is None or isinstance(parse_date(text), date)
