"""GOV.UK's Content API: the API URLs of a page, and how its items are read."""

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.library.extract.govuk import content_api_urls, parse_content_item
from judge.library.extract.html_page import ReadPage
from judge.library.pages.page_reader import read_body
from judge.library.pages.page_records import SnippetRequest
from judge.types.references import Page, RetrievalSettings, SourceSpec
from tests.fakes.country import UK

ITEMS = Path(__file__).parents[5] / "shared" / "eval" / "govuk"
URL = "https://www.gov.uk/repairs"
TEXT = "Your landlord has to repair the boiler within a reasonable time of being told about it."


def parse(url=URL, **fields):
    item = {"document_type": "guide", "base_path": "/repairs", "title": "Repairs"} | fields
    return parse_content_item(json.dumps(item).encode(), url, regions=UK.region_names)


def guide(*slugs):
    parts = [
        {"slug": slug, "title": slug.title(), "body": f"<p>{TEXT} {slug}</p>"} for slug in slugs
    ]
    return {"parts": parts}


@pytest.mark.parametrize(
    ("url", "paths"),
    [
        ("https://www.gov.uk/repairs", ["/repairs"]),
        ("http://www.gov.uk/repairs", ["/repairs"]),
        ("ftp://www.gov.uk/repairs", []),
        ("https://www.gov.uk/repairs?x=1#top", ["/repairs"]),
        ("https://www.gov.uk/repairs/pay", ["/repairs/pay", "/repairs"]),
        (
            "https://www.gov.uk/foreign-travel-advice/a/b",
            ["/foreign-travel-advice/a/b", "/foreign-travel-advice/a"],
        ),
        ("https://www.gov.uk/guidance/repairs", ["/guidance/repairs"]),
        ("https://www.gov.uk/government/publications/a/b", ["/government/publications/a/b"]),
        ("https://www.gov.uk/", []),
        ("https://www.gov.uk/api/content/x", []),
        ("https://gov.uk.example/repairs", []),
        ("https://[", []),
    ],
)
def test_only_pages_of_govuk_have_api_urls(url, paths):
    asked = content_api_urls(url)
    found = [address.removeprefix("https://www.gov.uk/api/content") for address in asked]
    assert found == paths


def test_item_is_read_with_title_date_nations_and_passages():
    found = parse(
        public_updated_at="2024-05-03T09:33:15+01:00",
        description="What this is about, in one line of a few words.",
        withdrawn_notice={},
        details={
            "body": f"<h2>Who pays</h2><p>{TEXT}</p><ul><li>damp</li></ul>",
            "national_applicability": {
                "england": {"applicable": True},
                "northern_ireland": {"applicable": True},
                "wales": {"applicable": False},
            },
        },
    )
    assert (found.title, found.lead, found.updated) == ("Repairs", TEXT, date(2024, 5, 3))
    assert found.nations == ("england", "northern-ireland")
    assert [(one.heading, one.text) for one in found.passages] == [("Who pays", TEXT)]
    assert not found.withdrawn


def test_url_of_a_part_gives_that_part():
    found = parse(url=f"{URL}/pay", details=guide("overview", "pay"))
    assert [one.heading for one in found.passages] == ["Pay"]
    assert len(parse(url=f"{URL}/print", details=guide("a", "b")).passages) == 2


def test_note_on_other_languages_is_not_the_lead():
    note = "<p>This guide is also available in Welsh (Cymraeg) and in an easy read format.</p>"
    assert parse(details={"body": f"{note}<p>{TEXT}</p>"}).lead == TEXT


def test_nations_are_read_from_need_to_know():
    known = "<ul><li>Have your card ready</li><li>Available in England and Wales only</li></ul>"
    assert parse(details={"need_to_know": known}).nations == ("england", "wales")


def test_fields_of_a_group_are_read_in_the_order_of_the_page():
    fields = [("description", "ccc"), ("name", "Steps"), ("body", "bbb"), ("introduction", "aaa")]
    group = {name: text if name == "name" else f"<p>{TEXT} {text}</p>" for name, text in fields}
    found = parse(details={"collection_groups": [group], "body": f"<p>{TEXT} first</p>"})
    assert [(one.heading, one.text[-3:]) for one in found.passages] == [
        ("", "rst"),
        *(("Steps", end) for end in ("aaa", "bbb", "ccc")),
    ]


def test_html_version_of_a_body_is_read():
    versions = [
        {"content_type": "text/govspeak", "content": "## Ask *somebody* who knows about repairs."},
        {"content_type": "text/html", "content": f"<p>{TEXT}</p>"},
    ]
    assert [one.text for one in parse(details={"body": versions}).passages] == [TEXT]


def read_page(url, body, content_type):
    request = SnippetRequest("tenancy", SourceSpec(url, "Repairs"), RetrievalSettings())
    return read_body(request, Page(url, body, content_type=content_type))


def test_reader_is_chosen_by_host_and_content_type():
    item = json.dumps({"document_type": "answer", "details": {"body": f"<p>{TEXT}</p>"}}).encode()
    html = (
        f"<h1>A</h1><p class=lead>What the law says of repairs and rent.</p>{f'<p>{TEXT}</p>' * 4}"
    )
    assert read_page(URL, item, "application/json; charset=utf-8").lead == TEXT
    assert read_page("https://a.example/x", item, "application/json") is None
    assert read_page(URL, html.encode(), "text/html").lead == TEXT
    assert (
        read_page("https://[", html.encode(), "text/html").lead
        == "What the law says of repairs and rent."
    )


def test_self_closing_elements_of_xhtml_are_read():
    head = '<title/><script src="a.js"/><meta name="a" content="b"/>'
    body = f'<h1>Repairs</h1><a id="top" /><div/><p>{TEXT}<br/>{TEXT}</p>'
    page = (
        f'<html xmlns="http://www.w3.org/1999/xhtml"><head>{head}</head><body>{body}</body></html>'
    )
    found = read_page("https://a.example/", page.encode(), "application/xhtml+xml; charset=utf-8")
    assert (found.title, found.lead) == ("Repairs", f"{TEXT} {TEXT}")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "document_type base_path title details body parts slug redirects path destination "
                "national_applicability england applicable withdrawn_notice public_updated_at "
                "collection_groups content_type content introduction description".split()
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=40,
)


@given(JSON, st.sampled_from(["guide", "redirect", "gone", ""]))
def test_any_item_is_read_without_an_error(item, kind):
    item = item if isinstance(item, dict) else {"details": item}
    for body in (item, item | {"document_type": kind}):
        found = parse_content_item(json.dumps(body).encode(), f"{URL}/pay")
        assert found is None or isinstance(found, ReadPage)


def test_too_deeply_nested_json_gives_none():
    assert parse_content_item(b"[" * 100_000, URL) is None


def real_items():
    if not ITEMS.exists():
        pytest.skip("the shared items are not here")
    return [json.loads(path.read_bytes()) for path in sorted(ITEMS.iterdir())]


def test_real_items_have_their_nations_and_withdrawn_ones_no_text():
    items = real_items()
    for item in items:
        url = f"https://www.gov.uk{item['base_path']}"
        found = parse_content_item(json.dumps(item).encode(), url, regions=UK.region_names)
        told = item["details"].get("national_applicability", {})
        applies = {name.replace("_", "-") for name, one in told.items() if one["applicable"]}
        if item["document_type"] == "redirect":
            assert found is None
            continue
        assert set(found.nations) == applies or not told
        assert found.withdrawn == bool(item.get("withdrawn_notice"))
        assert not (found.withdrawn and found.lead)
    assert len(items) >= 130
