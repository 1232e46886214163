"""Findings about sources that are valid and probably a mistake."""

from judge.judging.catalog_check import check_catalog
from judge.library.sources.catalog import parse_sources
from judge.library.sources.toml_lines import Places


def findings(text):
    return [
        (item.kind, item.key, item.message)
        for item in check_catalog(parse_sources(text), Places(()))
    ]


def kinds(text):
    return [kind for kind, _, _ in findings(text)]


def test_page_in_two_domains_and_plain_http_are_findings():
    page = "sources = [{ url = '%s://example.org/a%s', title = 'A' }]\nterms = { %s = 1 }\n"
    told = findings(
        "[domains.x]\n" + page % ("http", "", "a") + "[domains.y]\n" + page % ("http", "/", "b")
    )

    assert [(kind, key) for kind, key, _ in told] == [
        ("plain-http", "domains.x.sources[1].url"),
        ("duplicate-page", "domains.y.sources[1].url"),
        ("plain-http", "domains.y.sources[1].url"),
    ]


def test_page_listed_twice_in_different_spellings_is_a_finding():
    pages = [
        "https://example.org/a",
        "https://www.Example.org/a/#top",
        "https://example.org/a?b=1",
        "https://example.org:8443/a",
    ]
    rows = ", ".join(f"{{ url = '{url}', title = 'T' }}" for url in pages)
    found = check_catalog(
        parse_sources(f"[domains.x]\nterms = {{ a = 3 }}\nsources = [{rows}]"), Places(())
    )

    assert [(item.key, item.message) for item in found] == [
        (
            "domains.x.sources[2].url",
            "https://www.Example.org/a/#top stands in sources[1] too; keep it in one",
        )
    ]


def test_domain_without_terms_is_a_finding():
    assert kinds("[domains.x]") == ["no-words"]
