"""What is explained is all that stood in the text, and adds up to what was decided."""

from hypothesis import given
from hypothesis import strategies as st

from judge.bootstrap import learn
from judge.judging.dispute import read_dispute
from judge.judging.domains import compared_words, detect_domain, term_words
from judge.judging.explain import explain_dispute
from judge.judging.pages.candidates import compile_candidates
from judge.judging.pages.library import IndexedPages
from judge.vocabulary.thesaurus import load_thesaurus

NO_PAGES = compile_candidates([], load_thesaurus())
WORDS = ("landlord", "pub", "the", "beer", "job", "offer")
WEIGHTS = st.sampled_from([-2.0, -0.5, 0.0, 0.4, 1.0, 2.2, 3.0])
TERMS = st.dictionaries(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join), WEIGHTS, max_size=5
)
TEXT = st.lists(st.sampled_from([*WORDS, "moon"]), max_size=12).map(" ".join)


@given(x=TERMS, y=TERMS, context=TEXT, query=TEXT)
def test_all_that_stood_in_the_text_is_told_and_adds_up(x, y, context, query):
    explained, known, dispute = explain({"x": x, "y": y}, context, query)

    decided = detect_domain(known.detector, dispute)
    assert explained.detection == decided
    sums = {"x": 0.0, "y": 0.0}
    for term in explained.terms:
        sums[term.domain] += term.score
        assert term.score == (0 if term.lost_to else term.weight * term.factor)
    for score in decided.scores:
        assert abs(sums[score.domain] - score.score) < 0.01
    told = {(term.domain, term_words(term.configured)) for term in explained.terms}
    assert told == {
        (name, term_words(text))
        for name, terms in (("x", x), ("y", y))
        for text in terms
        if stands_in(term_words(text), compared_words(dispute.context))
        or stands_in(term_words(text), compared_words(dispute.query))
    }


@given(x=TERMS, y=TERMS, context=TEXT, query=TEXT)
def test_what_was_missed_is_what_lacks_to_the_bar(x, y, context, query):
    explained, _, _ = explain({"x": x, "y": y}, context, query)

    if explained.detection.domain == "default" and explained.detection.scores:
        best = explained.detection.scores[0].score
        assert best < explained.bar.needed
        assert abs(explained.missed - (explained.bar.needed - best)) < 0.01
    else:
        assert explained.missed == 0


def explain(domains, context, query):
    lines = ["vocabulary = false"]
    for name, terms in domains.items():
        lines += [f"[domains.{name}.terms]", *(f"'{term}' = {terms[term]}" for term in terms)]
    known = learn("\n".join(lines))
    dispute = read_dispute(context, query)
    indexed = IndexedPages(known.catalog, (), {}, NO_PAGES)
    return explain_dispute(known, indexed, dispute), known, dispute


def stands_in(term, words):
    return any(tuple(words[at : at + len(term)]) == term for at in range(len(words)))
