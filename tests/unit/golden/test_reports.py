"""What a run is told as: an HTML page, JUnit's XML, and the comparison with the run before."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from judge.errors import NotFound
from judge.golden.cases import REPLAY_TIME
from judge.golden.differences import word_diff
from judge.golden.replay import Outcome
from judge.golden.report_files import as_html, as_junit
from judge.golden.results import find_baseline, last_run, store_run
from judge.golden.scoring import judge_all
from tests.unit.golden.material import reply, run_config, sample, write_case


async def test_page_shows_the_case_and_escapes_everything(tmp_path: Path) -> None:
    rude = "<script>alert(1)</script>"
    stored = write_case(
        tmp_path,
        about=rude,
        replies=[reply(paraphrase=f"You say {rude}.")],
        expected={"domain": rude, "analystVerdict": "Yes"},
    )
    html = as_html([stored], {"": await judge_all([stored], run_config())})
    page = LexborHTMLParser(html)
    assert "<script" not in html
    assert page.css_first("article").attributes["class"] == "failed"
    assert f"domain\n  - {rude}\n  + tenancy" in page.text()
    assert "quote: Your landlord is always responsible" in page.text()


async def test_page_shows_why_a_reply_was_refused(tmp_path: Path) -> None:
    stored = write_case(tmp_path, replies=[reply(summary="As the law says [7]."), reply()])
    html = as_html([stored], {"": await judge_all([stored], run_config())})
    assert "citation in summary" in html
    assert "As the law says [7]." in html


def test_junit_tells_failures_from_errors_and_holds_any_text() -> None:
    run = [
        sample("good"),
        sample("bad", failed=("domain",), answer=Outcome(200, {}, missing=("the page \x00",))),
        sample("lost", reason="no reply"),
    ]
    suite = ET.fromstring(as_junit({"": run}))
    assert [suite.get(key) for key in ("tests", "failures", "errors")] == ["3", "1", "1"]
    assert suite.findtext("testcase/failure") == "The case does not have the page \ufffd."
    assert suite.findtext("testcase/error") == "unscored: no reply"


@given(st.lists(st.sampled_from("ab c\n")), st.lists(st.sampled_from("ab c\n")))
def test_word_diff_is_empty_only_for_equal_texts(one: list[str], other: list[str]) -> None:
    before, after = "".join(one), "".join(other)
    assert bool(word_diff(before, after)) == (before != after)


def test_baseline_is_the_newest_earlier_run_that_differs(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        last_run(tmp_path)
    runs = [
        [sample(failed=failed, at=REPLAY_TIME + timedelta(hours=hour))]
        for hour, failed in enumerate([("domain",), (), (), ()])
    ]
    for run in runs[:3]:
        store_run(tmp_path, run)
    assert find_baseline(tmp_path, runs[3]) == runs[0]
    assert last_run(tmp_path) == runs[2]
    other_kind = [replace(runs[3][0], is_live=True)]
    assert find_baseline(tmp_path, other_kind) == []
    assert find_baseline(tmp_path, [replace(runs[3][0], case="other")]) == []
