"""`judge demo` works offline, and its example pages are valid."""

import json
import os
import re
import signal
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from judge.bootstrap.sources import compile_knowledge
from judge.demo.example import CONTEXT, QUERY, example_site
from judge.demo.example import PAGES as EXAMPLE_PAGES
from judge.entrypoints.cli.sources.check import check_examples
from judge.judging.domains import detect_domain
from judge.library.dispute import read_dispute
from judge.library.extract.html_page import read_html
from judge.library.sources.toml_lines import Places
from tests.fakes.chat_server import ChatServer

SOURCES = files("judge.demo").joinpath("sources.toml").read_text(encoding="utf-8")
PAGES = {f"/{file.stem}": file.read_bytes() for file in EXAMPLE_PAGES.glob("*.html")}


@pytest.fixture(autouse=True)
def settings(cli, monkeypatch):
    """Settings with which only the demo can run."""
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:9/0")
    monkeypatch.setenv("JUDGE_SOURCES", "nowhere.toml")
    monkeypatch.setenv("JUDGE_MODEL", "no-such-model")
    Path(".env").write_text("JUDGE_MODEL=another\n")


def test_once_prints_summary_personas_and_numbered_references(cli):
    told = cli("demo", "--once")
    assert told.code == 0
    assert re.search(r"Verdict\n.*\[1\]", told.out, re.DOTALL)
    personas = re.findall(r"^(\w+): no verdict$", told.out, re.MULTILINE)
    assert personas == ["Therapist", "Analyst", "Coach"]
    listed = re.findall(
        r"^ *\[(\d)\] (?:.*\n)+? +http://127\.0\.0\.1:\d+/(\S+)", told.out, re.MULTILINE
    )
    assert [number for number, _ in listed] == [str(n) for n in range(1, len(listed) + 1)]
    assert {page for _, page in listed} >= {"repairs", "reporting-repairs"}
    assert listed[0] == ("1", "repairs")
    assert "boiler" in told.err


def test_demo_serves_with_its_own_settings_and_leaves_no_files(cli, monkeypatch):
    monkeypatch.setenv("JUDGE_CORS_ORIGINS", "http://localhost:5173, https://app.example.org")
    told = cli("demo", "--port", "8123")
    [served] = cli.http_server.calls
    assert told.code == 0
    assert (served.host, served.port, served.workers) == ("127.0.0.1", 8123, 1)
    assert served.settings.model == "extractive"
    assert served.settings.redis_url is None
    assert served.settings.deadline_s == 300
    assert served.settings.cors_origins == ("http://localhost:5173", "https://app.example.org")
    [host] = served.settings.trusted_hosts
    assert f"http://{host}" in told.err
    assert not Path(served.settings.sources).parent.exists()


def test_demo_can_use_a_model_of_chat_completions(cli, monkeypatch):
    with ChatServer.in_thread() as fake:
        monkeypatch.setenv("JUDGE_MODEL", "openai:tiny")
        monkeypatch.setenv("JUDGE_OPENAI_BASE_URL", fake.base_url)
        monkeypatch.setenv("JUDGE_DEADLINE_S", "70")
        told = cli("demo", "--once")
        cli("demo")
    assert told.code == 0, told.err
    assert "Therapist: Partly" in told.out
    assert len(fake.requests) == 1
    settings = cli.http_server.calls[0].settings
    assert (settings.model, settings.deadline_s) == ("openai:tiny", 70)


@pytest.mark.process
def test_the_demo_really_serves_until_ctrl_c(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "judge", "demo", "--port", "0"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = next(line for line in process.stderr if "listening on" in line)
        address = json.loads(line)["address"]
        dispute = json.dumps({"context": CONTEXT, "query": QUERY}).encode()
        headers = {"Content-Type": "application/json"}
        with urlopen(Request(f"{address}/api/judge", dispute, headers)) as reply:
            verdict = json.load(reply)
    finally:
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=60)
    assert process.returncode == 0
    numbers = [reference["number"] for reference in verdict["references"]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 2
    assert "Traceback" not in rest
    assert [path.name for path in tmp_path.iterdir()] == [".env"]


def test_the_example_dispute_and_every_example_get_their_own_domain():
    known = compile_knowledge(SOURCES)
    assert detect_domain(known.detector, read_dispute(CONTEXT, QUERY)).domain == "tenancy"
    assert all(example.is_ok for example in check_examples(known, Places(())))


def test_each_page_is_quoted_by_its_whole_first_paragraph():
    for path in set(PAGES) - {"/index"}:
        first = re.search(r"<p>(.*?)</p>", PAGES[path].decode(), re.DOTALL)
        assert read_html(PAGES[path]).lead == " ".join(first[1].split())


def test_the_site_serves_pages_and_nothing_else():
    with example_site() as site:
        with urlopen(f"{site}/repairs?x=1") as reply:
            assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
            assert reply.read() == PAGES["/repairs"]
        assert b"Example guidance" in urlopen(site).read()
        assert urlopen(f"{site}/style.css").headers["Content-Type"].startswith("text/css")
        for path in ("/sources.toml", "/../site.py", "/nowhere"):
            with pytest.raises(HTTPError, match="404") as refusal:
                urlopen(site + path)
            refusal.value.close()
    with pytest.raises(OSError):
        urlopen(site)
