"""Findings about sources that are valid and probably a mistake."""

from hypothesis import given
from hypothesis import strategies as st

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


def test_duplicate_term_is_a_finding():
    told = findings("[domains.x.terms]\n\"won't pay\" = 1\nx = 2\n'wont pay' = 2")

    assert [(kind, path) for kind, path, _ in told] == [
        ("duplicate-term", 'domains.x.terms."wont pay"')
    ]
    assert "won't pay" in told[0][2]


def test_longer_term_that_hides_a_term_of_another_domain_is_a_finding():
    renting = "[domains.renting.terms]\nlandlord = 3\nflat = 0.5\n"
    told = findings(renting + "[domains.pubs.terms]\n'pub landlord' = 3\n'flat beer' = 2\n")

    assert [(kind, path) for kind, path, _ in told] == [
        ("hidden-term", 'domains.pubs.terms."pub landlord"')
    ]
    assert "'landlord' (3) of renting" in told[0][2]


def test_term_weighed_in_both_domains_hides_nothing():
    renting = "[domains.renting.terms]\nlandlord = 3\n'pub landlord' = 1\n"

    assert kinds(renting + "[domains.pubs.terms]\n'pub landlord' = 3") == []


def test_longer_term_of_the_same_domain_is_not_a_finding():
    assert kinds("[domains.x.terms]\nlandlord = 3\n'pub landlord' = 0") == []


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


WORDS = st.sampled_from(["landlord", "pub landlord", "the pub landlord", "beer", "Pub-Landlords"])
TERMS = st.dictionaries(WORDS, st.floats(-3, 3), max_size=4)


@given(TERMS, TERMS)
def test_any_terms_are_checked_without_an_error(first, second):
    lines = []
    for name, terms in (("x", first), ("y", second)):
        lines += [f"[domains.{name}.terms]", *(f"'{term}' = {terms[term]}" for term in terms)]
    text = "\n".join(lines)
    assert all(
        item.file == "sources.toml" for item in check_catalog(parse_sources(text), Places(()))
    )


def test_message_of_a_finding_has_the_problem_and_the_fix():
    assert [said for _, _, said in findings("[domains.x]")] == [
        "has no terms, so that no dispute is ever about it; add about five"
    ]
    renting = "[domains.renting.terms]\nlandlord = 3\n"
    assert [
        said for _, _, said in findings(renting + "[domains.pubs.terms]\n'pub landlord' = 3")
    ] == [
        (
            "hides 'landlord' (3) of renting, since the longest term wins; weigh 'pub landlord' in "
            "domains.renting.terms too if both are meant"
        )
    ]
    same = "[domains.x.terms]\n'pub landlord' = 3\n'pub landlords' = 1"
    assert [said for _, _, said in findings(same)] == [
        "is the same term as 'pub landlord'; keep one of them"
    ]
    page = "[domains.%s]\nterms = { %s = 1 }\nsources = [{ url = 'http://e.org/a', title = 'A' }]\n"
    assert [said for _, _, said in findings(page % ("x", "a") + page % ("y", "b"))] == [
        "http://e.org/a is not encrypted; use its https address",
        "http://e.org/a stands in domains.x too; keep it in one",
        "http://e.org/a is not encrypted; use its https address",
    ]
