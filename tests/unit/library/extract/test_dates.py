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
        "3.5.2024",
    ],
)
def test_date_is_parsed_in_any_common_format(text):
    assert parse_date(text) == DAY


@pytest.mark.parametrize("month", range(1, 13))
def test_every_month_is_parsed_by_name_and_abbreviation(month):
    day = date(2024, month, 3)
    for written in ("%d %B %Y", "%d %b %Y", "%B %d, %Y"):
        assert parse_date(day.strftime(written)) == day


def test_month_comes_first_in_figures_that_can_be_no_day_and_month():
    assert parse_date("9/25/2024") == date(2024, 9, 25)


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
        "<p>Last modified: Wednesday, at 12:30 on May 3, 2024</p>",
        "<p>Last modified on Wednesday the 3rd of May 2024</p>",
        "<p>Updated 10:32 AM EDT, Wednesday May 3, 2024</p>",
        "<p>Last revised: May 3, 2024</p>",
        "<p>Last checked: 3 May 2024</p>",
        "<p>This page was last changed on 3 May 2024.</p>",
        "<p>Last review: 3 May 2024</p>",
        "<p>Leaflet revised 3 May 2024</p>",
        "<p>Page Last Reviewed or Updated: 03-May-2024</p>",
        "<p>First published 1 May 2019, last updated 3 May 2024</p>",
        "<p>By Jo Example, Attorney Updated May 3, 2024</p>",
        "<p>Written by Jo Example and reviewed on 3 May 2024</p>",
        "<p>5 minutes to read Last updated 3 May 2024</p>",
        "<p><time class='entry-date updated' datetime=2024-05-03>spring</time></p>",
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


@pytest.mark.parametrize(
    "text",
    [
        "The government updated its guidance on 1 March 2020.",
        "HMRC published new rates on 6 April 2023.",
        "When we reviewed the case on 3 June 2022, we found no fault.",
        "A letter posted on 4 March 2021 is served two days later.",
        "Regulations published on 12 May 2022 set the fee.",
        "The report, published on 12 May 2022, says so.",
        "Fees updated 1 April 2023 apply to claims made since.",
        "The form was last changed on 1 May 2019.",
        "You can have the decision reviewed, by 1 May 2019 at the latest.",
    ],
)
def test_what_others_did_on_a_day_is_not_the_date_of_the_page(text):
    assert updated(f"<p>{text}</p>") is None
    assert updated(f"<p>The rules. {text}</p><p>Updated 3 May 2024</p>") == DAY


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
