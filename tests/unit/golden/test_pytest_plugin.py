"""A folder's JSON files become tests that pass, and fail with a readable difference."""

import subprocess
import sys
from pathlib import Path

from tests.unit.golden.material import TIME, reply, write_case

ROOT = Path(__file__).parents[3]
CONFTEST = """
from judge.golden.pytest_plugin import golden_cases
from tests.unit.golden.material import run_config

pytest_collect_file = golden_cases(run_config)
"""


def test_each_case_is_a_test_with_a_readable_failure(tmp_path: Path) -> None:
    pages = {"https://b.example/time": TIME}
    answer = reply(summary="Within two days [1].", quotes=[reply()["quotes"][1] | {"number": 1}])
    expected = {"domain": "consumer"}
    write_case(tmp_path, "bad", expected=expected, pages=pages, replies=[answer])
    write_case(tmp_path, "good")
    (tmp_path / ".hidden.json").write_text("no case")
    (tmp_path / "pages.txt").write_text("no case")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-c", "/dev/null"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "1 failed, 1 passed" in ran.stdout
    assert "golden case bad" in ran.stdout
    assert "domain\n  - consumer\n  + tenancy" in ran.stdout
    assert "The case does not have the page https://a.example/repairs." in ran.stdout
    assert "Traceback" not in ran.stdout
