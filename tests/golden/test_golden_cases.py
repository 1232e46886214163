"""Each golden case, replayed with no network through the server's own pipeline."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from judge.bootstrap import learn
from judge.entrypoints.api.problems import as_body, problem_of
from judge.errors import ConfigurationError, JudgeError, NotFound
from judge.golden.cases import parse_case
from judge.golden.compare import differences
from judge.golden.run import run_case
from judge.golden.store import StoredCase, load_cases

HERE = Path(__file__).parent
KNOWLEDGE = learn((HERE.parents[1] / "config" / "sources.toml").read_text())


def told(error: JudgeError) -> Mapping[str, Any]:
    return as_body(problem_of(error), path="/api/judge", request_id="golden")


@pytest.mark.parametrize("stored", load_cases(HERE), ids=lambda stored: stored.name)
async def test_golden_case(stored: StoredCase) -> None:
    outcome = await run_case(stored.case, stored.pages, KNOWLEDGE, told)
    assert [str(difference) for difference in differences(stored.case, outcome)] == []


async def test_every_way_of_differing_is_reported() -> None:
    [stored] = load_cases(HERE, ["tenancy_repair"])
    outcome = await run_case(stored.case, stored.pages, KNOWLEDGE, told)
    wrong = {
        "domain": "consumer",
        "analystVerdict": "Yes",
        "summary_matches": "^nothing$",
        "second_prompt_names": ["x"],
        "body": {"references": [{"number": 9}], "model": "other"},
    }
    case = stored.case.model_copy(
        update={"expected": type(stored.case.expected).model_validate(wrong)}
    )
    assert [difference.field for difference in differences(case, outcome)] == [
        "domain",
        "analyst_verdict",
        "summary_matches",
        "second_prompt_names",
        "references.length",
        "references.0.number",
        "model",
    ]


async def test_a_wrong_status_is_the_only_difference_that_is_told() -> None:
    [stored] = load_cases(HERE, ["blocked"])
    outcome = await run_case(stored.case, stored.pages, KNOWLEDGE, told)
    case = stored.case.model_copy(update={"expected": type(stored.case.expected)(domain="x")})
    assert [str(d) for d in differences(case, outcome)] == ["status: expected 200, found 422"]


def test_an_unknown_case_is_named() -> None:
    with pytest.raises(NotFound, match="nope"):
        load_cases(HERE, ["nope"])


def test_a_bad_case_is_reported_with_its_key(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"input": {"context": "too short", "query": "why?"}}')
    with pytest.raises(ConfigurationError, match=r"bad\.json.*input\.context"):
        load_cases(tmp_path)


def test_replies_are_written_as_text_as_json_or_as_what_the_model_does() -> None:
    case = parse_case(
        '{"input": {"context": "long enough text", "query": "really?"}, "replies": '
        '["raw", {"summary": "é"}, {"finish": "truncated"}, {"blocked": "SAFETY"}]}'
    )
    assert [reply.text for reply in case.replies] == ["raw", '{"summary": "é"}', "", ""]
    assert [reply.finish for reply in case.replies][2] == "truncated"
    assert case.replies[3].blocked == "SAFETY"


def test_a_page_is_a_fixture_html_or_plain_text(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<p>From the file.</p>")
    (tmp_path / "case.json").write_text(
        '{"input": {"context": "long enough text", "query": "really?"}, "pages": '
        '{"u:1": "a.html", "u:2": "<p>Inline.</p>", "u:3": "Only words.", "u:4": null}}'
    )
    [stored] = load_cases(tmp_path)
    assert stored.pages["u:1"] == "<p>From the file.</p>"
    assert stored.pages["u:2"] == "<p>Inline.</p>"
    assert "<p>Only words.</p>" in str(stored.pages["u:3"])
    assert stored.pages["u:4"] is None
