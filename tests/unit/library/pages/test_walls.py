"""What a server sends in place of a page, with status 200, is told from the page."""

import gzip
import json
from collections.abc import Iterator
from html import escape
from pathlib import Path

import pytest

from judge.library.extract.govuk import parse_content_item
from judge.library.extract.html_page import ReadPage, read_html
from judge.library.pages.page_records import PageRecord
from judge.library.pages.walls import wall_sign
from judge.types.references import SourceSpec
from tests.fakes.clock import FakeClock

SHARED = Path(__file__).resolve().parents[5] / "shared"
CASES = SHARED / "cases" / "live"
EVAL = SHARED / "eval"

REPAIRS = SourceSpec("https://a.example/r", "Repairs in your home", ("boiler", "landlord", "damp"))
GUIDANCE = (
    "<title>Repairs in your home</title><main><h1>Repairs in your home</h1>"
    "<p>Your landlord must keep the structure of the home and the boiler in repair, whatever the "
    "tenancy agreement says about it.</p>"
    + "".join(
        f"<p>{word} is for the landlord to put right within a reasonable time of being told; keep "
        "a copy of the letter, take photographs, and ask the council to inspect if nothing is done "
        "by then.</p>"
        for word in ("Damp", "A leaking roof", "A broken boiler", "Faulty wiring", "A rotten door")
    )
)
FIXTURES = Path(__file__).parents[3] / "fixtures"


def walls(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (FIXTURES / name).read_text().splitlines()]


WALLS = walls("walls.tsv")
"""The name, the title and the text of forty kinds."""

IN_OWN_WORDS = walls("walls_in_own_words.tsv")
"""More of them, some without a phrase that walls have in common."""


def as_last(page: ReadPage) -> PageRecord:
    """*page* as it is known the day after."""
    return PageRecord(page.lead or "", FakeClock().now(), page.title, page.passages)


YESTERDAY = as_last(read_html(GUIDANCE.encode()))


@pytest.mark.parametrize(("name", "own_title", "text"), WALLS, ids=[name for name, *_ in WALLS])
def test_wall_is_told_from_the_page(name: str, own_title: str, text: str):
    # Titled as itself, or as the page that it stands in for.
    for title in (own_title, REPAIRS.title, f"{REPAIRS.title} | Example Advice"):
        html = f"<title>{title}</title><main><h1>{title}</h1><p>{text}</p></main>"
        page = read_html(html.encode())
        assert wall_sign(REPAIRS, page, YESTERDAY)
        assert wall_sign(REPAIRS, page, None) or not page.lead


@pytest.mark.parametrize(("name", "own_title", "text"), IN_OWN_WORDS)
def test_wall_in_its_own_words_is_told_from_the_page(name: str, own_title: str, text: str):
    for title in (own_title, REPAIRS.title):
        html = f"<title>{title}</title><main><h1>{title}</h1><p>{escape(text)}</p></main>"
        page = read_html(html.encode())
        assert wall_sign(REPAIRS, page, YESTERDAY)
        # Under the page's own title a first read cannot tell it.
        assert title == REPAIRS.title or wall_sign(REPAIRS, page, None) or not page.lead


MOVED = [
    "This page about repairs has a new address.",
    "We have a new website: our advice on damp in your home can now be found there.",
    "The guidance on repairs that was here is now part of our guide to landlords.",
    "If you are not taken to the page on repairs automatically, please follow this link.",
    "You will be taken to the new page on repairs and damp.",
    "Mae'r dudalen hon wedi symud.",
    "Mae'r cyngor hwn bellach ar dudalen newydd. Dilynwch y ddolen hon.",
    "We have a new home for our advice on repairs in your home.",
    "Advice about repairs is now on our new site; update your favourites.",
    "The address of this page has changed. Use the new one for repairs from now on.",
    "This guide to repairs is now published by the council.",
    "Our pages on repairs have moved to the new site of the council.",
    "We merged this page with the one on damp. Continue to that page.",
]


@pytest.mark.parametrize("text", MOVED)
def test_page_that_only_says_that_it_has_moved_is_a_wall(text: str):
    page = read_html(f"<h1>{REPAIRS.title}</h1><p>{text}</p>".encode())
    assert wall_sign(REPAIRS, page, None) or not page.lead
    page = read_html(GUIDANCE.replace("<p>", f"<p>{text}</p><p>", 1).encode())
    assert not wall_sign(REPAIRS, page, YESTERDAY)


def test_page_that_speaks_of_moving_and_of_courts_has_not_moved():
    text = "If your landlord has moved, you will be taken to court where the home is, damp or not."
    page = read_html(f"<h1>{REPAIRS.title}</h1><p>{text}</p>".encode())
    assert not wall_sign(REPAIRS, page, None)


@pytest.mark.parametrize(
    ("title", "topics", "text"),
    [
        (
            "Cookies and privacy",
            ("cookies", "consent"),
            (
                "A website must ask for your consent before it stores cookies on your device, and"
                " a page that takes scrolling for a yes breaks the rules. Refuse them all if you "
                "wish."
            ),
        ),
        (
            "Locked out of your account",
            ("account", "password"),
            (
                "If you are locked out of your account, ask for a new password first. The company"
                " must say why your account was suspended or blocked, and how you can sign in "
                "again."
            ),
        ),
        (
            "Server errors when you file a tax return",
            ("tax return", "penalty", "deadline"),
            (
                "If you could not file since the service was unavailable, take a picture of the "
                "error and try again later. File as soon as the site is back online, and appeal "
                "against the penalty within thirty days. A form on paper is no use for most, and "
                "whoever filed late for a week because of a fault of their own will have to pay. "
                "Say in the appeal when you tried, and what you saw each time."
            ),
        ),
        (
            "Waiting times at the surgery",
            ("doctor", "appointment", "surgery"),
            (
                "Your surgery has to tell you what happens next; it may not ask you to wait. If "
                "you are number 30 in the queue, ask to be called back."
            ),
        ),
        (
            "Turned away at the border",
            ("visa", "travel", "appeal"),
            (
                "If you are refused entry, the officer must give you the reason in writing. You "
                "may appeal before you are sent back. A visa that was blocked by error can be "
                "restored; ask for the reference number and write to the embassy. Do not sign what "
                "you cannot read, and ask for a lawyer if they want to keep you for longer than a "
                "day. The airline has to take you home."
            ),
        ),
        (
            "Complain about a college",
            ("college", "apprenticeship"),
            "Tell your tutor, human resources or your manager if you have a problem there.",
        ),
        (
            "Apply for a school place",
            ("school", "admissions"),
            (
                "Applications open on 1 November and close on 15 January.</p><p>To apply, create "
                "an account or sign in. You need your child's date of birth and your council tax "
                "reference number."
            ),
        ),
        (
            "Join the housing register",
            ("council home", "housing"),
            (
                "You can join if you have lived here for three years.</p><p>Register online. If "
                "you are refused or removed, ask us for a review within 21 days."
            ),
        ),
        (
            "Report a repair",
            ("repair", "council home"),
            (
                "Sign in to your account to report a repair.</p><p>If you have no account, register"
                " first. The online service is unavailable at night for maintenance."
            ),
        ),
    ],
)
def test_guidance_about_the_same_things_is_no_wall(title, topics, text):
    source = SourceSpec("https://a.example/x", title, topics)
    page = read_html(f"<title>{title}</title><h1>{title}</h1><p>{text}</p>".encode())
    assert page.lead
    assert not wall_sign(source, page, None)
    assert not wall_sign(source, page, as_last(page))


TEXT = "<p>Your landlord must keep the home and its boiler in repair, whatever the lease says.</p>"


@pytest.mark.parametrize(
    "title",
    [
        "404",
        "Error 404",
        "404 error: page not found",
        "Page not found",
        "Sorry, we can\u2019t find that page",
        "The page you requested could not be found",
        "Access Denied",
        "Service unavailable",
        "Sorry, there is a problem with the service",
        "Invalid URL",
        "Search results",
        "Search",
    ],
)
def test_page_titled_as_an_error_is_a_wall_whatever_it_says(title: str):
    for head, heading in ((title, "Repairs"), (f"{title} | Example Council", ""), ("", title)):
        page = read_html(f"<title>{head}</title><h1>{heading}</h1>{TEXT * 9}".encode())
        assert wall_sign(REPAIRS, page, None), (head, heading)


@pytest.mark.parametrize(
    "title",
    [
        *("Not found guilty: what next", "Access denied to your child", "404 homes", "Error codes"),
        *(" | Example Council", "- | Example Council", "\u2014"),
    ],
)
def test_page_about_an_error_or_with_its_site_alone_in_the_title_is_no_wall(title: str):
    page = read_html(f"<title>{title}</title><h1>Repairs</h1>{TEXT * 9}".encode())
    assert not wall_sign(REPAIRS, page, None)


@pytest.mark.parametrize(
    "found",
    [
        "We looked for that page and could not find it. It was moved or removed, sorry: try again",
        "We can\u2019t find what you\u2019re looking for. That page isn\u2019t here: try again",
    ],
)
def test_missing_page_that_lists_other_pages_of_the_site_is_a_wall(found: str):
    links = "".join(f"<li>{name}</li>" for name in ("Repairs in your home", "Damp", "Landlords"))
    html = f"<h1>Oh dear</h1><p>{found} with our search box.</p><p>Popular now:</p><ul>{links}</ul>"
    assert wall_sign(REPAIRS, read_html(html.encode()), None)


@pytest.mark.parametrize(
    ("title", "sign"),
    [("Oh dear", "unlike"), ("Repairs in your home", ""), ("[Withdrawn] Repairs", ""), ("", "")],
)
def test_missing_page_does_not_withdraw_the_page_that_was_there(title: str, sign: str):
    page = read_html(f"<h1>{title}</h1><p>This page is no longer available.</p>".encode())
    assert page.withdrawn
    assert wall_sign(REPAIRS, page, YESTERDAY) == sign


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Checking", "Hold on while we see that it's really you. This takes a few seconds."),
        ("Whoops", "Something broke on our end. Go back or start again at the home page."),
        ("Down", "Sorry! Our servers have gone on strike. Engineers are looking at it."),
        (
            "Protected: Repairs in your home",
            "This content is password-protected. To view it, please enter the password below.",
        ),
    ],
)
def test_few_words_that_are_not_of_the_subject_are_a_wall(title: str, text: str):
    page = read_html(f"<title>{title}</title><h1>{title}</h1><p>{text}</p>".encode())
    assert wall_sign(REPAIRS, page, None)
    page = read_html(b"<title>Repairs</title><h1>Repairs</h1><p>A leak has to be mended at once.")
    assert not wall_sign(REPAIRS, page, None)


def test_page_that_has_become_a_remnant_of_itself_is_a_wall():
    page = read_html(b"<h1>Repairs</h1><p>Your landlord must keep the boiler in repair.</p>")
    assert not wall_sign(REPAIRS, page, None)
    assert wall_sign(REPAIRS, page, YESTERDAY) == "shrunk"


def test_page_that_was_rewritten_on_its_subject_is_no_wall():
    text = "The landlord repairs the home: the roof, the boiler, the drains, and damp in walls. "
    page = read_html(f"<h1>Fixing things</h1><p>{text * 3}</p>".encode())
    assert not wall_sign(REPAIRS, page, YESTERDAY)


@pytest.mark.parametrize(("words", "sign"), [(0, "visit"), (100, "")])
def test_longer_page_is_a_wall_by_more_signs(words: int, sign: str):
    text = "You may be refused where an owner objects, and there is a limit. "
    source = SourceSpec("https://a.example/x", "Street parties", ("road", "permit"))
    page = read_html(
        f"<h1>Street parties</h1><p>{text}{'Ask them first. ' * (words // 3)}</p>".encode()
    )
    assert wall_sign(source, page, None) == sign


def test_page_on_another_subject_that_shares_a_word_is_a_wall_once_it_is_known():
    text = "The landlord of the Red Lion pours the best beer between here and the sea. "
    page = read_html(f"<h1>Our pubs</h1><p>{text * 8}</p>".encode())
    assert not wall_sign(REPAIRS, page, None)
    assert wall_sign(REPAIRS, page, YESTERDAY) == "changed"


# The shared cases and pages, where they are


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def good_pages() -> dict[str, tuple[SourceSpec, ReadPage]]:
    return {
        case["name"]: (
            SourceSpec("https://a.example/x", case["title"], tuple(case["topics"])),
            read_html((CASES / case["file"]).read_bytes()),
        )
        for case in lines(CASES / "good.jsonl")
    }


@pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not here")
def test_shared_walls_are_walls_and_good_pages_are_not():
    good = good_pages()
    for name, (source, page) in good.items():
        assert not wall_sign(source, page, None), name
    for case in lines(CASES / "walls.jsonl"):
        wall = read_html((CASES / case["file"]).read_bytes())
        for name, (source, page) in good.items():
            assert wall_sign(source, wall, as_last(page)), (case["name"], name)
        is_open = case["first_read"] == "open"
        assert is_open or wall_sign(good[case["yesterday"]][0], wall, None), case["name"]


def real_pages() -> Iterator[tuple[str, ReadPage | None]]:
    """Real pages, each with the title that a source would have."""
    for path in (EVAL / "first_paragraph").rglob("*.html*"):
        data = path.read_bytes()
        page = read_html(gzip.decompress(data) if path.suffix == ".gz" else data)
        yield page.title, page
    for path in (EVAL / "govuk").glob("*.json"):
        item = json.loads(path.read_bytes())
        url = f"https://www.gov.uk{item.get('base_path') or '/'}"
        yield str(item.get("title")), parse_content_item(path.read_bytes(), url)


@pytest.mark.slow
@pytest.mark.skipif(not EVAL.exists(), reason="the real pages are not here")
def test_no_real_page_is_taken_for_a_wall():
    for title, page in real_pages():
        if page and page.lead:
            source = SourceSpec("https://a.example/x", title)
            assert not wall_sign(source, page, as_last(page)), title
