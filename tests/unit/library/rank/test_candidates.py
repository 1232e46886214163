"""Candidates: relevant pages are ranked first, with reasons that add up to the score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.library.dispute import read_dispute
from judge.library.rank import candidates
from judge.library.rank.candidate_index import (
    CandidateIndex,
    CandidatePage,
    compile_candidates,
    count_terms,
)
from judge.library.rank.candidates import LIMIT, rank_candidates
from judge.vocabulary.thesaurus import load_thesaurus, parse_thesaurus


def page(url: str, title: str, *passages: str, domain: str = "default") -> CandidatePage:
    return CandidatePage(
        url=url,
        title=title,
        lead=passages[0],
        passages=tuple(("", text) for text in passages),
        domain=domain,
    )


EVICTION = page(
    "https://example.org/eviction",
    "Eviction: your rights",
    "Your landlord must give you a notice before eviction.",
    "Rent can be paid weekly or monthly, as your agreement says.",
    "A court can order possession. Only a bailiff may then evict you and change the locks.",
    domain="tenancy",
)
DEPOSIT = page(
    "https://example.org/deposit",
    "Tenancy deposit protection",
    "Your landlord must put your deposit in a protection scheme.",
    "A scheme settles disputes about damage to a carpet, free of charge.",
    domain="tenancy",
)
DISMISSAL = page(
    "https://example.org/dismissal",
    "Unfair dismissal",
    "A dismissal is unfair without a good reason and a fair procedure.",
    domain="workplace",
)
PAGES = (EVICTION, DEPOSIT, DISMISSAL)


SACKED = "I got sacked from the garage on Friday after three years there."


@pytest.fixture(scope="module")
def index() -> CandidateIndex:
    return compiled(PAGES)


def compiled(pages) -> CandidateIndex:
    # With three pages alone every word would be common; a real catalogue has many more.
    rest = [page(f"https://example.org/{n}", f"Subject {n}", f"About {n}.") for n in range(60)]
    return compile_candidates([count_terms(one) for one in [*pages, *rest]], load_thesaurus())


def urls(index: CandidateIndex, query: str, context: str = "", domain: str = "default"):
    found = rank_candidates(index, read_dispute(context, query), domain)
    return [one.page.url.rpartition("/")[2] for one in found]


def test_lay_words_find_the_page_with_the_official_ones(index):
    assert urls(index, "Can he just sack me?", SACKED)[0] == "dismissal"
    assert urls(index, "Can she kick us out?", "Our landlady wants us gone.")[0] == "eviction"


def test_dispute_without_a_relevant_page_has_no_candidates(index):
    assert urls(index, "Was I rude?", "My sister chose sage green and I laughed at it.") == []


def test_nothing_is_offered_unless_the_words_of_one_page_are_enough(index, monkeypatch):
    asked = read_dispute(SACKED, "Can he sack me?")
    [best, *_] = rank_candidates(index, asked, "default")
    monkeypatch.setattr(candidates, "LEAST_BEST", best.score + 1)
    nearest = {best.page.url: 1.0}
    assert rank_candidates(index, asked, "workplace", similarities=nearest) == ()
    assert rank_candidates(index, asked, "workplace", has_threshold=False)


def test_best_passage_is_chosen_even_far_down_the_page(index):
    best = rank_candidates(
        index, read_dispute("He came with bailiffs and changed the locks.", "Evicted?"), ""
    )[0]
    assert (best.page, best.passages[0]) == (EVICTION, 2)


def test_domain_boosts_its_pages_without_excluding_others(index):
    query, context = "Can he keep my deposit and sack me?", SACKED
    neutral = urls(index, query, context)
    assert {"deposit", "dismissal"} <= set(neutral)
    assert urls(index, query, context, "tenancy")[0] == "deposit"
    assert "dismissal" in urls(index, query, context, "tenancy")


def test_reasons_add_up_to_the_score_and_have_the_words_of_the_dispute(index):
    best = rank_candidates(index, read_dispute(SACKED, "Can he sack me?"), "workplace")[0]
    assert sum(reason.score for reason in best.explain()) == pytest.approx(best.score)
    assert ("thesaurus", "sack") in [(r.kind, r.shown) for r in best.explain()]
    assert ("domain", "workplace") in [(r.kind, r.shown) for r in best.explain()]
    assert list(best.explain()) == sorted(best.explain(), key=lambda reason: -reason.score)


def test_subject_of_a_page_counts_without_a_shared_word(monkeypatch):
    monkeypatch.setattr(candidates, "LEAST_BEST", 0.0)
    thesaurus = parse_thesaurus('[subjects.any]\n"x" = "y"\n[storytelling]\nignore = "so"')
    index = compile_candidates([count_terms(one) for one in PAGES], thesaurus)
    asked = read_dispute("", "Unjustified sacking?")
    [best] = rank_candidates(index, asked, "workplace")
    assert best.page == DISMISSAL
    assert [one.shown for one in best.explain() if one.score] == ["its subject", "workplace"]


def test_number_of_candidates_is_limited_and_equals_keep_their_order():
    many = [page(f"https://example.org/e{n}", "Eviction", "Eviction notice.") for n in range(20)]
    found = urls(compiled(many), "Is this eviction notice fair?")
    assert found == [f"e{n}" for n in range(LIMIT)]
    assert urls(compile_candidates([], load_thesaurus()), "Is this fair?") == []


_COMPILED: list[CandidateIndex] = []


def compiled_once() -> CandidateIndex:
    if not _COMPILED:
        _COMPILED.append(compiled(PAGES))
    return _COMPILED[0]


WORDS = "my landlord sacked me notice court deposit scheme carpet bailiff subject unfair 7".split()


@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join) | st.text(), st.integers(1, 8))
def test_smaller_limit_gives_the_first_candidates_with_reasons_that_add_up(context, limit):
    index, dispute = compiled_once(), read_dispute(context, "Is it fair?")
    few, all_of_them = (
        rank_candidates(index, dispute, "tenancy", limit=most, has_threshold=False)
        for most in (limit, LIMIT)
    )
    assert few == all_of_them[:limit]
    for one in all_of_them:
        assert sum(reason.score for reason in one.explain()) == pytest.approx(one.score, abs=1e-4)
        assert set(one.passages) <= set(range(len(one.page.passages)))


def test_similarities_in_meaning_raises_only_its_own_page(index):
    def scores(**similarities: float) -> dict[str, float]:
        dispute = read_dispute("They kept it, and the rent went up.", "Is my deposit lost?")
        near = {f"https://example.org/{name}": value for name, value in similarities.items()}
        found = rank_candidates(index, dispute, "default", similarities=near)
        return {one.page.url.rpartition("/")[2]: one.score for one in found}

    plain, near = scores(), scores(deposit=0.9)
    assert near["deposit"] > plain["deposit"]
    assert {**near, "deposit": 0} == {**plain, "deposit": 0}
