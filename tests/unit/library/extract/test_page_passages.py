"""How the text of a page is split into passages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.library.extract.html_page import read_html
from judge.library.extract.page_passages import MAX_PASSAGES, MAX_WORDS

TEXT = "Your landlord has to repair the boiler within a reasonable time of being told about it."
MORE = "<p>" + "The rest goes on for a while about letters, rent and advice. " * 4 + "</p>"


def passages(inner, around="{}"):
    html = around.format(f"<main><h1>Repairs</h1>{inner}{MORE}</main>")
    return read_html(f"<html><body>{html}</body></html>".encode()).passages[:-1]


def texts(inner, around="{}"):
    return [passage.text for passage in passages(inner, around)]


def test_each_paragraph_is_a_passage_with_its_nearest_heading():
    found = passages(f"<p>{TEXT}</p><h2>Who pays</h2><p>{TEXT} A</p><h3>Late ¶</h3><p>{TEXT} B</p>")
    assert [(passage.heading, passage.text[-1]) for passage in found] == [
        ("", "."),
        ("Who pays", "A"),
        ("Late", "B"),
    ]


def test_list_is_joined_to_its_introduction():
    inner = "<p>You may have to pay:</p><ul><li>rent</li><li><p>the <b>deposit</b></p></li></ul>"
    assert texts(inner) == ["You may have to pay: rent; the deposit"]


def test_rows_of_a_table_are_read_as_a_list():
    inner = "<p>The rates are:</p><table><tr><td>21 and over</td><td>£12</td></tr></table>"
    assert texts(inner) == ["The rates are: 21 and over £12"]


def test_term_is_read_with_its_descriptions():
    inner = "<dl><dt>Unfair dismissal<dd>three months<dd>less a day<div><dt>Pay<dd>two</div></dl>"
    assert texts(inner) == ["Unfair dismissal three months less a day; Pay two"]


@pytest.mark.parametrize("title", ["<button>Who pays?</button>", "Who pays? <button>Copy</button>"])
def test_button_that_unfolds_a_text_is_its_heading(title):
    (found,) = passages(f"<h2>{title}</h2><div><p>{TEXT}</p></div>")
    assert found.heading == "Who pays?"


def test_repeated_text_is_one_passage():
    box = f"<div class=narrow><p>{TEXT}</p></div>"
    assert texts(f"{box}{box.replace('narrow', 'wide')}") == [TEXT]


def test_table_and_details_are_read_beside_a_long_text():
    folded = "<details><summary>Who pays?</summary><p>The landlord pays for it.</p></details>"
    table = "<table><tr><td>21 and over</td><td>£12 an hour</td></tr></table>"
    found = passages(f"<p>{TEXT * 4}</p>{table}{folded}")
    assert [(one.heading, one.text) for one in found[-2:]] == [
        ("", "21 and over £12 an hour"),
        ("Who pays?", "The landlord pays for it."),
    ]


@pytest.mark.parametrize(
    "junk",
    [
        "<nav><p>{}</p></nav>",
        "<div class=cookie-banner><p>{}</p></div>",
        "<div class=related-items><h2>Related</h2><p>{}</p></div>",
        "<footer><p>{}</p></footer>",
        "<ul><li><a href=/a>Contents of this page, part one</a></li></ul><!-- {} -->",
        "<p class=byline>By Jo Example</p><!-- {} -->",
        "<p>We use cookies to make this site work as well as it can.</p><!-- {} -->",
        "<div>Share</div><!-- {} -->",
    ],
)
def test_elements_around_the_content_are_not_passages(junk):
    assert texts(f"{junk.format(TEXT)}<p>{TEXT} A</p>") == [f"{TEXT} A"]


@pytest.mark.parametrize(
    ("begins", "word", "ends", "needed"),
    [
        ("We use cookies to remember.", "word", " Yes.", 60),
        ("Published in May,", "word", " yes.", 25),
        ("word", "word", "", 12),
        ("Pay", "Pay", ".", 4),
    ],
)
def test_short_text_that_looks_like_another_thing_is_not_a_passage(begins, word, ends, needed):
    more = needed - len(f"{begins}{ends}".split())
    long, short = (f"{begins}{f' {word}' * count}{ends}" for count in (more, more - 1))
    assert texts(f"<div><p>{long}</p><p>{short}</p></div>") == [long]


def test_code_and_lists_of_links_without_an_introduction_are_not_passages():
    links = "<ul><li><a href=/a>Rent arrears and debts</a></li><li>more of it</li></ul>"
    assert texts(f"<pre>{TEXT}</pre><p>{TEXT}</p>{links}") == [TEXT]
    assert texts(f"<p>Read also:</p>{links}") == ["Read also: Rent arrears and debts; more of it"]


def test_long_paragraph_is_split_between_sentences():
    found = texts(f"<p>{TEXT} {'It goes on. ' * 60}</p>")
    assert len(found) == 3
    assert all(len(text.split()) <= MAX_WORDS and text.endswith(".") for text in found)


@given(
    st.lists(
        st.sampled_from(
            "<p> </p> <ul> <li> </ul> <h2> </h2> <td> <table> <div> <dt> <dd> a: words. It is so. "
            "and|more <a> </a> &nbsp; <main> <section>".split(" ")
        ),
        max_size=300,
    )
)
def test_number_and_length_of_passages_are_bounded(parts):
    found = read_html((" ".join(parts) * 5).encode()).passages
    assert len(found) <= MAX_PASSAGES
    assert all(0 < len(passage.text.split()) <= MAX_WORDS for passage in found)
    assert all("\n" not in passage.text + passage.heading for passage in found)


def test_passages_under_one_heading_are_joined_first():
    section = f"<p>{TEXT}</p><p>{TEXT} And</p><p>so on. {TEXT}</p>"
    found = passages("".join(f"<h2>Part {n}</h2>{section}" for n in range(30)))
    assert [one.heading for one in found] == [f"Part {n}" for n in range(30)]
    assert {one.text for one in found[:-1]} == {f"{TEXT} {TEXT} And so on. {TEXT}"}
