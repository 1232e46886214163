"""Reading and writing a golden case with its pages and replies."""

from pathlib import Path

import pytest

from judge.errors import ConfigurationError
from judge.golden.cases import (
    load_case,
    load_cases,
    parse_case,
)
from tests.unit.golden.material import reply, write_case

INPUT = '"input": {"context": "long enough text", "query": "really?"}'


def test_cases_are_ordered_by_name_without_duplicates(tmp_path: Path) -> None:
    write_case(tmp_path, "b")
    write_case(tmp_path, "a")
    assert [stored.name for stored in load_cases(tmp_path)] == ["a", "b"]
    assert [stored.name for stored in load_cases(tmp_path, ["b", "b"])] == ["b"]


def _asking(evaluators: str) -> str:
    return f'{{{INPUT}, "expected": {{"evaluators": {evaluators}}}}}'


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"input": {"context": "too short", "query": "why?"}}', "input.context"),
        (f'{{{INPUT}, "extra": 1}}', "extra"),
        (f'{{{INPUT}, "expected": {{"summary_matches": "("}}}}', "summary_matches"),
        (f'{{{INPUT}, "expected": {{"floor": 0}}}}', "floor"),
        (f'{{{INPUT}, "expected": {{"evaluators": {{"nope": true}}}}}}', "no evaluator 'nope'"),
        (f'{{{INPUT}, "expected": {{}}, "expected": {{}}}}', "'expected' stands twice"),
        (f'{{{INPUT}, "expected": {{"evaluators": {{"mentions": 3}}}}}}', "mentions"),
        (_asking('{"mentions": [" "]}'), "expected.evaluators.mentions.0 must not be empty"),
        (_asking('{"avoids": ["fine", ""]}'), "expected.evaluators.avoids.1 must not be empty"),
        (_asking('{"citations_supported": NaN}'), "citations_supported"),
        (_asking('{"citations_supported": 20}'), "citations_supported must be at most 1"),
        (f'{{{INPUT}, "expected": {{"second_prompt_names": [""]}}}}', "second_prompt_names.0"),
        (f'{{{INPUT}, "expected": {{"references": true}}}}', "references must be a whole number"),
        (f'{{{INPUT}, "documents": {{"alone": "text"}}}}', "documents.alone"),
        ("[]", "golden case"),
    ],
)
def test_invalid_case_is_an_error_with_its_file_and_key(
    tmp_path: Path, text: str, place: str
) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(ConfigurationError, match=rf"bad\.json.*{place}"):
        load_cases(tmp_path)


def test_undecodable_case_and_missing_fixture_are_errors(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="bad"):
        load_cases(tmp_path)
    with pytest.raises(ConfigurationError, match=r"lost\.html"):
        write_case(tmp_path, pages={"u:1": "lost.html"})


def test_reply_is_text_json_or_what_the_model_does() -> None:
    case = parse_case(
        f'{{{INPUT}, "replies": ["raw", {{"summary": "é"}}, {{"finish": "truncated"}}, '
        '{"blocked": "SAFETY"}, {"text": "t", "model": "m", "usage": {"input_tokens": 3}}]}'
    )
    assert [reply.text for reply in case.replies] == ["raw", '{"summary": "é"}', "", "", "t"]
    assert case.replies[2].finish == "truncated"
    assert case.replies[3].blocked == "SAFETY"
    assert (case.replies[4].model, case.replies[4].usage.input_tokens) == ("m", 3)


def test_page_is_a_fixture_html_or_plain_text(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<p>From the file.</p>")
    (tmp_path / "pages" / "b.html").write_bytes(b"<p>caf\xe9</p>")
    write_case(
        tmp_path,
        pages={
            "u:1": "a.html",
            "u:2": "<p>Inline.</p>",
            "u:3": "Only words.",
            "u:4": None,
            "u:5": {"file": "b.html", "charset": "latin-1"},
            "u:6": "See index.html",
        },
    )
    pages = load_case(tmp_path / "boiler.json").pages
    bodies = {url: page and page.body for url, page in pages.items()}
    assert bodies["u:1"] == b"<p>From the file.</p>"
    assert bodies["u:2"] == b"<p>Inline.</p>"
    assert b"<p>Only words.</p>" in (bodies["u:3"] or b"")
    assert bodies["u:4"] is None
    assert (pages["u:5"] and pages["u:5"].charset, bodies["u:5"]) == ("latin-1", b"<p>caf\xe9</p>")
    assert b"<p>See index.html</p>" in (bodies["u:6"] or b"")


def test_fixture_outside_the_pages_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text("secret")
    for name in ("../../secret.html", "pages/../../../secret.html", str(tmp_path / "secret.html")):
        with pytest.raises(ConfigurationError, match=r"secret\.html' is not in .*pages"):
            write_case(tmp_path / "cases", pages={"u:1": name})


@pytest.mark.parametrize(
    ("changes", "is_live"),
    [
        ({}, True),
        ({"replies": [reply(), reply()]}, False),
        ({"expected": {"status": 422}}, False),
        ({"model": "extractive", "replies": []}, False),
        ({"live": False}, False),
        ({"live": True, "expected": {"status": 422}}, True),
    ],
)
def test_only_cases_without_intended_faults_are_run_live(
    tmp_path: Path, changes: dict, is_live: bool
) -> None:
    assert write_case(tmp_path, **changes).case.is_live == is_live
