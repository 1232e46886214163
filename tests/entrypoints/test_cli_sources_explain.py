"""`judge sources explain` shows which terms of a dispute were found and what they decided."""

import io
import json
import sys

import pytest

from tests.fakes.site import FakeSite

STORY = "My landlord will not mend the boiler in Leeds"


@pytest.fixture
def site():
    with FakeSite() as site:
        text = "Your landlord has to keep the boiler in working order and must mend it soon after."
        site.page("/repairs", f"<html><body><main><h1>Repairs</h1><p>{text}</p></main></body>")
        yield site


@pytest.fixture(autouse=True)
def file(cli, monkeypatch, tmp_path, site):
    monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", site.host)
    path = tmp_path / "sources.toml"
    path.write_text(f"""
vocabulary = false
[domains.tenancy]
terms = {{ landlord = 3, "pub landlord" = 0, boiler = 2, party = -0.5 }}
patterns = [{{ regex = 'section (8|21)', weight = 1 }}]
sources = [
  {{ url = "{site.url("/eviction")}", title = "Notice", topics = ["eviction"] }},
  {{ url = "{site.url("/repairs")}", title = "Repairs", topics = ["boiler"] }},
]
help = [{{ title = "Shelter", url = "https://example.org/shelter", phone = "0800 1" }}]
[domains.workplace]
terms = {{ grievance = 3, landlord = 0.5 }}
[[safety]]
name = "violence"
terms = ["hits me"]
harmless = ["this job is killing me"]
help = [{{ title = "Refuge", url = "https://example.org/refuge", phone = "0800 2" }}]
""")
    return path


def explained(cli, *arguments):
    told = cli("sources", "explain", *arguments, "--json")
    assert told.code == 0
    return json.loads(told.out)


def terms(report):
    return {(term["domain"], term["shown"]): term for term in report["terms"]}


def test_each_term_has_its_weight_for_each_domain(cli):
    report = explained(cli, STORY)
    gave = {key: term["score"] for key, term in terms(report).items()}
    assert gave == {
        ("tenancy", "landlord"): 3,
        ("tenancy", "boiler"): 2,
        ("workplace", "landlord"): 0.5,
    }
    assert report["totals"] == [
        {"domain": "tenancy", "score": 5},
        {"domain": "workplace", "score": 0.5},
    ]
    assert {term["file"] for term in report["terms"]} == {"sources.toml"}


def test_built_in_phrase_around_a_term_of_a_new_domain_names_the_term(cli, file):
    file.write_text("[domains.next_door]\nterms = { neighbour = 3 }\n"
                                           "[domains.workplace]\n")  # fmt: skip
    report = terms(explained(cli, "My neighbour shouts"))
    ours = {shown: term for (domain, shown), term in report.items() if domain == "next_door"}
    assert [(t["shown"], t["configured"], t["file"]) for t in ours.values()] == [
        ("neighbour", "neighbour", "sources.toml")
    ]


def test_a_pattern_has_its_match_and_a_term_of_the_question_counts_more(cli):
    report = terms(explained(cli, "--context", "Section 21", "--query", "Is my landlord wrong?"))
    assert report["tenancy", "section 21"]["configured"] == "section (8|21)"
    asked = report["tenancy", "landlord"]
    assert (asked["is_asked"], asked["score"]) == (True, 4.5)


def test_threshold_and_missing_score_are_shown(cli):
    told = cli("sources", "explain", "boiler " + "word " * 80)
    report = explained(cli, "boiler " + "word " * 80)
    assert (report["needed"], report["missed"]) == (2.25, 0.25)
    assert "a text of 81 words needs 2.25" in told.out
    assert "tenancy has 2 and misses it by 0.25" in told.out


def test_close_scores_show_what_the_second_domain_needs(cli):
    report = explained(cli, "A grievance about the landlord and nothing else")
    assert report["bar"]["for_runner_up"] == 3.2
    assert report["domain"] == "workplace"
    told = cli("sources", "explain", "A grievance about the landlord and nothing else")
    assert "to be told from tenancy takes 0.2 more than its 3, 3.2)" in told.out


def test_help_lines_are_shown_with_their_reason(cli):
    told = cli("sources", "explain", "My landlord hits me. This job is killing me.")
    report = explained(cli, "My landlord hits me. This job is killing me.")
    assert [line["title"] for line in report["help"]] == ["Refuge", "Shelter"]
    assert report["safety"][0]["found"] == ["hits me"]
    assert report["harmless"] == ["this job is killing me"]
    assert "violence: hits me" in told.out
    assert "the domain tenancy" in told.out


def test_pages_are_guessed_by_default_and_fetched_on_request(cli, site):
    guessed = explained(cli, STORY)
    assert [page["is_read"] for page in guessed["sources"]] == [False, False]
    assert guessed["sources"][0]["url"] == site.url("/repairs")
    assert "boiler" in {reason["shown"] for reason in guessed["sources"][0]["reasons"]}
    [row] = [r for r in cli("sources", "explain", STORY).out.splitlines() if "/repairs" in r]
    assert "boiler" in row
    assert row.endswith("; not read yet")
    assert site.hits == {}
    read = explained(cli, STORY, "--fetch")
    assert [page["url"] for page in read["sources"]] == [site.url("/repairs")]
    assert "boiler" in {reason["shown"] for reason in read["sources"][0]["reasons"]}
    assert "--fetch" not in cli("sources", "explain", STORY, "--fetch").out
    for total in read["totals"]:
        parts = [term["score"] for term in read["terms"] if term["domain"] == total["domain"]]
        assert sum(parts) == pytest.approx(total["score"], abs=0.005)
    for page in read["sources"]:
        parts = [reason["score"] for reason in page["reasons"]]
        assert sum(parts) == pytest.approx(page["score"], abs=0.005)


def test_no_match_is_reported(cli, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("The moon is full."))
    told = cli("sources", "explain", "-")
    assert told.code == 0
    assert told.out == (
        "Domain: default\n\nNo term or pattern of any domain stands in the text.\n\n"
        "No page would be offered.\n"
    )


@pytest.mark.parametrize(
    "arguments", [(), ("A", "--context", "B"), ("--context", "-", "--query", "-")]
)
def test_missing_or_conflicting_arguments_are_refused(cli, arguments):
    assert cli("sources", "explain", *arguments).code == 2
