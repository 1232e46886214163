"""The HTML report, and the JUnit report for build servers."""

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from markupsafe import escape

from judge.golden.case_reader import StoredCase
from judge.golden.case_runner import run_case
from judge.golden.cases import Expected
from judge.golden.html_report import as_html
from judge.golden.junit_report import as_junit
from judge.golden.samples import Answer, ScoredCase, by_case
from judge.golden.scoring import replay_all, score
from tests.fakes.model import ScriptedModel
from tests.unit.golden.material import reply, run_config, sample, write_case

EVIL = "<script>alert(1)</script><img src=x onerror=alert(x)>\"'&"
VOID = {"meta", "input", "img", "br"}


class Reader(HTMLParser):
    """Collects tags and attributes, and checks that every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def report(cases: list[StoredCase], judged: list[ScoredCase]) -> str:
    return as_html(cases, by_case(one.sample for one in judged), judged)


async def evil_run(folder: Path) -> tuple[list[StoredCase], list[ScoredCase]]:
    words = {
        "about": EVIL,
        "input": {"context": f"My boiler broke. {EVIL}", "query": EVIL, "domain": "tenancy"},
    }
    answer = reply(paraphrase=EVIL, summary=f"{EVIL} [1]", quotes=[])
    cases = [
        write_case(folder, "good"),
        write_case(
            folder, "evil", **words, replies=[answer, answer],
            expected={"domain": EVIL, "body": {"paraphrase": EVIL[:5]}},
        ),
        write_case(folder, "refused", replies=[{"blocked": "SAFETY"}]),
        write_case(folder, "starved", replies=[]),
    ]  # fmt: skip
    return cases, await replay_all(cases, run_config())


async def test_report_escapes_all_text_and_loads_nothing(tmp_path: Path) -> None:
    text = report(*await evil_run(tmp_path))
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert not reader.tags & {"script", "img", "link", "iframe"}
    assert not reader.attributes & {"src", "onerror", "href"}
    assert "default-src 'none'" in text
    assert "url(" not in text
    assert "&lt;script&gt;alert(1)" in text


async def test_report_shows_expected_and_found_side_by_side(tmp_path: Path) -> None:
    text = report(*await evil_run(tmp_path))
    assert "<th>Expected</th><th>Found</th>" in text
    assert "<td>The subject area</td><td>tenancy</td><td>✓</td>" in text
    assert f"<td>The subject area</td><td>{escape(EVIL)}</td><td>✗ tenancy</td>" in text
    assert "How the request ended (200 is a verdict)" in text
    refused = text[text.index("<h2>refused") : text.index("<h2>starved")]
    assert "<td>✗ 422 " in refused
    assert "✓" not in refused
    assert "4 stored disputes were judged: 1 as expected, 3 not as expected." in text
    assert "The case does not have reply 1." in text
    assert "No verdict: The model&#39;s safety filter" in text


async def test_expectation_that_was_not_compared_has_no_tick(tmp_path: Path) -> None:
    cases = [write_case(tmp_path, replies=[reply(summary="The law says so [7].")])]
    text = report(cases, await replay_all(cases, run_config()))
    assert "<td>citation in summary</td><td>a number from 1 to 2, as [1]</td><td>✗ [7]</td>" in text
    assert "✓" not in text
    assert "No verdict: The case does not have reply 2." in text


async def test_report_shows_the_questions_of_the_evaluators(tmp_path: Path) -> None:
    asked = {"cites_something": True, "mentions": ["boiler"], "no_citation": True}
    stored = write_case(tmp_path, expected={"evaluators": asked})
    text = report([stored], await replay_all([stored], run_config()))
    assert "<td>Is anything cited?</td><td>yes</td><td>✓</td>" in text
    assert "<td>Is each of these mentioned?</td><td>[&#34;boiler&#34;]</td><td>✓</td>" in text
    assert "<td>Is nothing cited?</td><td>yes</td><td>✗ 2 citations" in text


async def test_report_shows_the_help_lines_of_an_answer(tmp_path: Path) -> None:
    stored = write_case(tmp_path)
    lines = [{"title": EVIL, "url": "https://help.example/", "phone": ""}]
    judged = [
        ScoredCase(sample(), (), Answer(422, {"help": lines, "detail": "no"}, ()), Expected())
    ]
    assert f"<p>Help: {escape(EVIL)}, https://help.example/</p>" in report([stored], judged)


async def test_report_is_filtered_by_outcome_without_a_script(tmp_path: Path) -> None:
    text = report(*await evil_run(tmp_path))
    assert [*re.findall(r'<article class="(\w+)"><h2>(\w+)', text)] == [
        ("failed", "evil"),
        ("failed", "refused"),
        ("failed", "starved"),
        ("passed", "good"),
    ]
    for state in ("passed", "failed", "unscored"):
        assert f'id="only-{state}"' in text
        assert f"#only-{state}:checked~main article:not(.{state})" in text


async def test_several_answers_are_shown_with_their_rate_and_failures_first(tmp_path: Path) -> None:
    stored = write_case(tmp_path, expected={"analystVerdict": "No", "floor": 0.5})
    judged = [
        ScoredCase(sample(number=1, floor=0.5), (), Answer(503, {}, ()), Expected()),
        ScoredCase(
            sample(number=2, floor=0.5, is_scored=False, reason="down"),
            (),
            Answer(503, {}, ()),
            Expected(),
        ),
        ScoredCase(
            sample(number=3, floor=0.5, failed=("domain",)), (), Answer(503, {}, ()), Expected()
        ),
    ]
    text = report([stored], judged)
    assert "1 of 2 answers (50%; in the long run between 9% and 91%); 50% are asked for" in text
    assert text.index("Answer 2") < text.index("Answer 3") < text.index("Answer 1")
    assert "<p>down</p>" in text


async def test_junit_report_counts_failures_and_unscored_answers(tmp_path: Path) -> None:
    _, judged = await evil_run(tmp_path)
    lost = ScoredCase(
        sample("lost", is_scored=False, reason="down\x00"), (), Answer(503, {}, ()), Expected()
    )
    judged = [*judged, lost]
    suite = ET.fromstring(as_junit(by_case(one.sample for one in judged), judged))
    assert suite.attrib | {"name": ""} == {
        "name": "", "tests": "5", "failures": "3", "errors": "1",
    }  # fmt: skip
    children = {case.get("name"): [child.tag for child in case] for case in suite}
    assert children == {
        "good": [], "evil": ["failure"], "refused": ["failure"], "starved": ["failure"],
        "lost": ["error"],
    }  # fmt: skip
    assert "<script>" in (suite[1][0].text or "")
    assert (suite[4][0].text or "") == "unscored: down\ufffd"


@pytest.mark.parametrize(("script", "is_scored"), [((), False), (("no json", "none"), True)])
async def test_only_a_missing_answer_is_unscored(
    tmp_path: Path, script: tuple[str, ...], is_scored: bool
) -> None:
    where = run_config(model=ScriptedModel(*script))
    stored = write_case(tmp_path)
    judged = score(stored, 1, await run_case(stored, where), where)
    assert judged.sample.is_scored == is_scored
    assert not judged.sample.has_passed
    assert judged.sample.first_rules == (("json",) if is_scored else ())
    assert judged.sample.second_rules == (("json",) if is_scored else ())
