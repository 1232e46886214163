"""A replay that fails because of a defect reports the defect."""

from pathlib import Path

from judge.golden.differences import differences
from judge.golden.replay import run_case
from tests.unit.golden.material import reply, run_config, write_case

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
