"""Each evaluator, with an answer that passes and one that fails."""

from typing import Any

import pytest

from judge.golden.case_runner import run_case
from judge.golden.evaluators import EVALUATORS, checked_questions, evaluate
from tests.unit.golden.material import reply, run_config, write_case

GOOD: dict[str, Any] = {
    "cites_something": True,
    "summary_cites": True,
    "every_citation_verified": True,
    "citations_supported": 0.2,
    "verdict_is": {"Analyst": "No", "Coach": ["No", "Partially"]},
    "mentions": ["LANDLORD", "boiler"],
    "avoids": ["solicitor"],
    "words_at_most": {"summary": 120, "rationale": 10, "paraphrase": 30},
    "addresses_you": True,
    "gives_no_legal_advice": True,
    "no_contradiction": True,
}
BAD: list[tuple[str, Any, dict[str, Any], str]] = [
    ("cites_something", True, {"citations": []}, "no citation"),
    ("summary_cites", True, {"citations": [{"field": "personas.0.rationale"}]}, "summary"),
    ("no_citation", True, {}, "2 citations"),
    (
        "every_citation_verified", 1,
        {"citations": [{"number": 2, "field": "summary", "quote_status": "none"}]},
        "[2] in summary is none",
    ),
    (
        "citations_supported", 0.5,
        {"citations": [{"number": 1, "field": "summary", "support": 0.4}]}, "[1] in summary: 0.4",
    ),
    ("verdict_is", {"Coach": "Yes"}, {}, "Coach: No"),
    ("verdict_is", {"Nobody": "Yes"}, {}, "Nobody: None"),
    ("verdict_is", {"Coach": ["Yes", "Partially"]}, {}, "Coach: No"),
    ("mentions", ["boiler", "council"], {}, "nothing of council"),
    ("avoids", ["POLITELY"], {}, "POLITELY in personas.0.rationale"),
    ("words_at_most", {"summary": 5}, {}, "words in summary"),
    ("words_at_most", {"rationale": 2}, {}, "6 words in personas.1.rationale"),
    ("addresses_you", True, {"summary": "They are to blame."}, "nobody"),
    ("gives_no_legal_advice", True, {"summary": "You should sue."}, "You should sue in summary"),
    ("offers_help", True, {}, "no help line"),
    (
        "no_contradiction", True,
        {"citations": [{"number": 2, "field": "summary", "contradicts": True}]}, "[2] in summary",
    ),
    ("both_sides_hold", True, {}, "nobody asked"),
    ("both_sides_hold", True, {"other_side": {"agrees": None, "note": "No time."}}, "No time."),
    ("both_sides_hold", True, {"other_side": {"agrees": False}}, "told that they are right"),
    ("declines_references", True, {}, "evidence is grounded"),
]  # fmt: skip


@pytest.fixture
async def body(tmp_path) -> dict[str, Any]:
    result = await run_case(write_case(tmp_path, replies=[reply()]), run_config())
    return dict(result.body)


@pytest.mark.parametrize("name", GOOD)
def test_good_answer_passes(body, name: str) -> None:
    assert evaluate(name, body, GOOD[name]) == ""


@pytest.mark.parametrize(("name", "wanted", "changes", "told"), BAD)
def test_bad_answer_fails_with_what_was_found(
    body, name: str, wanted: Any, changes: dict[str, Any], told: str
) -> None:
    assert told in evaluate(name, body | changes, wanted)


def test_evaluators_without_a_good_answer_above_pass(body) -> None:
    assert evaluate("no_citation", body | {"citations": []}, wanted=True) == ""
    assert evaluate("offers_help", body | {"help": [{"title": "x"}]}, wanted=True) == ""
    unknown = {"citations": [{"number": 1, "field": "summary", "support": None}]}
    assert evaluate("citations_supported", body | unknown, 0.9) == ""
    assert evaluate("both_sides_hold", {"other_side": {"agrees": True}}, wanted=True) == ""


async def test_answer_with_unhelpful_references_passes_declines_references(tmp_path) -> None:
    declining = reply(summary="You were polite.", references_help=False, quotes=[])
    outcome = await run_case(write_case(tmp_path, replies=[declining]), run_config())
    assert outcome.body["references"]
    assert evaluate("declines_references", outcome.body, wanted=True) == ""


def test_every_evaluator_has_a_passing_and_a_failing_answer_here() -> None:
    elsewhere = {"no_citation", "offers_help", "declines_references", "both_sides_hold"}
    assert {*GOOD, *elsewhere} == set(EVALUATORS)
    assert {name for name, *_ in BAD} == set(EVALUATORS)


def test_question_of_every_evaluator_is_one_question() -> None:
    assert all(one.question.count("?") == 1 for one in EVALUATORS.values())


@pytest.mark.parametrize(
    "questions",
    [
        {"cites_something": False},
        {"cites_something": "yes"},
        {"verdict_is": {"Coach": "Perhaps"}},
        {"verdict_is": "Yes"},
        {"words_at_most": {"summary": "many"}},
        {"words_at_most": {"key_points": 3}},
        {"mentions": "landlord"},
        {"citations_supported": "0.5"},
        {"is_nice": True},
    ],
)
def test_invalid_option_of_an_evaluator_is_refused(questions: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(questions))):
        checked_questions(questions)


def test_valid_options_of_evaluators_are_kept() -> None:
    assert checked_questions(GOOD) == GOOD
    assert checked_questions({"cites_something": 1}) == {"cites_something": 1}


def test_an_unknown_key_of_a_parameter_is_named_as_written():
    with pytest.raises(
        ValueError, match=r"cannot ask: words_at_most.headline must be 'paraphrase'"
    ):
        checked_questions({"words_at_most": {"headline": 3}})
