"""Outcomes compared with expectations, and how a difference is formatted."""

from pathlib import Path

from judge.golden.cases import Expected, StoredCase
from judge.golden.differences import (
    Difference,
    body_differences,
    differences,
    live_expectations,
)
from judge.golden.replay import run_case
from judge.golden.reports import difference_lines
from tests.unit.golden.material import reply, run_config, write_case


async def found(stored: StoredCase, expected: dict) -> list[str]:
    result = await run_case(stored, run_config())
    held = differences(Expected.model_validate(expected), result)
    return [difference.field for difference in held]


async def test_every_unmet_expectation_is_reported(tmp_path) -> None:
    wrong = {
        "type": "x",
        "domain": "consumer",
        "attempts": 2,
        "evidence": "missing",
        "degraded": True,
        "references": 1,
        "therapistVerdict": "Yes",
        "analystVerdict": "Yes",
        "coachVerdict": "Yes",
        "expectCitation": False,
        "defects": ["json"],
        "prompt_digest": "0",
        "summary_matches": "^nothing$",
        "second_prompt_names": ["x"],
        "body": {"references": [{"number": 9}], "model": "other", "nothing": 1},
        "exact_body": {},
        "evaluators": {"no_citation": True, "mentions": ["dog"]},
    }
    fields = await found(write_case(tmp_path), wrong)
    alone = [field for field in wrong if field not in {"body", "exact_body", "evaluators"}]
    assert {*fields} >= {*alone, "references.length", "references.0.number", "model"}
    assert {*fields} >= {"nothing", "summary", "no_citation", "mentions"}


async def test_expected_null_verdict_is_compared(tmp_path) -> None:
    given = write_case(tmp_path, expected={"analystVerdict": None, "domain": None})
    none = write_case(tmp_path, model="extractive", replies=[], expected={"analystVerdict": None})

    [wrong] = differences(given.case.expected, await run_case(given, run_config()))
    assert (wrong.field, wrong.expected, wrong.found) == ("analystVerdict", None, "No")
    assert not differences(none.case.expected, await run_case(none, run_config()))


async def test_wrong_status_hides_all_other_differences(tmp_path) -> None:
    stored = write_case(tmp_path, replies=[{"blocked": "SAFETY"}])
    expected = {"domain": "x", "evaluators": {"cites_something": True}}
    assert await found(stored, expected) == ["status"]
    assert await found(stored, {"status": 422, "evaluators": {"cites_something": True}}) == []
    assert await found(stored, {"status": 422, "analystVerdict": "No"}) == ["analystVerdict"]


def test_additional_fields_differ_only_from_an_exact_body() -> None:
    def fields(expected: object, found: object, *, is_exact: bool) -> list[str]:
        return [d.field for d in body_differences(expected, found, is_exact=is_exact)]

    assert fields({"a": 1}, {"a": 1, "b": 2}, is_exact=True) == ["b"]
    assert fields({"a": 1}, {"a": 1, "b": 2}, is_exact=False) == []
    nested = {"a": [1, {"b": 2}]}, {"a": [1, {"b": 3, "c": 4}]}
    assert fields(*nested, is_exact=True) == ["a.1.b", "a.1.c"]
    assert fields({"a": 1}, {"a": True}, is_exact=True) == ["a"]
    assert fields({"a": None}, {}, is_exact=True) == ["a"]


def test_live_answer_is_not_compared_with_recorded_details() -> None:
    expected = Expected.model_validate(
        {
            "domain": "tenancy", "attempts": 1, "evidence": "unverified", "prompt_digest": "x",
            "exact_body": {}, "body": {}, "analystVerdict": "No", "summary_matches": "x",
            "evaluators": {"cites_something": True}, "floor": 0.5,
        }
    )  # fmt: skip
    lasting = live_expectations(expected)
    assert (lasting.domain, lasting.analyst_verdict, lasting.floor) == ("tenancy", "No", 0.5)
    assert lasting.evaluators == {"cites_something": True}
    assert lasting.evidence is lasting.attempts is lasting.body is lasting.exact_body is None
    for good in ("grounded", "not_applicable", "none"):
        assert live_expectations(Expected(evidence=good)).evidence == good


def test_difference_is_three_lines_and_long_values_are_cut_around_its_beginning() -> None:
    assert difference_lines(Difference("x", "a", ["é"])) == ["x", "  - a", '  + ["é"]']
    one, other = "a" * 500 + "left" + "b" * 500, "a" * 500 + "right" + "b" * 500
    _, expected, found = difference_lines(Difference("summary", one, other))
    assert "left" in expected
    assert "right" in found
    assert expected.startswith("  - …")
    assert expected.endswith("…")


WRONG = reply(summary="The law says so [7].")
"""Cites a missing reference, which is a hard defect."""

RUDE = reply(summary="Repairs are for your landlord [1], as source nine says.")
"""Names a reference that is not there outside of brackets, which is a soft defect."""


async def test_hard_defect_is_reported_instead_of_the_missing_reply(tmp_path: Path) -> None:
    stored = write_case(tmp_path, replies=[WRONG])
    outcome = await run_case(stored, run_config())
    [found] = differences(stored.case.expected, outcome)
    assert (found.field, found.found) == ("citation in summary", "[7]")
    assert "1 to 2" in str(found.expected)
    assert outcome.missing == ("reply 2, which is asked for because the one before broke a rule",)


async def test_soft_defect_is_reported_if_the_second_reply_is_missing(tmp_path: Path) -> None:
    stored = write_case(tmp_path, replies=[RUDE], expected={"status": 200})
    found = differences(stored.case.expected, await run_case(stored, run_config()))
    assert [one.field for one in found] == ["bare in summary"]


async def test_status_502_is_reported_with_the_defects_of_both_replies(tmp_path: Path) -> None:
    stored = write_case(tmp_path, replies=[WRONG, "no json"])
    outcome = await run_case(stored, run_config())
    assert [one.field for one in differences(stored.case.expected, outcome)] == [
        "status", "citation in summary", "json in reply",
    ]  # fmt: skip
    assert outcome.replies[1].text == "no json"
