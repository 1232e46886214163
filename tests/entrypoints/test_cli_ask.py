"""`judge ask` through the real SDK and fetcher, against a fake model and site on loopback."""

import io
import json
import sys
from collections.abc import Iterator

import pytest

from tests.entrypoints.command_line import CommandLine, CommandResult
from tests.fakes.chat_server import ChatServer
from tests.fakes.gemini import (
    FakeGemini,
    blocked,
    dropped_midway,
    failure,
    references_in,
    verdict_for,
)
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


@pytest.fixture(autouse=True)
def file(cli, monkeypatch, tmp_path, site, gemini):
    (tmp_path / "sources.toml").write_text(f"""
[blocked]
help = [{{ title = "Listeners", url = "https://help.example/", phone = "116 000" }}]
[domains.tenancy]
terms = {{ landlord = 3, boiler = 2 }}
[[domains.tenancy.sources]]
url = "{site.url("/repairs")}"
title = "Repairs"
""")
    monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", site.host)
    monkeypatch.setenv("JUDGE_GEMINI_BASE_URL", gemini.base_url)
    monkeypatch.setenv("GEMINI_API_KEY", "a-key")


def ask(cli: CommandLine, *more: str, context: str = CONTEXT) -> CommandResult:
    return cli("ask", "--context", context, "--query", QUERY, *more)


def test_a_dispute_is_judged_with_a_numbered_reference(cli, site, gemini):
    told = ask(cli)
    assert told.code == 0
    assert "Therapist: Partly: you have a point" in told.out
    assert "[1] Repairs (fetched " in told.out
    assert site.url("/repairs") in told.out
    assert told.err == ""
    assert references_in(gemini.prompts[0]) == {1: PARAGRAPH}


def test_verdict_is_streamed_to_a_terminal(cli, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    told = ask(cli)
    assert told.code == 0
    assert told.err == "References: 1; asking the model.\n"
    assert told.out.count("Therapist: Partly: you have a point") == 1
    assert "[1] Repairs (fetched " in told.out


def test_fields_shown_before_a_failure_are_reported(cli, monkeypatch, gemini):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    said = verdict_for("")
    gemini.script(dropped_midway(json.dumps(said)), dropped_midway(json.dumps(said)))
    told = ask(cli)
    assert told.code == 2
    assert told.out == f"{said['paraphrase']}\n\n" * 2
    again, error = told.err.splitlines()[1:3]
    assert again == "The answer begins anew; what stands above no longer holds."
    assert error.startswith("judge: ")


def test_json_is_the_body_of_the_http_reply(cli, site):
    told = ask(cli, "--format", "json")
    body = json.loads(told.out)
    assert told.code == 0
    assert body["domain"] == "tenancy"
    assert body["snippets"] == [{"url": site.url("/repairs"), "text": PARAGRAPH}]
    assert body["references"][0]["fetched_at"].endswith("Z")
    assert [persona["name"] for persona in body["personas"]] == ["Therapist", "Analyst", "Coach"]


def test_what_is_no_text_in_a_dispute_is_left_out(cli, gemini):
    told = cli("ask", "--context", "The boiler broke. \udcff", "--query", QUERY)
    assert (told.code, told.err) == (0, "")


def test_a_verdict_with_a_warning_is_exit_1(cli, site):
    site.fail("/repairs")
    told = ask(cli, "--format", "json")
    assert told.code == 1
    assert json.loads(told.out)["warnings"]


def test_other_side_is_heard_if_requested(cli, gemini):
    retelling = "I left my tenant's boiler broken for three weeks."
    right = json.dumps(verdict_for("")).replace("Partially", "No")
    gemini.script(right, {"retelling": retelling, "query": "Am I unreasonable to wait?"}, right)
    told = ask(cli, "--other-side")
    assert told.code == 1
    assert told.out.index("Both sides are told that they are right") < told.out.index("Verdict\n")
    assert retelling in told.out
    assert retelling in gemini.prompts[2]


def test_the_story_can_come_from_standard_input(cli, monkeypatch, gemini):
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{CONTEXT}\nIt is cold.\n"))
    assert ask(cli, context="-").code == 0
    assert "It is cold." in gemini.prompts[0]


def test_what_cannot_be_asked_is_exit_2_with_what_to_do(cli, monkeypatch, gemini):
    for more, words in (
        (["--domain", "astrology"], "Valid are: tenancy, default."),
        (["--scope", "@collection:notes"], "scope"),
    ):
        told = ask(cli, *more)
        assert (told.code, told.out, words in told.err) == (2, "", True)
    told = ask(cli, context="Cold.")
    assert (told.code, told.err) == (2, "judge: context must have at least 10 characters.\n")
    monkeypatch.delenv("GEMINI_API_KEY")
    told = ask(cli)
    assert (told.code, "Set GEMINI_API_KEY" in told.err, gemini.seen) == (2, True, [])


def test_a_scope_that_a_shell_left_empty_shows_the_model_no_document(cli, gemini, tmp_path):
    (tmp_path / "diary.txt").write_text("My landlord and the boiler: nobody is to read this.")
    assert cli("index", "add", "diary.txt").code == 0
    for scope in ("", " "):
        assert ask(cli, "--scope", scope).code == 0
    assert "nobody is to read this" not in "".join(gemini.prompts)


def test_refused_dispute_prints_help_lines(cli, gemini):
    gemini.script(blocked())
    told = ask(cli)
    assert (told.code, "Listeners, 116 000, https://help.example/" in told.err) == (2, True)


@pytest.fixture
def chat_server(monkeypatch) -> Iterator[ChatServer]:
    """A server of chat completions, and no Gemini key."""
    monkeypatch.delenv("GEMINI_API_KEY")
    with ChatServer.in_thread() as fake:
        monkeypatch.setenv("JUDGE_MODEL", "openai:tiny")
        monkeypatch.setenv("JUDGE_OPENAI_BASE_URL", fake.base_url)
        yield fake


def test_own_model_is_the_fallback_of_gemini(cli, chat_server, monkeypatch, gemini):
    monkeypatch.setenv("GEMINI_API_KEY", "a-key")
    monkeypatch.setenv("JUDGE_MODEL", "gemini-3.8-flash")
    monkeypatch.setenv("JUDGE_FALLBACK", "openai:tiny")
    gemini.script(failure(400))
    body = json.loads(ask(cli, "--format", "json").out)
    assert (body["model"], body["degraded"]) == ("openai:tiny", True)


@pytest.mark.parametrize("setting", ["JUDGE_MODEL", "JUDGE_FALLBACK"])
def test_model_without_a_url_is_exit_2_and_names_the_setting(cli, monkeypatch, setting):
    monkeypatch.setenv(setting, "openai:tiny")
    told = ask(cli)
    assert (told.code, told.out) == (2, "")
    assert f"Set {setting}=openai:NAME and JUDGE_OPENAI_BASE_URL" in told.err


def test_events_are_printed_on_request_without_text_of_the_dispute(cli):
    told = cli("--verbose", "ask", "--context", CONTEXT, "--query", QUERY)
    assert "snippet.fetched host=127.0.0.1" in told.err
    assert "judgement.finished domain=tenancy evidence=grounded" in told.err
    assert "landlord" not in told.err
