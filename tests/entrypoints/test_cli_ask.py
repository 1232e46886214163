"""`judge ask` through the real SDK and fetcher, against a fake model and site on loopback."""

import io
import json
import sys

import pytest

from tests.entrypoints.command_line import CommandLine, Told
from tests.fakes.gemini import FakeGemini, blocked, failure, references_in
from tests.fakes.site import FakeSite

PARAGRAPH = (
    "Your landlord has to keep the boiler in working order and must start repairs within a "
    "reasonable time after you have told them that it has stopped working."
)
CONTEXT = "My landlord has left the boiler broken for three weeks."
QUERY = "Am I unreasonable to want it repaired?"


@pytest.fixture
def site():
    with FakeSite() as site:
        site.page("/repairs", f"<html><body><main><h1>Repairs</h1><p>{PARAGRAPH}</p></main></body>")
        yield site


@pytest.fixture
def gemini():
    with FakeGemini.in_thread() as gemini:
        yield gemini


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path, site, gemini) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sources.toml").write_text(f"""
[blocked]
help = [{{ title = "Listeners", url = "https://help.example/", phone = "116 000" }}]
[domains.tenancy]
terms = {{ landlord = 3, boiler = 2 }}
[[domains.tenancy.sources]]
url = "{site.url("/repairs")}"
title = "Repairs"
""")
    monkeypatch.setenv("JUDGE_SOURCES", "sources.toml")
    monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", site.host)
    monkeypatch.setenv("JUDGE_GEMINI_BASE_URL", gemini.base_url)
    monkeypatch.setenv("GEMINI_API_KEY", "a-key")
    return CommandLine(capsys)


def ask(cli: CommandLine, *more: str, context: str = CONTEXT) -> Told:
    return cli("ask", "--context", context, "--query", QUERY, *more)


def test_a_dispute_is_judged_with_a_numbered_reference(cli, site, gemini):
    told = ask(cli)
    assert told.code == 0
    assert "Therapist: Partially" in told.out
    assert "[1] Repairs (fetched just now)" in told.out
    assert site.url("/repairs") in told.out
    assert told.err == ""
    assert references_in(gemini.prompts[0]) == {1: PARAGRAPH}


def test_json_is_the_body_of_the_http_reply(cli, site):
    told = ask(cli, "--format", "json")
    body = json.loads(told.out)
    assert told.code == 0
    assert body["domain"] == "tenancy"
    assert body["snippets"] == [{"url": site.url("/repairs"), "text": PARAGRAPH}]
    assert body["references"][0]["fetched_at"].endswith("Z")
    assert [persona["name"] for persona in body["personas"]] == ["Therapist", "Analyst", "Coach"]


def test_a_verdict_with_a_warning_is_exit_1(cli, site):
    site.fail("/repairs")
    told = ask(cli, "--format", "json")
    assert told.code == 1
    assert json.loads(told.out)["warnings"]


def test_the_story_can_come_from_standard_input(cli, monkeypatch, gemini):
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{CONTEXT}\nIt is cold.\n"))
    assert ask(cli, context="-").code == 0
    assert "It is cold." in gemini.prompts[0]


def test_a_named_domain_skips_detection(cli):
    told = ask(cli, "--domain", "default", "--format", "json")
    body = json.loads(told.out)
    assert told.code == 0
    assert body["domain"] == "default"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--domain", "astrology"], "Valid are: tenancy, default."),
        (["--scope", "@collection:notes"], "scope"),
    ],
)
def test_what_cannot_be_answered_is_exit_2_with_the_valid_names(cli, more, words):
    told = ask(cli, *more)
    assert (told.code, told.out) == (2, "")
    assert words in told.err


def test_a_request_that_is_too_short_names_the_field(cli, gemini):
    told = ask(cli, context="Cold.")
    assert told.code == 2
    assert told.err == "judge: context must have at least 10 characters.\n"
    assert gemini.seen == []


def test_a_missing_key_is_exit_2_and_says_what_to_set(cli, monkeypatch):
    monkeypatch.delenv("GEMINI_API_KEY")
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    told = ask(cli)
    assert told.code == 2
    assert "Set GEMINI_API_KEY" in told.err


def test_a_refused_dispute_brings_the_help_lines(cli, gemini):
    gemini.script(blocked())
    told = ask(cli)
    assert told.code == 2
    assert "Listeners, 116 000, https://help.example/" in told.err


def test_a_model_out_of_reach_is_exit_2(cli, gemini):
    gemini.script(failure(400), failure(400))
    told = ask(cli)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("judge: ")


def test_events_are_shown_on_request_and_hold_no_word_of_the_dispute(cli):
    told = cli("--verbose", "ask", "--context", CONTEXT, "--query", QUERY)
    assert "snippet.fetched host=127.0.0.1" in told.err
    assert "judgement.finished domain=tenancy evidence=grounded" in told.err
    assert "landlord" not in told.err
