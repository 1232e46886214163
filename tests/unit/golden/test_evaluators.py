"""Each evaluator, with an answer that passes and one that fails."""

from typing import Any

import pytest

from judge.errors import ConfigurationError
from judge.golden.differences import differences
from judge.golden.evaluators import (
    ENTRY_POINTS,
    EVALUATORS,
    OWN_FILE,
    check_questions,
    evaluate,
    load_evaluators,
)
from judge.golden.replay import run_case
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
        "[2] in summary",
    ),
    (
        "citations_supported", 0.5,
        {"citations": [{"number": 1, "field": "summary", "support": 0.4}]}, "[1] in summary",
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


async def test_each_evaluator_passes_a_good_answer_and_names_what_is_bad(body) -> None:
    for name, wanted in GOOD.items():
        assert evaluate(EVALUATORS[name], body, wanted) == "", name
    more: list[tuple[str, Any, dict[str, Any]]] = [
        ("no_citation", True, {"citations": []}),
        ("offers_help", True, {"help": [{"title": "x"}]}),
        (
            "citations_supported", 0.9,
            {"citations": [{"number": 1, "field": "summary", "support": None}]},
        ),
        ("both_sides_hold", True, {"other_side": {"agrees": True}}),
        ("declines_references", True, {"evidence": "not_applicable"}),
    ]  # fmt: skip
    for name, wanted, changes in more:
        assert evaluate(EVALUATORS[name], body | changes, wanted) == "", name
    for name, wanted, changes, told in BAD:
        assert told in evaluate(EVALUATORS[name], body | changes, wanted), name
    assert {name for name, *_ in [*BAD, *more]} == set(EVALUATORS)


def test_invalid_option_of_an_evaluator_is_refused() -> None:
    check_questions(GOOD | {"cites_something": 1}, EVALUATORS)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"cites_something": False}, "evaluators.cites_something must be True or 1"),
        ({"verdict_is": {"Coach": "Perhaps"}}, "verdict_is.Coach"),
        ({"verdict_is": "Yes"}, "verdict_is must be"),
        ({"words_at_most": {"summary": "many"}}, "words_at_most.summary must be a whole number"),
        ({"words_at_most": {"headline": 3}}, "words_at_most.headline must be 'paraphrase'"),
        ({"mentions": "landlord"}, "mentions must be a list"),
        ({"citations_supported": "0.5"}, "citations_supported must be a number"),
        ({"mention": ["it"]}, "no evaluator 'mention'. Did you mean mentions?"),
    ]
    for questions, told in wrong:
        with pytest.raises(ConfigurationError) as refused:
            check_questions(questions, EVALUATORS)
        assert told in str(refused.value)


OWN = '''
from json import dumps

def is_polite(answer) -> bool:
    """Is it polite?"""
    return _asks(answer, "please")

def has_words(answer, wanted: list[str]) -> list[str]:
    """Does it have these words?"""
    return [word for word in wanted if not _asks(answer, word)]

def breaks(answer) -> bool:
    """Does it break?"""
    return answer["nothing"]

def helper(answer) -> bool:
    return True

def _asks(answer, word):
    """No question."""
    return word in answer["summary"]
'''


async def test_functions_beside_the_cases_are_evaluators(tmp_path) -> None:
    (tmp_path / OWN_FILE).write_text(OWN)
    asked = {"is_polite": True, "has_words": ["boiler", "plumber"], "breaks": True}
    stored = write_case(tmp_path, expected={"evaluators": asked})
    assert set(stored.evaluators) - set(EVALUATORS) == {"is_polite", "has_words", "breaks"}
    outcome = await run_case(stored, run_config())
    found = differences(stored.case.expected, outcome, stored.evaluators)
    assert [(one.field, one.expected, one.found) for one in found] == [
        ("is_polite", "yes", "no"),
        ("has_words", ["boiler", "plumber"], "plumber"),
        ("breaks", "yes", "it failed: KeyError: 'nothing'"),
    ]
    with pytest.raises(ConfigurationError, match=r"has_words\.0 must be a text"):
        write_case(tmp_path, expected={"evaluators": {"has_words": [3]}})
    with pytest.raises(ConfigurationError, match=r"'is_polit'\. Did you mean is_polite\?"):
        write_case(tmp_path, expected={"evaluators": {"is_polit": True}})


def test_installed_packages_offer_evaluators(tmp_path, monkeypatch) -> None:
    (tmp_path / "house_style.py").write_text(
        "def is_kind(answer):\n    'Is it kind?'\n    return True"
    )
    info = tmp_path / "house_style-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-style\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\nis_kind = house_style:is_kind\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = load_evaluators(tmp_path / "cases")
    assert evaluate(found["is_kind"], {}, wanted=True) == ""
    with pytest.raises(ConfigurationError, match="is_kind must be True"):
        check_questions({"is_kind": 3}, found)


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ("def mentions(answer):\n    'x?'", "an evaluator 'mentions' already"),
        ("1 / 0", "cannot be loaded: ZeroDivisionError: division by zero"),
        ("def broken(", "cannot be loaded: SyntaxError"),
    ],
)
def test_evaluators_that_cannot_be_used_are_an_error(tmp_path, own: str, told: str) -> None:
    (tmp_path / OWN_FILE).write_text(own)
    with pytest.raises(ConfigurationError, match=told):
        write_case(tmp_path)
