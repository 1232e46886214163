"""What an operator sees for each failure of the model is as its table says."""

from pathlib import Path

import pytest

from judge.adapters.models.failure import GOOGLE_HINTS, failure_of
from judge.adapters.models.gemini import ACCOUNT_LIMITED
from judge.adapters.models.remote import BLOCKING

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
_, _, BEHIND = PAGE.partition("### When the model fails\n")
ROWS = [line.split(" | ") for line in BEHIND.partition("###")[0].splitlines() if line[:2] == "| "]


def error(status: str, message: str = "", reason: str = "") -> dict:
    return {"error": {"status": status, "message": message, "details": [{"reason": reason}]}}


@pytest.mark.parametrize(
    ("row", "status", "sent", "words"),
    [
        ("429 for a day's quota", 429, error("X", "limit: 0"), "plan, billing and spending cap"),
        ("429 for a day's quota", 402, None, "plan, billing and spending cap"),
        ("429 of a minute", 429, error("X"), ""),
        ("429 of a minute", 503, error("UNAVAILABLE", "high demand"), ""),
        ("400, the location", 400, error("FAILED_PRECONDITION", "location"), "billing for the key"),
        ("400 or 403, the key", 400, error("X", reason="API_KEY_INVALID"), "key was refused"),
        ("400 or 403, the key", 403, error("X", "reported as leaked"), "leaked"),
        ("400 or 403, the key", 403, error("X", reason="SERVICE_DISABLED"), "not enabled"),
        ("400 or 403, the key", 403, error("X", reason="CONSUMER_SUSPENDED"), "suspended"),
        ("401, the wrong kind", 401, error("X", reason="ACCESS_TOKEN_TYPE_UNSUPPORTED"), "API key"),
        ("404, no such model", 404, error("NOT_FOUND"), "such as gemini-"),
    ],
)
def test_each_error_is_as_the_table_of_the_operations_page_says(row, status, sent, words):
    [(_, happens, hint)] = [cells for cells in ROWS if cells[0].startswith(f"| {row}")]
    failure = failure_of(status, sent, None, GOOGLE_HINTS)
    assert happens.startswith("asked again" if failure.may_retry else "final")
    assert words in failure.hint
    assert hint.startswith("none") == (failure.hint == "")


def test_each_finish_that_is_final_is_in_the_table():
    [blocked] = [cells[0] for cells in ROWS if "content-blocked" in cells[1]]
    assert {word for word in blocked.split(", ") if word.isupper()} - BLOCKING == {"JAILBREAK"}
    assert any(ACCOUNT_LIMITED in cells[0] for cells in ROWS)
