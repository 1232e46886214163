"""An update rewrites only the exact expectations of the cases named, and invents no reply."""

from pathlib import Path

import pytest

from judge.errors import ConfigurationError
from judge.golden.cases import serialize_case
from judge.golden.recording import update_cases
from tests.unit.golden.material import document, read, reply, run_config, write_case

OLD = {
    "status": 500,
    "domain": "consumer",
    "attempts": 2,
    "analystVerdict": "Yes",
    "expectCitation": False,
    "prompt_digest": "old",
    "summary_matches": "never",
    "evaluators": {"cites_something": True},
    "graded": [{"question": "Does it say what to do?"}],
    "floor": 0.5,
    "body": {"references": [{"number": 7}, {"number": 8}], "warnings": ["x"], "gone": 1},
    "exact_body": {"old": True},
}


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_exact_expectations_are_updated_and_others_are_kept(tmp_path) -> None:
    stored = write_case(tmp_path, expected=OLD)
    [update] = await update_cases(tmp_path, ["boiler"], run_config())
    expected = read(stored.path)["expected"]
    assert list(expected) == list(OLD)
    assert {key: expected[key] for key in ("status", "domain", "attempts")} == {
        "status": 200, "domain": "tenancy", "attempts": 1,
    }  # fmt: skip
    assert (expected["analystVerdict"], expected["expectCitation"]) == ("No", True)
    assert expected["body"] == {"references": [{"number": 1}, {"number": 2}], "warnings": []}
    assert expected["exact_body"]["domain"] == "tenancy"
    assert {**read(stored.path), "expected": None} == {**document(), "expected": None}
    kept = ("summary_matches", "evaluators", "graded", "floor")
    assert [expected[key] for key in kept] == [OLD[key] for key in kept]
    assert {"domain", "attempts", "body.gone", "body.references.0.number"} <= {
        difference.field for difference in update.changed
    }
    assert [difference.field for difference in update.remaining] == ["summary_matches"]


async def test_expectation_that_is_null_stays(tmp_path: Path) -> None:
    stored = write_case(tmp_path, expected={"body": None, "exact_body": None, "domain": None})
    [update] = await update_cases(tmp_path, ["boiler"], run_config())
    assert [*update.changed, *update.remaining] == []
    assert read(stored.path)["expected"] == {"body": None, "exact_body": None, "domain": None}


async def test_update_is_idempotent_and_changes_only_the_cases_named(tmp_path: Path) -> None:
    stored = write_case(tmp_path, expected=OLD | {"summary_matches": "landlord"})
    other = write_case(tmp_path, "other", expected=OLD)
    before = other.path.read_bytes()
    await update_cases(tmp_path, ["boiler"], run_config())
    first = stored.path.read_text()
    [again] = await update_cases(tmp_path, ["boiler"], run_config())
    assert [*again.changed, *again.remaining] == []
    assert stored.path.read_text() == first == serialize_case(read(stored.path))
    assert other.path.read_bytes() == before
    assert files_in(tmp_path) == ["boiler.json", "other.json"]


async def test_missing_reply_is_an_error_and_no_case_is_changed(tmp_path: Path) -> None:
    good = write_case(tmp_path, "good", expected=OLD)
    write_case(tmp_path, "starved", replies=[reply(summary="See [9].")])
    before = good.path.read_bytes()
    with pytest.raises(ConfigurationError, match="starved needs reply 2"):
        await update_cases(tmp_path, ["good", "starved"], run_config())
    assert good.path.read_bytes() == before


async def test_missing_page_is_an_error_only_in_a_recorded_case(tmp_path: Path) -> None:
    pages = {"https://a.example/repairs": "Your landlord repairs the boiler and the heating."}
    answer = reply(summary="It is theirs [1].", quotes=[])
    write_case(tmp_path, pages=pages, recorded=True, replies=[answer, answer])
    with pytest.raises(ConfigurationError, match=r"needs the page https://b\.example/time"):
        await update_cases(tmp_path, ["boiler"], run_config())
    write_case(tmp_path, pages=pages, replies=[answer, answer], expected={"references": 2})
    [update] = await update_cases(tmp_path, ["boiler"], run_config())
    assert [difference.field for difference in update.changed] == ["references"]


async def test_status_type_and_defects_of_a_failed_case_are_updated(tmp_path: Path) -> None:
    old = {"status": 200, "type": "x", "defects": ["x"]}
    stored = write_case(tmp_path, replies=["no json", reply(summary="[9]")], expected=old)
    await update_cases(tmp_path, ["boiler"], run_config())
    assert read(stored.path)["expected"] == {
        "status": 502, "type": "invalid-reply", "defects": ["json", "citation"],
    }  # fmt: skip
