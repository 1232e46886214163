"""An explanation has every term that counts, and adds up to the detected scores."""

from hypothesis import given
from hypothesis import strategies as st

from judge.bootstrap.sources import compile_knowledge
from judge.judging.domains import detect_domain
from judge.judging.explain import explain_dispute
from judge.library.dispute import read_dispute
from judge.library.pages.approved_pages import IndexedPages
from judge.library.rank.candidate_index import compile_candidates
from judge.vocabulary.thesaurus import load_thesaurus

NO_PAGES = compile_candidates([], load_thesaurus())
WORDS = ("landlord", "pub", "the", "beer", "job", "offer")
WEIGHTS = st.sampled_from([-2.0, -0.5, 0.0, 0.4, 1.0, 2.2, 3.0])
TERMS = st.dictionaries(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join), WEIGHTS, max_size=5
)
TEXT = st.lists(st.sampled_from([*WORDS, "moon"]), max_size=12).map(" ".join)
RENTING = compile_knowledge("""vocabulary = false
[domains.tenancy]
terms = { landlord = 3, boiler = 2, "pub landlord" = 0, "the pub landlord" = 0, party = -0.5 }
patterns = [{ regex = 'section (8|21)', weight = 1 }, { regex = 'won’t mend', weight = 1 }]
[domains.workplace]
terms = { landlord = 0.5, grievance = 3 }
[domains.pets]
terms = { dog = 1 }
""")


@given(x=TERMS, y=TERMS, context=TEXT, query=TEXT)
def test_terms_that_count_sum_to_the_score(x, y, context, query):
    explained, known, dispute = explain({"x": x, "y": y}, context, query)

    decided = detect_domain(known.detector, dispute)
    assert explained.detection == decided
    sums = {"x": 0.0, "y": 0.0}
    for term in explained.terms:
        sums[term.domain] += term.score
        assert term.score == term.weight * term.factor
    for score in decided.scores:
        assert abs(sums[score.domain] - score.score) < 0.01


def test_terms_are_ordered_by_domain_and_score():
    found = explained("The pub landlord and my landlord: a boiler, a party, a dog and a grievance.")
    assert [(term.domain, term.text) for term in found.terms] == [
        ("tenancy", "landlord"),
        ("tenancy", "boiler"),
        ("tenancy", "the pub landlord"),
        ("tenancy", "party"),
        ("workplace", "grievance"),
        ("workplace", "landlord"),
        ("pets", "dog"),
    ]


def test_pattern_with_a_curly_apostrophe_is_explained_as_written():
    found = term(explained("He won't mend it."), "tenancy", "won't mend")
    assert (found.configured, found.file) == ("won’t mend", "sources.toml")


def explained(context, query=""):
    indexed = IndexedPages(RENTING.catalog, (), {}, NO_PAGES)
    return explain_dispute(RENTING, indexed, read_dispute(context, query))


def term(found, domain, text):
    [one] = [one for one in found.terms if (one.domain, one.text) == (domain, text)]
    return one


def explain(domains, context, query):
    lines = ["vocabulary = false"]
    for name, terms in domains.items():
        lines += [f"[domains.{name}.terms]", *(f"'{term}' = {terms[term]}" for term in terms)]
    known = compile_knowledge("\n".join(lines))
    dispute = read_dispute(context, query)
    indexed = IndexedPages(known.catalog, (), {}, NO_PAGES)
    return explain_dispute(known, indexed, dispute), known, dispute
