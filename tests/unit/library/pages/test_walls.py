"""What a server sends in place of a page, with status 200, is told from the page."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.library.extract.govuk import parse_content_item
from judge.library.extract.html_page import ReadPage, read_html
from judge.library.pages.walls import wall_reason
from judge.library.rank.candidate_index import CandidatePage
from judge.types.references import SourceSpec

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
WALLS = {
    "anubis": (
        "Making sure you're not a bot!|Loading... You are seeing this because the administrator"
        " of this website has set up Anubis to protect the server against aggressive scraping."
    ),
    "perimeterx": (
        "Access to this page has been denied|We believe you are using automation tools to "
        "browse the website. Javascript is disabled or blocked by an extension."
    ),
    "imperva": (
        "Pardon Our Interruption|As you were browsing something about your browser made us "
        "think you were a bot. Cookies are disabled."
    ),
    "incapsula": (
        "Request unsuccessful|Request unsuccessful. Incapsula incident ID: 8770-3311. Contact "
        "the administrator of this site if the problem persists."
    ),
    "f5": (
        "Request Rejected|The requested URL was rejected. Please consult with your "
        "administrator. Your support ID is: 1234567890."
    ),
    "sucuri": (
        "Sucuri WebSite Firewall - Access Denied|Access was denied. If you are the site owner, "
        "whitelist your IP address. Block reason: bad bot."
    ),
    "cloudflare": (
        "Just a moment...|Checking if the site connection is secure. This website needs to "
        "review the security of your connection before proceeding."
    ),
    "cloudflare-1020": (
        "Access denied | Error code 1020|You do not have access to this site. The owner may "
        "have set restrictions that prevent you from accessing it."
    ),
    "cloudflare-525": (
        "Error 525|SSL handshake failed. The origin server did not present a certificate; "
        "please try again in a few minutes."
    ),
    "vercel": (
        "Vercel Security Checkpoint|We're verifying your browser. Website owner? Enable "
        "JavaScript to continue past this check."
    ),
    "akamai": (
        "Access Denied|You don't have permission to access this address on this server. "
        "Reference #18.2f3a17."
    ),
    "datadome": (
        "Please enable JS and disable any ad blocker|We need to be certain that you are a human"
        " visitor before we let you in."
    ),
    "press-and-hold": (
        "Robot or human?|Activate and hold the button to confirm that you're human. Thank you "
        "for your patience."
    ),
    "captcha": (
        "Security check|Type the characters that you see in the picture, so that the site knows"
        " that you are no robot, then press Continue."
    ),
    "rate-limit": (
        "Too Many Requests|You have sent too many requests in a given amount of time. Please "
        "slow down and try again later."
    ),
    "consent": (
        "We value your privacy|We and our 812 partners store and access information on a "
        "device, such as cookies, and process personal data for personalised advertising. "
        "Accept all or manage choices."
    ),
    "consent-before": (
        "Before you continue|We use cookies and data to deliver our services, measure audiences"
        " and protect against spam. Reject all or accept all."
    ),
    "sign-in": (
        "Sign in to your account|Enter your e-mail address and password to continue. Forgotten "
        "your password? Create an account if you are new here."
    ),
    "sso": (
        "Single sign-on|You will be asked for the password of your organisation. Contact the "
        "service desk if you cannot log in to this site."
    ),
    "members": (
        "Members only|This page is only for members. Log in, or join today: membership costs "
        "five pounds a month and the first month is free."
    ),
    "paywall": (
        "Subscribe to keep reading|You have read your three free articles this month. Subscribe"
        " from one pound a week, or sign in if you are already a subscriber."
    ),
    "age": (
        "Age verification|You must be 18 or over to enter this website. Please enter your date "
        "of birth to continue."
    ),
    "queue": (
        "You are now in line|You are in a queue. When it is your turn you will have ten minutes"
        " to enter the website. Your number in line is 5120."
    ),
    "busy": (
        "Our service is very busy|There are many visitors at the moment. Please wait and do not"
        " refresh this page; we will take you in when there is room."
    ),
    "maintenance": (
        "Scheduled maintenance|The website is down for maintenance and will be back soon. We "
        "are sorry for the inconvenience."
    ),
    "coming-soon": (
        "Coming soon|Our new website is on its way. Leave your e-mail address and we will tell "
        "you when we are back online."
    ),
    "wordpress": (
        "Database Error|Error establishing a database connection.  Contact your hosting "
        "provider, or try again later, as the database server is not answering."
    ),
    "php": (
        "Fatal error|Uncaught exception: connection refused in index.php, line 12. There has "
        "been a critical error on this website."
    ),
    "aspnet": (
        "Runtime Error|Server Error in '/' Application. An exception occurred while processing "
        "your request; see the web.config configuration file."
    ),
    "bad-gateway": (
        "502 Bad Gateway|The web server reported a bad gateway error. Please try again in a few"
        " minutes, nginx says."
    ),
    "nginx": (
        "Welcome to nginx!|If you see this page, the nginx web server is successfully installed"
        " and working. Further configuration is required."
    ),
    "apache": (
        "Apache2 Ubuntu Default Page|It works! This is the default welcome page used to test "
        "the correct operation of the Apache2 server after installation."
    ),
    "suspended": (
        "Account Suspended|This account has been suspended. Contact your hosting provider for "
        "more information about this website."
    ),
    "soft-404": (
        "Oh no|We couldn't find that page. It may have been moved or deleted, or you may have "
        "followed an old link or typed the address wrongly."
    ),
    "soft-404-search": (
        "Nothing here|The page that you are looking for no longer exists. Try the search box, "
        "or go to our home page."
    ),
    "welsh": (
        "Tudalen heb ei chanfod|Mae'n ddrwg gennym, ni allwn ddod o hyd i'r dudalen. Ewch i'r "
        "hafan neu chwiliwch y wefan."
    ),
    "parked": (
        "housing.example is for sale|This domain may be for sale. Make an offer, or buy this "
        "domain with our secure payment at the registrar today."
    ),
    "session": (
        "Your session has expired|For your security your session has timed out after a period "
        "of inactivity. Please start again from the home page."
    ),
    "geo": (
        "Not available in your region|This website is not available in your country. If you use"
        " a VPN, please switch it off and reload the page."
    ),
    "legal": (
        "451: Unavailable due to legal reasons|We recognise you are attempting to access this "
        "website from a country in the EEA, so access cannot be granted at this time."
    ),
    "moved": (
        "Our website has changed|This page has moved to a new address. Please update your "
        "bookmarks and follow this link, or you will be redirected."
    ),
    "old-browser": (
        "Your browser is not supported|Please upgrade to a newer browser, as this website does "
        "not work with the one that you use. Scripts must be switched on."
    ),
}


def as_html(wall: str, title: str = "") -> bytes:
    """A wall, titled as itself or as the page that it stands in for."""
    own, _, text = wall.partition("|") if wall.count("|") == 1 else wall.rpartition("|")
    title = title or own
    return f"<title>{title}</title><main><h1>{title}</h1><p>{text}</p></main>".encode()


def as_last(source: SourceSpec, page: ReadPage) -> CandidatePage:
    """*page* as it is known the day after."""
    passages = tuple((passage.heading, passage.text) for passage in page.passages)
    return CandidatePage(source.url, source.title, page.lead or "", passages, source.topics)


YESTERDAY = as_last(REPAIRS, read_html(GUIDANCE.encode()))


@pytest.mark.parametrize("wall", WALLS.values(), ids=WALLS)
def test_wall_is_told_from_the_page(wall: str):
    for title in ("", REPAIRS.title, f"{REPAIRS.title} | Example Advice"):
        page = read_html(as_html(wall, title))
        assert wall_reason(REPAIRS, page, YESTERDAY)
        assert wall_reason(REPAIRS, page, None) or not page.lead


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
            "Buying a domain name",
            ("domain", "registrar"),
            (
                "A domain name may be for sale from its owner. Make an offer through the "
                "registrar, and never pay before the domain was moved to you."
            ),
        ),
        (
            "Waiting lists for council homes",
            ("queue", "housing register"),
            (
                "You join a queue for a council home, and your turn comes by points. Register on "
                "the website of the council, and tell it when your address changes."
            ),
        ),
        (
            "Age checks in shops",
            ("age", "alcohol"),
            (
                "You must be 18 to buy alcohol, and a shop may refuse you if you have no proof of"
                " age. Adults may be asked for their date of birth as well."
            ),
        ),
    ],
)
def test_guidance_about_the_same_things_is_no_wall(title, topics, text):
    source = SourceSpec("https://a.example/x", title, topics)
    page = read_html(f"<title>{title}</title><h1>{title}</h1><p>{text}</p>".encode())
    assert page.lead
    assert not wall_reason(source, page, None)
    assert not wall_reason(source, page, as_last(source, page))


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
    ],
)
def test_page_titled_as_an_error_is_a_wall_whatever_it_says(title: str):
    for head, heading in ((title, "Repairs"), (f"{title} | Example Council", ""), ("", title)):
        page = read_html(f"<title>{head}</title><h1>{heading}</h1>{TEXT * 9}".encode())
        assert wall_reason(REPAIRS, page, None), (head, heading)


@pytest.mark.parametrize(
    "title",
    [
        *("Not found guilty: what next", "Access denied to your child", "404 homes", "Error codes"),
        *(" | Example Council", "- | Example Council", "\u2014"),
    ],
)
def test_page_about_an_error_or_with_its_site_alone_in_the_title_is_no_wall(title: str):
    page = read_html(f"<title>{title}</title><h1>Repairs</h1>{TEXT * 9}".encode())
    assert not wall_reason(REPAIRS, page, None)


def test_page_that_has_become_a_remnant_of_itself_is_a_wall():
    page = read_html(b"<h1>Repairs</h1><p>Your landlord must keep the boiler in repair.</p>")
    assert not wall_reason(REPAIRS, page, None)
    assert wall_reason(REPAIRS, page, YESTERDAY) == "has shrunk to less than a tenth"


def test_page_that_was_rewritten_on_its_subject_is_no_wall():
    text = "The landlord repairs the home: the roof, the boiler, the drains, and damp in walls. "
    page = read_html(f"<h1>Fixing things</h1><p>{text * 3}</p>".encode())
    assert not wall_reason(REPAIRS, page, YESTERDAY)


def test_page_on_another_subject_that_shares_a_word_is_a_wall_once_it_is_known():
    text = "The landlord of the Red Lion pours the best beer between here and the sea. "
    page = read_html(f"<h1>Our pubs</h1><p>{text * 8}</p>".encode())
    assert not wall_reason(REPAIRS, page, None)
    assert "before" in wall_reason(REPAIRS, page, YESTERDAY)


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
        assert not wall_reason(source, page, None), name
    for case in lines(CASES / "walls.jsonl"):
        wall = read_html((CASES / case["file"]).read_bytes())
        for name, (source, page) in good.items():
            assert wall_reason(source, wall, as_last(source, page)), (case["name"], name)
        is_open = case["first_read"] == "open"
        assert is_open or wall_reason(good[case["yesterday"]][0], wall, None), case["name"]


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
            assert not wall_reason(source, page, as_last(source, page)), title
