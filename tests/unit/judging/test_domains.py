import functools
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import detection as benchmark
from judge.bootstrap.sources import compile_knowledge
from judge.judging.domains import (
    QUERY_FACTOR,
    compile_detector,
    detect_domain,
)
from judge.library.dispute import read_dispute
from judge.library.sources.catalog import parse_sources, read_vocabulary
from judge.types.text_files import TextFile

ROOT = Path(__file__).parents[3]
DISPUTES = tomllib.loads((ROOT / "tests/fixtures/disputes.toml").read_text(encoding="utf-8"))
POSTS = ROOT.parent / "shared" / "eval" / "domains" / "train.jsonl"


SUBJECTS = ("parenting", "tenancy", "workplace", "consumer", "health", "equality")


@functools.cache
def package_detector():
    """Over the package's vocabulary alone: what ops add to the shipped file moves nothing here."""
    return compile_knowledge("".join(f"[domains.{name}]\n" for name in SUBJECTS)).detector


def detector(*tables):
    return compile_detector(parse_sources("\n".join(tables)))


def domain(name, *terms, patterns=()):
    items = ", ".join(f"{{ regex = '{regex}', weight = {weight} }}" for regex, weight in patterns)
    return "\n".join(
        [f"[domains.{name}]", f"patterns = [{items}]", f"[domains.{name}.terms]", *terms]
    )


def scores(detect, context="", query=""):
    detection = detect_domain(detect, read_dispute(context, query))
    return {score.domain: score.score for score in detection.scores}


def ours(query, context=""):
    return detect_domain(package_detector(), read_dispute(context, query)).domain


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("landlord", "LANDLORD"),
        ("landlord", "the landlords"),
        ("landlord", "the landlord's"),
        ("landlord", "the landlords\u2019 fault"),
        ("zero hours", "a zero-hours contract"),
        ("zero-hours", "zero hours"),
        ("won't pay", "he wont pay"),
        ("nursery", "the nurseries"),
        ("boss", "both bosses"),
        ("boss", "my boss's friend"),
        ("bus", "the bus"),
        ("a&e", "in A&E"),
        ("landlord", "land\u00adlord"),
        ("café", "the CAFÉ"),
    ],
)
def test_spelling_variants_are_the_same_term(term, text):
    assert scores(detector(domain("x", f'"{term}" = 3')), text) == {"x": 3}


def test_phrase_consumes_the_words_inside_it():
    detect = detector(domain("x", "child = 1", '"child maintenance" = 2.5', '"child x y" = 3'))

    assert scores(detect, "child maintenance") == {"x": 2.5}
    assert scores(detect, "child x maintenance") == {"x": 1}


def test_term_in_the_question_counts_more():
    assert scores(detector(domain("x", "boiler = 1")), query="boiler") == {"x": QUERY_FACTOR}


def test_pattern_with_a_curly_apostrophe_matches_any_apostrophe():
    detect = detector(domain("x", patterns=[("won\u2019t (?:go|stay)", 2)]))

    assert scores(detect, "he won't go") == {"x": 2}
    assert scores(detect, "he won\u2019t stay") == {"x": 2}


def test_matched_terms_are_ordered_by_weight_and_spelled_as_configured():
    detect = detector(domain("x", "Boilers = 1", '"my landlord" = 3', "rent = 2"))

    (score,) = detect_domain(
        detect, read_dispute(context="boiler, rent, my landlord", query="")
    ).scores
    assert score.matched == ("my landlord", "rent", "Boilers")


@pytest.mark.parametrize(
    ("weight", "words", "name"),
    [
        (1.9, 5, "x"),
        (1.8, 5, "default"),
        (2.2, 80, "default"),
        (2.3, 80, "x"),
        (2.9, 200, "default"),
        (3.0, 200, "x"),
        (2.9, 1500, "default"),
    ],
)
def test_shorter_text_needs_a_lower_score(weight, words, name):
    detect = detector(domain("x", f"boiler = {weight}"))

    context = "boiler " + "word " * (words - 1)
    assert detect_domain(detect, read_dispute(context, "")).domain == name


@pytest.mark.parametrize(("other", "name"), [(3, "default"), (2.9, "default"), (2.7, "zebra")])
def test_close_scores_below_the_margin_give_default(other, name):
    tables = domain("zebra", "boiler = 3"), domain("ant", f"boiler = {other}")

    detection = detect_domain(detector(*tables), read_dispute("boiler", ""))

    assert detection.domain == name
    assert [score.domain for score in detection.scores] == ["zebra", "ant"]


@given(context=st.text(max_size=400), query=st.text(max_size=100))
def test_any_text_gets_a_deterministic_ordered_ranking(context, query):
    first = detect_domain(package_detector(), read_dispute(context, query))

    assert first == detect_domain(package_detector(), read_dispute(context, query))
    values = [score.score for score in first.scores]
    assert values == sorted(values, reverse=True)
    assert all(score.score > 0 and score.matched for score in first.scores)
    assert first.domain in {"default", *(score.domain for score in first.scores[:1])}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The boiler has been broken for three weeks, can I withhold rent?", "tenancy"),
        ("Was I wrong to hand in my notice by text?", "workplace"),
        ("My ex is behind with child maintenance", "parenting"),
        ("AIBU to say no to a sleepover for my 6 year old?", "parenting"),
        ("My manager is discriminating against me at work because I'm disabled", "workplace"),
        ("Should I let my friend borrow my favourite dress?", "default"),
        ("My twin won't come to our birthday", "default"),
        ("Our twins won't sleep through the night", "parenting"),
        ("My daughter-in-law never thanks me", "default"),
        ("AITA for not letting my in-laws move in with us?", "default"),
        ("I hired an attorney, was that an overreaction?", "default"),
        ("My job offer was withdrawn after I asked about hours", "workplace"),
        ("My 12 year old laptop died, should my brother pay?", "default"),
        ("The landlord of the Red Lion gave our quiz table to the darts team", "default"),
        ("The landlord of the house I rent shows people around every evening", "tenancy"),
        ("The neighbour's teenage son practises the drums until nine", "default"),
        ("My boss's wife invited us to dinner and served squid", "default"),
        ("My ex stopped paying maintenance when he went self-employed", "parenting"),
        ("My ex-husband wants to move to Scotland with our two boys", "parenting"),
        ("My ex and I share a dog, who should have him for Christmas?", "default"),
        ("I'm on a final warning although my train was cancelled", "workplace"),
        ("The builder took a deposit and hasn't been seen since", "consumer"),
        ("My dad was phoned by somebody pretending to be the bank", "consumer"),
        ("The ward wants to discharge my dad with nobody at home to help", "health"),
        ("The chemist gave my mum somebody else's tablets", "health"),
        ("The cab driver saw my wheelchair and refused to take me", "equality"),
        ("A cafe refused to let my daughter in with her assistance dog", "equality"),
        ("The swimming pool told me to leave because I was breastfeeding", "equality"),
    ],
)
def test_everyday_british_disputes_get_their_domain(text, name):
    assert ours(text) == name


def answers(names):
    return [(name, ours(query, story), query) for name in names for query, story in DISPUTES[name]]


@pytest.mark.parametrize("name", [name for name in DISPUTES if name != "default"])
def test_colloquial_disputes_get_their_domain(name):
    missed = [(query, given) for _, given, query in answers([name]) if given != name]

    assert len(missed) / len(DISPUTES[name]) <= 0.12, missed


def test_near_misses_get_no_domain():
    found = [(query, given) for _, given, query in answers(["default"]) if given != "default"]

    assert len(found) / len(DISPUTES["default"]) <= 0.09, found


def told_to_us(context, query):
    return ours(query, context)


@pytest.mark.skipif(not POSTS.exists(), reason=f"needs the posts at {POSTS}")
@pytest.mark.parametrize(("extra", "floor"), [((), 0.88), (("consumer", "health"), 0.80)])
def test_detection_keeps_its_scores_on_held_out_posts(extra, floor):
    posts = benchmark.read_posts(POSTS, held_out=True)
    pairs = benchmark.judge_posts(posts, told_to_us, [*benchmark.THREE, *extra])

    precision, recall = benchmark.injection(pairs)
    assert benchmark.macro_f1(pairs) >= floor
    assert precision >= 0.85
    assert recall >= 0.85


NEIGHBOURS = """
[domains.neighbours]
title = "Neighbours"
terms = { neighbour = 3, neighbor = 3, fence = 2, "loud music" = 2, "shared driveway" = 2.5 }
sources = [
  { url = "https://example.org/disputes", title = "Resolving neighbour disputes" },
  { url = "https://example.org/noise", title = "Noise from next door", topics = ["music"] },
  { url = "https://example.org/fences", title = "Fences and hedges", topics = ["fence"] },
]
examples = [{ text = "My neighbour plays loud music until two" }]
"""
OTHERS = "".join(
    f"[domains.{name}]\n" for name in ("parenting", "tenancy", "workplace", "consumer")
)


class TestNewDomain:
    """Ten lines, beside the subjects for which words come with the package."""

    known = compile_knowledge(NEIGHBOURS + OTHERS)

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("My neighbour plays loud music until two", "neighbours"),
            ("Our neighbours' dog barks all day and they laugh about it", "neighbours"),
            ("The neighbor's kid keeps climbing over the fence", "neighbours"),
            ("Should we have to pay for half of the fence?", "neighbours"),
            ("He parks across the shared driveway every Sunday", "neighbours"),
            ("My landlord won't fix the boiler", "tenancy"),
            ("My boss will not pay me for the overtime I worked last month", "workplace"),
            ("Our toddler has a tantrum whenever I say no to sweets", "parenting"),
            ("My sister will not come to my wedding", "default"),
        ],
    )
    def test_new_domain_gets_its_disputes_and_takes_none_from_others(self, text, name):
        assert detect_domain(self.known.detector, read_dispute(text, "")).domain == name


PACKAGE = read_vocabulary(
    {"old": TextFile("old.toml", "version = 1\n[terms]\nhedge = 1\n'my fence' = 1")},
    TextFile("safety.toml", "version = 1\nsafety = []"),
)


def weighed(text, said):
    detect = compile_detector(parse_sources(text, vocabulary=PACKAGE))
    return scores(detect, said)


def test_terms_of_the_file_override_those_of_the_package():
    assert weighed("[domains.old]", "a hedge") == {"old": 1}
    assert weighed("[domains.old.terms]\nhedges = 3", "a hedge") == {"old": 3}
    assert weighed("[domains.old.terms]\nhedge = 0", "a hedge") == {}
    assert weighed("[domains.old]\nvocabulary = false\nterms = { x = 1 }", "a hedge") == {}


def test_phrase_of_the_package_hides_no_term_of_a_new_domain():
    text = "[domains.old]\n[domains.new.terms]\nfence = 2\n"

    assert weighed(text, "my fence") == {"new": 2, "old": 1}


def test_phrase_of_the_file_hides_terms_of_any_domain():
    text = "[domains.old.terms]\n'my fence' = 1\n[domains.new.terms]\nfence = 2\n"

    assert weighed(text, "my fence") == {"old": 1}
