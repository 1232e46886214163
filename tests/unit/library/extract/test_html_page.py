"""A page is read from its bytes: title, lead and description."""

import pytest

from judge.library.extract.html_page import read_html

TEXT = "Your landlord has to repair the boiler within a reasonable time of being told about it."
PAGE = f"<head><title>Window | Site</title></head><body><main>{{}}{f'<p>{TEXT}</p>' * 6}</main>"


HEADED = PAGE.format("<h1>Repairs</h1>")
MORE = "<h1>Tell us more</h1>"


@pytest.mark.parametrize(
    ("page", "title"),
    [
        (HEADED, "Repairs"),
        (PAGE.format("<h1>Repairs<a href=#x>\u00b6</a></h1>"), "Repairs"),
        (PAGE.format("<meta property=og:title content=Told>"), "Window"),
        (PAGE.format("<meta property=og:title content>"), "Window"),
        (PAGE.format(""), "Window"),
        (PAGE.format("").replace("<head>", "<head><meta property=og:title content=Told>"), "Told"),
        (HEADED.replace("<main>", f"{MORE}<main>"), "Repairs"),
        (f"<p>{TEXT}</p>", ""),
        (f"<title>Repairs - Site</title><h1>Site</h1><h2>Repairs</h2><p>{TEXT}</p>", "Repairs"),
        (f"<title>Repairs</title><h1>Repairs</h1><h2>Repairs</h2><p>{TEXT}</p>", "Repairs"),
        (f"<title>Site: A</title><h1>Site</h1><main><h1>A</h1><p>{TEXT}</p></main>", "A"),
    ],
)
def test_title_is_the_heading_or_else_the_window_title_without_the_site(page, title):
    assert read_html(page.encode()).title == title


def test_charset_of_the_response_is_used():
    body = PAGE.format("<h1>Ремонт</h1>").encode("windows-1251")
    assert read_html(body, charset="windows-1251").title == "Ремонт"


def test_description_above_the_text_is_skipped_if_the_site_has_descriptions():
    body = PAGE.format("<h1>A</h1><p class=lead>What the law says of repairs and who pays.</p>")
    assert read_html(body.encode(), has_description=True).lead == TEXT
    assert read_html(body.encode()).lead.startswith("What the law says")


@pytest.mark.parametrize(
    "unit",
    [
        *("<p>a. ", "<dt>Applies to:<dd>England and ", "<time datetime=2020-01-01>updated "),
        *("<title>", "ld+json>", "<option>a", "<a" + "b" * 130, "\u200b"),
    ],
)
def test_two_mebibytes_of_repetitive_markup_end_without_a_lead(unit):
    body = ("<select><p>" + unit * (2 * 1024 * 1024 // len(unit))).encode()
    # If time grew with the square of the length, this would not end before the suite gives up.
    found = read_html(body)
    assert (found.title, found.lead, found.passages) == ("", None, ())


@pytest.mark.parametrize(
    ("refresh", "is_quoted"),
    [
        ("0; url=/new", False),
        ("5;/new", False),
        ("30; url=/new", False),
        ("300", True),
        ("60; url=/", True),
    ],
)
def test_page_that_redirects_at_once_has_no_lead(refresh, is_quoted):
    meta = f'<meta http-equiv="Refresh" content="{refresh}">'
    found = read_html(PAGE.replace("<head>", f"<head>{meta}").format("<h1>Repairs</h1>").encode())
    assert (found.lead, found.title) == (TEXT if is_quoted else None, "Repairs")


@pytest.mark.parametrize(
    "title", ["error" + "!" * 100_000 + "x", "404 " * 50_000 + "x", "sorry " * 9]
)
def test_very_long_title_is_cut_and_the_lead_read(title):
    body = f"<title>{title}</title><h1>{title}</h1><p>{TEXT}</p>".encode()
    found = read_html(body)
    assert found.title[:50] == title[:50]
    assert len(found.title) < 200
    assert found.lead == TEXT
