"""When a replay goes wrong because of a defect, the defect is what is shown."""

from pathlib import Path

import pytest

from judge.golden.case_runner import run_case
from judge.golden.differences import differences
from judge.golden.scoring import score
from judge.golden.update import CannotReplay, update_cases
from tests.fakes.model import ScriptedModel
from tests.unit.golden.material import reply, run_config, write_case

WRONG = reply(summary="The law says so [7].")
"""Cites a reference that is not there, which is a hard defect."""

RUDE = reply(summary="Repairs are for your landlord [1].", references_help=False)
"""Says that no reference helps and cites one, which is a soft defect."""


async def test_a_hard_defect_is_shown_and_not_that_the_replies_ran_out(tmp_path: Path) -> None:
    stored = write_case(tmp_path, replies=[WRONG])
    outcome = await run_case(stored, run_config())
    [found] = differences(stored.case.expected, outcome)
    assert (found.field, found.found) == ("citation in summary", "[7]")
    assert "1 to 2" in str(found.expected)
    assert outcome.missing == ("reply 2, which is asked for because the one before broke a rule",)


async def test_a_soft_defect_fails_a_replay_that_has_no_second_reply(tmp_path: Path) -> None:
    stored = write_case(tmp_path, replies=[RUDE], expected={"status": 200})
    fields = [
        one.field for one in differences(stored.case.expected, await run_case(stored, run_config()))
    ]
    assert fields
    assert all(" in " in field for field in fields)


async def test_without_any_reply_the_missing_one_is_what_is_shown(tmp_path: Path) -> None:
    stored = write_case(tmp_path, replies=[])
    outcome = await run_case(stored, run_config())
    [found] = differences(stored.case.expected, outcome)
    assert (found.field, outcome.missing) == ("status", ("reply 1",))


async def test_the_defects_of_both_replies_stand_beside_the_status_of_a_502(tmp_path: Path) -> None:
    stored = write_case(tmp_path, replies=[WRONG, "no json"])
    outcome = await run_case(stored, run_config())
    assert [one.field for one in differences(stored.case.expected, outcome)] == [
        "status", "citation in summary", "json in reply",
    ]  # fmt: skip
    assert [attempt.text for attempt in outcome.attempts][1] == "no json"


async def test_a_live_502_tells_its_rules_too(tmp_path: Path) -> None:
    config = run_config(model=ScriptedModel("no json", "none"))
    stored = write_case(tmp_path)
    judged = score(stored, 1, await run_case(stored, config), config)
    assert judged.sample.failed == ("status", "json in reply")


async def test_an_update_that_lacks_a_reply_says_why_it_is_asked_for(tmp_path: Path) -> None:
    write_case(tmp_path, replies=[WRONG])
    with pytest.raises(CannotReplay, match="reply 2, which is asked for because"):
        await update_cases(tmp_path, ["boiler"], run_config())
