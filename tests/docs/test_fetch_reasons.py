"""Every reason for which a page cannot be read is explained to operators."""

import re
from pathlib import Path

from judge.library.pages.walls import WALL_SIGNS

ROOT = Path(__file__).parents[2]
REASON = re.compile(r'FetchError\(\s*"([a-z0-9-]+)"')


def test_each_reason_is_in_the_table_of_the_operations_page():
    code = "\n".join(path.read_text() for path in (ROOT / "judge").rglob("*.py"))
    reasons = set(REASON.findall(code))
    assert {"redirects", "robots", "too-large"} <= reasons
    reasons |= {f"wall-{sign}" for sign in WALL_SIGNS}
    _, _, page = (ROOT / "docs" / "operations.md").read_text().partition("cannot be read\n")
    table = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    assert not [reason for reason in reasons if not any(f"`{reason}`" in cell for cell in table)]
