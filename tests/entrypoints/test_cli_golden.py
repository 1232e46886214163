"""`judge golden`: replays without network; live runs and recordings use fakes."""

import asyncio
import io
import json
import os
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from pytest_socket import disable_socket, enable_socket

from judge.entrypoints.cli.golden.run import run_cases, run_variants
from judge.entrypoints.cli.options import TerminalJournal
from judge.golden.results import read_results
from tests.entrypoints.command_line import CommandLine
from tests.fakes.gemini import USAGE, FakeGemini, failure, slow
from tests.fakes.site import FakeSite
from tests.fakes.waiting import until
from tests.unit.golden.material import SOURCES, read, reply, write_case

JOURNAL = TerminalJournal(is_verbose=False)
CONTEXT = "My landlord Rowan Pike has left the boiler broken. Write to rowan@post.example."
QUERY = "Am I unreasonable?"
PARAGRAPH = (
    "Your landlord has to keep the boiler in working order and must start repairs within a "
    "reasonable time after you have told them that it has stopped working."
)
NEW = ("new", "boiler", "--context", CONTEXT, "--query", QUERY)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tests" / "golden"


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path, folder) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "JUDGE_MODEL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "sources.toml").write_text(SOURCES)
    monkeypatch.setenv("JUDGE_SOURCES", "sources.toml")
    folder.parent.mkdir()
    return CommandLine(capsys)


@pytest.fixture
def gemini(monkeypatch):
    with FakeGemini.in_thread() as gemini:
        monkeypatch.setenv("JUDGE_GEMINI_BASE_URL", gemini.base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "a-very-secret-key")
        yield gemini


@pytest.fixture
def site(monkeypatch, tmp_path):
    with FakeSite() as site:
        page = f"<html><body><main><h1>Repairs</h1><p>{PARAGRAPH}</p></main></body>"
        site.page("/repairs", page)
        (tmp_path / "sources.toml").write_text(f"""
[domains.tenancy]
terms = {{ landlord = 3, boiler = 2 }}
[[domains.tenancy.sources]]
url = "{site.url("/repairs")}"
title = "Repairs"
""")
        monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", site.host)
        yield site


@contextmanager
def offline():
    """No network, not even loopback."""
    disable_socket(allow_unix_socket=True)
    try:
        yield
    finally:
        enable_socket()


def test_a_replay_needs_no_network_and_passes_with_exit_0(cli, folder):
    write_case(folder)
    with offline():
        told = cli("golden", "run")
    assert (told.code, told.err) == (0, "")
    assert "boiler   passed" in told.out
    assert "1 case: 1 passed." in told.out


def test_difference_is_named_by_field_and_is_exit_1(cli, folder):
    write_case(folder, "a", expected={"domain": "consumer", "analystVerdict": "Yes"})
    write_case(folder, "b", replies=[])
    told = cli("golden", "run")
    assert told.code == 1
    assert "a      failed   domain, analystVerdict" in told.out
    assert "  domain\n    - consumer\n    + tenancy\n" in told.out
    assert "The case does not have reply 1." in told.out
    assert "2 cases: 2 failed." in told.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "nope"), "no golden case 'nope'"),
        (("run", "--cases", "elsewhere"), "no golden cases in elsewhere"),
        (("run", "--keep-answers"), "--keep-answers and --model go with --live"),
        (("run", "--live", "--resume", "x.jsonl"), "--resume goes with --live --keep-answers"),
        (("run", "--model", "a"), "--keep-answers and --model go with --live"),
        (("run", "--live"), "GEMINI_API_KEY"),
        (("update",), "NAME"),
        (("update", "nope"), "no golden case 'nope'"),
        (("compare", "a", "b"), "a cannot be read"),
        (("new", "x", "--context", "long enough here"), "both --context and --query"),
        (("new", "x", "--context", "short", "--query", "why not?"), "context must have at least"),
        (NEW, "boiler.json already"),
        (("new", "fresh", *NEW[2:]), "GEMINI_API_KEY"),
        (("vary", "boiler", "--live"), "GEMINI_API_KEY"),
    ],
)
def test_impossible_request_is_exit_2_with_the_reason(cli, folder, arguments, message):
    write_case(folder)
    told = cli("golden", *arguments)
    assert told.code == 2
    assert told.out == ""
    assert message in told.err


def test_reports_and_results_are_written(cli, folder, tmp_path):
    write_case(folder)
    files = ("--report", "r.html", "--junit", "r.xml", "--out", "r.jsonl")
    assert cli("golden", "run", *files).code == 0
    assert "<h2>boiler</h2>" in (tmp_path / "r.html").read_text()
    assert ET.parse(tmp_path / "r.xml").getroot().get("tests") == "1"
    assert json.loads((tmp_path / "r.jsonl").read_text())["case"] == "boiler"


@pytest.mark.parametrize("option", ["--report", "--junit", "--out"])
def test_unwritable_report_is_exit_2_and_results_are_printed(cli, folder, option):
    write_case(folder)
    told = cli("golden", "run", option, "sources.toml/below")
    assert told.code == 2
    assert "cannot be written" in told.err
    assert len(list(Path(".judge/golden").iterdir())) == 1


def test_a_case_that_cannot_be_written_is_exit_2(cli, folder, site, gemini, tmp_path):
    folder.mkdir(parents=True)
    (folder / "pages").write_text("no folder")
    refused = cli("golden", *NEW)
    assert refused.code == 2
    assert "cannot be written: " in refused.err
    assert not (folder / "boiler.json").exists()


def test_cases_are_listed_for_people_and_programs(cli, folder):
    write_case(folder)
    write_case(folder, "refused", expected={"status": 422}, recorded=True)
    told = cli("golden", "list")
    assert "boiler    A broken boiler.   no         yes" in told.out
    listed = json.loads(cli("golden", "list", "--format", "json").out)["cases"]
    assert listed[1] == {
        "name": "refused", "about": "A broken boiler.", "recorded": True, "live": False,
    }  # fmt: skip


def test_a_live_request_becomes_a_case_that_replays_offline(cli, folder, site, gemini):
    told = cli("golden", *NEW)
    assert told.code == 1
    assert told.out.strip() == "tests/golden/boiler.json"
    assert "input.context: name: Rowan" in told.err
    assert "input.context: e-mail address: rowan@post.example" in told.err
    case = read(folder / "boiler.json")
    assert PARAGRAPH.encode() in (folder / "pages" / "boiler.1.html").read_bytes()
    assert case["versions"]["model"] == "gemini-3.8-flash"
    assert case["expected"]["exact_body"]["usage"]["input_tokens"] == USAGE["promptTokenCount"]
    asked = len(gemini.seen)
    assert cli("golden", "run").code == 0
    assert len(gemini.seen) == asked
    assert site.hits["/repairs"] == 1


def test_changed_words_of_the_prompt_are_shown_by_a_replay_and_a_live_run(
    cli, folder, site, gemini, tmp_path
):
    cli("golden", *NEW)
    case = read(folder / "boiler.json")
    assert case["recorded_at"] > "2026-01-15"
    assert PARAGRAPH in case["prompts"][0]
    case["prompts"][0] = case["prompts"][0].replace(PARAGRAPH, PARAGRAPH.replace("must", "may"))
    case["expected"]["prompt_digest"] = "before the edit"
    (folder / "boiler.json").write_text(json.dumps(case))
    for options in ((), ("--live",)):
        told = cli("golden", "run", *options, "--report", "r.html")
        assert told.code == (0 if options else 1)
        assert "Words changed in the prompt of boiler:" in told.out
        assert "[- may-]{+ must+}" in told.out
        assert "[- may-]{+ must+}" in (tmp_path / "r.html").read_text()
    assert cli("golden", "update", "boiler").code == 0
    assert PARAGRAPH in read(folder / "boiler.json")["prompts"][0]
    assert "Words changed" not in cli("golden", "run").out


def test_a_page_that_was_dated_after_the_old_replays_can_be_recorded(cli, folder, site, gemini):
    today = datetime.now(UTC).date().isoformat()
    meta = f'<meta property="article:modified_time" content="{today}T00:00:00Z">'
    page = f"<html><head>{meta}</head><body><main><h1>Repairs</h1><p>{PARAGRAPH}</p></main></body>"
    site.page("/repairs", page)
    assert cli("golden", *NEW).out.strip() == "tests/golden/boiler.json"
    body = read(folder / "boiler.json")["expected"]["exact_body"]
    assert body["references"][0]["updated"] == today
    assert cli("golden", "run").code == 0


def test_a_case_is_replayed_over_the_sources_it_was_recorded_with(
    cli, folder, site, gemini, tmp_path
):
    folder.mkdir(parents=True)
    (folder / "sources.toml").write_text("[domains.pets]\nterms = { dog = 3 }\n")
    assert cli("golden", *NEW).code == 1
    (tmp_path / "sources.toml").write_text("[domains.pets]\nterms = { cat = 3 }\n")
    assert cli("golden", "run").code == 0
    swept = cli("golden", "run", "--sources", "sources.toml")
    assert swept.code == 1
    assert "Over sources.toml, which the cases were not made for" in swept.out


def test_cases_with_sources_of_their_own_need_no_configured_file(
    cli, folder, site, gemini, tmp_path
):
    assert cli("golden", *NEW).code == 1
    (tmp_path / "sources.toml").unlink()
    assert cli("golden", "run").code == 0
    assert cli("golden", "update", "boiler").code == 0
    compared = cli("golden", "run") and cli("golden", "compare")
    write_case(folder, "other")
    assert "sources.toml cannot be read" in cli("golden", "run").err
    assert not compared.out.startswith("\n")


def test_unreadable_stored_run_is_named_and_fails_no_run(cli, folder, tmp_path):
    write_case(folder)
    kept = tmp_path / ".judge" / "golden"
    kept.mkdir(parents=True)
    (kept / "20200101T000000.000000Z-replay.jsonl").write_text("garbage\n")
    told = cli("golden", "run", "--report", "r.html")
    assert told.code == 0
    assert "1 case: 1 passed." in told.out
    assert "replay.jsonl, line 1 is no result of `judge golden run`" in told.err
    assert "Remove that file." in told.err
    assert len(list(kept.iterdir())) == 2


def test_results_are_written_into_a_special_file_without_replacing_it(cli, folder, tmp_path):
    write_case(folder)
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    Path("link").symlink_to("results.jsonl")
    assert cli("golden", "run", "--junit", "pipe", "--out", "link").code == 0
    assert b"<testsuite" in os.read(reader, 1000)
    os.close(reader)
    assert (Path("pipe").is_fifo(), Path("link").is_symlink()) == (True, True)
    assert read(Path("results.jsonl"))["case"] == "boiler"


def test_a_piped_case_with_the_other_side_replays(cli, folder, site, gemini, monkeypatch):
    asked = {
        "context": "my landlord has left the boiler broken",
        "query": QUERY,
        "hear_other_side": True,
    }
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(asked)))
    assert cli("golden", "new", "both").code == 0
    case = read(folder / "both.json")
    assert (case["input"], len(case["replies"])) == (asked, 3)
    assert case["expected"]["exact_body"]["other_side"]["agrees"] is True
    replayed = cli("golden", "run", "both", "--report", "r.html", "--out", "r.jsonl")
    assert replayed.code == 0
    assert "retelling: I am the other side." in Path("r.html").read_text()
    tokens = 3 * USAGE["promptTokenCount"]
    assert f'"usage":{{"input_tokens":{tokens},' in Path("r.jsonl").read_text()


def test_api_key_is_never_in_a_case(cli, folder, site, gemini):
    story = "my landlord has left the boiler broken, a-very-secret-key"
    told = cli("golden", "new", "leak", "--context", story, "--query", QUERY)
    assert told.code == 1
    assert "looks like a key" in told.err
    assert "a-very-secret-key" not in (folder / "leak.json").read_text()
    assert cli("golden", "run", "leak").code == 0


def test_unavailable_model_records_no_case(cli, folder, site, gemini):
    gemini.script(failure(400), failure(400))
    assert cli("golden", *NEW).code == 2
    assert not folder.exists()


def test_an_update_shows_what_changed_and_what_only_people_can_change(cli, folder):
    write_case(folder, expected={"domain": "x", "summary_matches": "never"})
    told = cli("golden", "update", "boiler")
    assert told.code == 1
    assert "boiler: 1 changed" in told.out
    assert "  domain\n    - x\n    + tenancy\n" in told.out
    assert "only a person can change" in told.out
    assert "summary_matches" in told.out
    write_case(folder, expected={"domain": "tenancy"})
    assert cli("golden", "update", "boiler").out == "boiler: nothing changed\n"


def test_live_answers_are_scored_with_rate_rules_tokens_and_cost(cli, folder, gemini, tmp_path):
    write_case(folder, expected={"evaluators": {"cites_something": True}, "floor": 0.5})
    write_case(folder, "strict", expected={"evaluators": {"mentions": ["sue"]}})
    write_case(folder, "scripted_fault", replies=[reply(), reply()])
    gemini.script("no json")
    told = cli("golden", "run", "--live", "--repeat", "3", "--out", "live.jsonl")
    assert told.code == 1
    assert "boiler   passed   3/3      100%   44% to 100%   50%" in told.out
    assert "strict   failed   0/3      0%     0% to 56%     100%    mentions" in told.out
    assert "scripted_fault" not in told.out
    assert "Asked again: 1 of 6 (17%) first replies." in told.out
    assert "json          1 of 6 (17%)    0 of 1 (0%)" in told.out
    assert "Tokens: 840 in, 560 out, 280 thinking. Cost: unknown." in told.out
    assert "prices.toml" in told.err
    assert len((tmp_path / "live.jsonl").read_text().splitlines()) == 6
    assert "boiler broken" not in (tmp_path / "live.jsonl").read_text()


def test_a_live_run_is_priced_and_invalid_prices_are_told_before(cli, folder, gemini, tmp_path):
    write_case(folder)
    prices = tmp_path / "config" / "prices.toml"
    prices.parent.mkdir()
    prices.write_text("currency = [")
    told = cli("golden", "run", "--live")
    assert (told.code, told.out, gemini.seen) == (2, "", [])
    assert "prices.toml" in told.err
    prices.write_text('currency = "GBP"\n[models."gemini-3.8-flash"]\ninput = 1\noutput = 10\n')
    assert "Cost: 0.0013 GBP." in cli("golden", "run", "--live").out
    assert len(list((tmp_path / ".judge" / "golden").glob("*.jsonl"))) == 1


async def test_answers_before_ctrl_c_are_stored(cli, folder, gemini, tmp_path, capsys):
    write_case(folder)
    gemini.script(reply(), *[slow(reply(), 60.0)] * 4)
    asking = asyncio.create_task(
        run_cases(JOURNAL, folder=folder, names=(), is_live=True, repeat=5, keeps_answers=True)
    )
    # Four calls run at once; the fifth starts when one ends.
    await until(lambda: len(gemini.seen) == 5)
    asking.cancel()
    await asyncio.wait([asking])
    assert asking.cancelled()
    [kept] = read_results(next((tmp_path / ".judge" / "golden").glob("*-live.jsonl")))
    assert kept.state == "passed"
    assert "What was answered so far is kept in" in capsys.readouterr().err


def test_answers_before_any_failure_are_stored(cli, folder, gemini, tmp_path):
    write_case(folder)
    write_case(folder, "lease", documents={"leases/flat.md": " "})
    # Four calls run at once, so that the lease comes after an answer.
    told = cli("golden", "run", "--live", "--keep-answers", "--repeat", "4")
    assert told.code == 2
    [path] = (tmp_path / ".judge" / "golden").glob("*-live.jsonl")
    assert read_results(path)[0].case == "boiler"
    kept = f"kept in {path.relative_to(tmp_path)}, with the words of the answers. Continue with"
    assert kept in told.err


def test_nothing_is_asked_that_could_not_be_stored(cli, folder, gemini, monkeypatch):
    write_case(folder)
    monkeypatch.setenv("JUDGE_DATA_DIR", "sources.toml")
    told = cli("golden", "run", "--live")
    assert (told.code, told.out, gemini.seen) == (2, "", [])
    assert "Set JUDGE_DATA_DIR" in told.err


def test_interrupted_live_run_is_resumed(cli, folder, gemini, tmp_path):
    write_case(folder)
    gemini.script(reply())
    cli("golden", "run", "--live", "--keep-answers", "--out", "first.jsonl")
    [first] = read_results(tmp_path / "first.jsonl")
    asked = len(gemini.seen)
    gemini.script(reply(), reply())
    told = cli(
        *("golden", "run", "--live", "--keep-answers", "--repeat", "3"),
        *("--resume", "first.jsonl", "--out", "all.jsonl"),
    )
    assert told.code == 0
    assert "Answers taken from first.jsonl: 1." in told.err
    assert len(gemini.seen) == asked + 2
    resumed = read_results(tmp_path / "all.jsonl")
    assert [sample.number for sample in resumed] == [1, 2, 3]
    assert resumed[0].answer == first.answer
    assert len({sample.at for sample in resumed}) == 1


def test_only_answers_of_the_same_model_to_the_same_prompt_are_resumed(
    cli, folder, gemini, monkeypatch
):
    write_case(folder)
    write_case(folder, "same")
    again = ("golden", "run", "--live", "--keep-answers", "--resume", "first.jsonl")
    cli("golden", "run", "--live", "--keep-answers", "--out", "first.jsonl")
    asked = len(gemini.seen)
    case = json.loads((folder / "boiler.json").read_text())
    case["input"]["context"] = "My landlord left the boiler to smoke, and has sued me for it."
    (folder / "boiler.json").write_text(json.dumps(case))
    assert "Answers taken from first.jsonl: 1." in cli(*again).err
    assert len(gemini.seen) == asked + 1
    assert case["input"]["context"] in json.dumps(gemini.seen[-1].body)
    monkeypatch.setenv("JUDGE_MODEL", "gemini-other")
    assert "Answers taken from first.jsonl: 0." in cli(*again).err
    assert len(gemini.seen) == asked + 3


def test_comparison_with_something_worse_is_exit_1(cli, folder, gemini):
    write_case(folder, expected={"evaluators": {"addresses_you": True}})
    assert cli("golden", "run", "--live", "--repeat", "2", "--out", "a.jsonl").code == 0
    gemini.script(*["no json"] * 2, reply(quotes=[]), reply(quotes=[]))
    assert cli("golden", "run", "--live", "--out", "b.jsonl").code == 1
    told = cli("golden", "compare", "a.jsonl", "b.jsonl")
    assert told.code == 1
    assert "boiler   worse, perhaps by chance   100%     0%" in told.out
    assert cli("golden", "compare", "b.jsonl", "a.jsonl").code == 0


def test_variant_that_flips_is_named_and_is_exit_1(cli, folder, tmp_path):
    sources = "vocabulary = false\n" + SOURCES.replace("landlord = 3, boiler = 2", "rowan = 3")
    (tmp_path / "sources.toml").write_text(sources)
    write_case(folder)
    told = cli("golden", "vary", "boiler")
    assert told.code == 1
    [flip] = [line for line in told.out.splitlines() if line.startswith("boiler   other names")]
    assert "flipped" in flip
    assert "status: 200 became 503" in flip


def in_flight() -> int:
    """How many cases are being judged."""
    names = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
    return sum(name.endswith(".limited") for name in names)


async def test_variants_before_ctrl_c_are_printed_and_stored(cli, folder, gemini, tmp_path, capsys):
    for name in ("one", "two"):
        write_case(folder, name)
    gemini.script(slow(reply(), 60.0))  # for one of them; the other goes on
    out = tmp_path / "v.jsonl"
    options = {"folder": folder, "names": (), "repeat": 1, "max_flips": 99, "out": out}
    varying = asyncio.create_task(run_variants(JOURNAL, **options, is_live=True))
    for count in (2, 1):
        await until(lambda count=count: in_flight() == count)
    varying.cancel()
    await asyncio.wait([varying])
    assert varying.cancelled()
    assert len(out.read_text().splitlines()) == 6
    assert "a poisoned page" in capsys.readouterr().out


def test_two_replays_are_compared_without_naming_files(cli, folder, tmp_path):
    write_case(folder)
    write_case(folder, "other", input={"context": CONTEXT, "query": QUERY, "domain": "default"},
               replies=[reply(summary="You are right.", quotes=[], references_help=False)],
               expected={"domain": "default"})  # fmt: skip
    assert cli("golden", "run").out.endswith("2 cases: 2 passed.\n")
    assert cli("golden", "compare").code == 2
    page = "Your landlord is usually responsible for repairs to the boiler and the heating."
    write_case(folder, pages={"https://a.example/repairs": page})
    cli("golden", "run")
    told = cli("golden", "compare")
    assert "1 case changed, 1 unchanged." in told.out
    assert "responsible for repairs" in told.out
    assert "chance" not in told.out


def test_a_folder_that_cannot_keep_results_does_not_fail_a_replay(cli, folder, monkeypatch):
    write_case(folder)
    monkeypatch.setenv("JUDGE_DATA_DIR", "sources.toml")
    told = cli("golden", "run")
    assert told.code == 0
    assert "not kept" in told.err


def test_sweep_over_other_sources_checks_only_general_rules(cli, folder, tmp_path):
    plain = reply(summary="You are right.", quotes=[], references_help=False)
    expected = {"domain": "tenancy", "prompt_digest": "0" * 16}
    write_case(folder, expected=expected, replies=[plain])
    shipped = SOURCES.replace('title = "Repairs"', 'title = "All about repairs"')
    (tmp_path / "shipped.toml").write_text(shipped)
    told = cli("golden", "run")
    assert told.code == 1
    assert "The prompt has changed. If that is intended, `judge golden update boiler`" in told.out
    told = cli("golden", "run", "--sources", "shipped.toml")
    assert told.code == 0
    assert "Over shipped.toml, which the cases were not made for" in told.out
    (folder / "sources.toml").write_text("[domains.none]\n")
    told = cli("golden", "run")
    assert "domain\n    - tenancy\n    + default\n" in told.out


def test_two_models_are_compared_side_by_side_with_a_paired_test(cli, folder, gemini, tmp_path):
    for number in range(8):
        write_case(folder, f"case{number}", expected={"evaluators": {"addresses_you": True}})
    good = reply(summary="You may ask your landlord.", quotes=[], references_help=False)
    poor = reply(summary="Nobody may ask.", quotes=[], references_help=False)
    gemini.script(*[good] * 8, *[poor] * 7, good)
    models = ("--model", "gemini-a", "--model", "gemini-b")
    told = cli("golden", "run", "--live", *models, "--report", "r.html", "--junit", "r.xml")
    assert told.code == 1
    assert [request.path.count("gemini-a") for request in gemini.seen] == [1] * 8 + [0] * 8
    beside = [line.split() for line in told.out.splitlines() if line.endswith(" 0 of 1")]
    assert len(beside) == 7
    line = "gemini-b against gemini-a: -88% (95 %: -100% to -62%); better in 0 cases, worse in 7"
    assert f"{line}, p = 0.016: a clear difference." in told.out
    page = (tmp_path / "r.html").read_text()
    assert f"{line}, p = 0.016" in page
    assert page.count("<article") == 16
    assert "<th>gemini-a</th><th>gemini-b</th>" in page
    names = {case.get("name") for case in ET.parse(tmp_path / "r.xml").getroot()}
    assert {"case0 (gemini-a)", "case0 (gemini-b)"} <= names
    told = cli("golden", "compare")
    assert "Over all cases: -88%" in told.out
    assert "The model changed from gemini-a to gemini-b." in told.out


def test_two_sources_files_are_compared_side_by_side(cli, folder, tmp_path):
    plain = reply(summary="You are right.", quotes=[], references_help=False)
    write_case(folder, expected={"domain": "tenancy"}, replies=[plain])
    (tmp_path / "other.toml").write_text(
        "vocabulary = false\n[domains.pets]\nterms = { dog = 3 }\n"
    )
    both = ("--sources", "sources.toml", "--sources", "other.toml")
    told = cli("golden", "run", *both, "--report", "r.html")
    assert told.code == 1
    assert "boiler   1 of 1         0 of 1" in told.out
    assert "other.toml against sources.toml: -100%" in told.out
    assert "p = 1: chance may explain it." in told.out
    write_case(folder, expected={"domain": "pets"}, replies=[plain])
    cli("golden", "run", "--report", "r.html")
    history = (tmp_path / "r.html").read_text().partition("Over time: ")[2].partition("</p>")[0]
    assert [history.count(sign) for sign in ("✓", "✗")] == [1, 2]


RUBRIC = {"question": "Does it say who has to pay?", "times": 3, "at_least": 0.6}
YES, NO = ({"reason": "So it is.", "answer": answer} for answer in ("yes", "no"))


def test_a_model_grades_live_answers_with_the_spread(cli, folder, gemini, tmp_path):
    write_case(folder, expected={"graded": [RUBRIC]})
    gemini.script(reply(), YES, NO, NO)
    told = cli("golden", "run", "--live", "--report", "r.html")
    assert told.code == 1
    assert "graded 1" in told.out
    assert "1 of 3 yes (6% to 79%)" in told.out
    asked = gemini.requests[1]["systemInstruction"]["parts"][0]["text"]
    assert RUBRIC["question"] in asked
    assert "1 of 3 yes" in (tmp_path / "r.html").read_text()
    gemini.script(reply(), YES, NO)
    assert cli("golden", "run", "--live").code == 2  # the third says nothing of use
    gemini.script(reply(), *[failure(400)] * 3)
    told = cli("golden", "run", "--live")
    assert told.code == 2
    assert "unscored: Not graded: Does it say who has to pay?" in told.out
    gemini.script(reply(), YES, NO, f"```json\n{json.dumps(YES)}\n```")
    assert cli("golden", "run", "--live").code == 0


def test_stored_answers_are_scored_again_without_the_model(cli, folder, gemini):
    write_case(folder)
    gemini.script(reply())
    told = cli("golden", "run", "--live", "--keep-answers")
    assert "with the words of the answers" in told.err
    asked = len(gemini.seen)
    assert cli("golden", "score").code == 0
    write_case(folder, expected={"evaluators": {"mentions": ["sue"]}})
    told = cli("golden", "score")
    assert told.code == 1
    assert "mentions" in told.out
    write_case(folder, expected={"graded": [RUBRIC]})
    assert cli("golden", "score").code == 2
    assert len(gemini.seen) == asked
    gemini.script(*[YES] * 3)
    assert cli("golden", "score", "--live").code == 0
    assert len(gemini.seen) == asked + 3


def test_answers_that_were_not_stored_cannot_be_scored_again(cli, folder, gemini, tmp_path):
    write_case(folder)
    cli("golden", "run", "--live", "--out", "x.jsonl")
    for told in (cli("golden", "score"), cli("golden", "score", "x.jsonl")):
        assert told.code == 2
        assert "--live --keep-answers" in told.err
    kept = next((tmp_path / ".judge" / "golden").glob("*-live.jsonl"))
    assert "boiler broken" not in kept.read_text()
    assert "[1]" not in kept.read_text()


def test_live_runs_with_answers_show_what_changed_in_them(cli, folder, gemini):
    write_case(folder)
    gemini.script(reply())
    cli("golden", "run", "--live", "--keep-answers")
    cli("golden", "run", "--live", "--keep-answers")
    told = cli("golden", "compare")
    assert "personas.1.verdict\n    - No\n    + Partially\n" in told.out
    assert "boiler   same " in told.out


def test_case_whose_pages_all_failed_is_refused_unless_expected(cli, folder, site, gemini):
    site.fail("/repairs")
    told = cli("golden", *NEW)
    assert told.code == 2
    assert "Every page was down (1)" in told.err
    assert not (folder / "boiler.json").exists()
    site.fail("/repairs")
    cli("golden", *NEW, "--allow-no-pages")
    assert read(folder / "boiler.json")["pages"] == {site.url("/repairs"): None}
