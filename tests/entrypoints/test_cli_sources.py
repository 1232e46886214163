"""`judge sources` lists, checks, caches and explains pages without a model."""

import io
import json
import sys

import pytest
from redis import Redis

from judge.entrypoints.cli.output import Terminal, detect_terminal, format_table, progress_bar
from tests.fakes.redis_server import running_redis
from tests.fakes.site import FakeSite

PARAGRAPH = (
    "Your landlord has to keep the boiler in working order and must start repairs within a "
    "reasonable time after you have told them that it has stopped working."
)
EVICTION = PARAGRAPH.replace("boiler", "notice of an eviction")
REPAIRS = "My landlord will not mend the boiler in Leeds"


class TerminalOut(io.StringIO):
    """A stdout that is a terminal."""

    def isatty(self) -> bool:
        return True


def dated(day: str, text: str = PARAGRAPH) -> str:
    """The page with *day* as the date of its last change."""
    meta = f'<meta property="article:modified_time" content="{day}T10:00:00Z">'
    return f"<html><head>{meta}</head><body><main><h1>Renting</h1><p>{text}</p></main></body>"


@pytest.fixture
def site():
    with FakeSite() as site:
        for path, text in (("/repairs", PARAGRAPH), ("/eviction", EVICTION)):
            site.page(path, f"<html><body><main><h1>Renting</h1><p>{text}</p></main></body>")
        yield site


@pytest.fixture(autouse=True)
def file(cli, monkeypatch, tmp_path, site):
    monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", site.host)
    path = tmp_path / "sources.toml"
    path.write_text(f"""
[domains.tenancy]
title = "Renting a home"
terms = {{ landlord = 3, boiler = 2 }}
[[domains.tenancy.sources]]
url = "{site.url("/eviction")}"
title = "Notice"
topics = ["eviction"]
nations = ["england"]
[[domains.tenancy.sources]]
url = "{site.url("/repairs")}"
title = "Repairs"
topics = ["boiler", "heating"]
[[domains.tenancy.examples]]
text = "{REPAIRS}"
[domains.workplace]
terms = {{ grievance = 3, landlord = 0.5 }}
""")
    return path


def test_list_shows_a_page_on_one_line_each(cli, site):
    told = cli("sources", "list")
    assert told.code == 0
    [line] = [line for line in told.out.splitlines() if site.url("/eviction") in line]
    assert line.split() == ["-", "tenancy", site.url("/eviction"), "Notice", "eviction", "england"]


@pytest.mark.real_redis
def test_list_puts_the_page_that_was_updated_last_first(cli, site, monkeypatch):
    site.page("/eviction", dated("2021-05-06", EVICTION))
    site.page("/repairs", dated("2024-03-01"))
    with running_redis() as redis:
        monkeypatch.setenv("REDIS_URL", redis.url)
        cli("sources", "warm")
        site.hits.clear()
        table = cli("sources", "list").out
        listed = json.loads(cli("sources", "list", "--format", "json").out)["domains"]
    rows = [line.split() for line in table.splitlines() if "http" in line]
    assert [(row[0], row[2]) for row in rows] == [
        ("2024-03-01", site.url("/repairs")),
        ("2021-05-06", site.url("/eviction")),
    ]
    assert [one["updated"] for one in listed[0]["sources"]] == ["2024-03-01", "2021-05-06"]
    assert site.hits == {}


def test_check_shows_what_would_be_quoted(cli):
    told = cli("sources", "check")
    assert told.code == 0
    assert PARAGRAPH[:100] in told.out
    assert "…" in told.out
    assert told.err == (
        "Pages: 2 checked, 0 failed. Examples: 1 checked, 0 failed. Findings in the file: 0.\n"
        "workplace has no pages; `judge sources add ADDRESS --domain workplace` adds one.\n"
    )


@pytest.mark.real_redis
def test_check_fails_for_a_wall_and_leaves_the_last_good_text(cli, site, monkeypatch):
    with running_redis() as redis:
        monkeypatch.setenv("REDIS_URL", redis.url)
        cli("sources", "warm")
        site.page("/repairs", f"<h1>Repairs</h1><p>{'Sign in to the site to read the rest. ' * 9}")
        told = cli("sources", "check")
        with Redis.from_url(redis.url, decode_responses=True) as client:
            [kept] = [client.get(key) for key in client.keys("snippet:*repairs")]
    assert told.code == 1
    [line] = [line for line in told.out.splitlines() if line.startswith("FAILED")]
    assert site.url("/repairs") in line
    assert "not the page" in line
    assert kept == PARAGRAPH


def test_check_fails_for_a_page_that_is_gone_or_withdrawn_and_says_why(cli, site):
    meta = '<meta name="govuk:withdrawn" content="withdrawn">'
    site.page("/eviction", dated("2024-03-01").replace("<head>", f"<head>{meta}"))
    site.fail("/repairs", 404)
    told = cli("sources", "check")
    gone, withdrawn = [line for line in told.out.splitlines() if line.startswith("FAILED")][::-1]
    assert told.code == 1
    assert (site.url("/repairs") in gone, "404" in gone) == (True, True)
    assert (site.url("/eviction") in withdrawn, "withdrawn" in withdrawn) == (True, True)
    report = json.loads(cli("sources", "check", "--format", "json").out)
    assert (report["pages"][0]["reason"], report["pages"][0]["text"]) == ("withdrawn", "")


def test_check_as_json_holds_whole_texts_and_reasons(cli, site, file):
    site.robots("User-agent: *\nDisallow: /eviction\n")
    told = cli("sources", "check", "--format", "json")
    report = json.loads(told.out)
    assert told.code == 1
    assert [page["reason"] for page in report["pages"]] == ["robots", ""]
    assert report["pages"][1]["text"] == PARAGRAPH
    [example] = report["examples"]
    assert (example["domain"], example["text"], example["detected"]) == (
        "tenancy", REPAIRS, "tenancy",
    )  # fmt: skip
    assert (example["file"], example["line"]) == (file.name, 15)


def test_warm_without_redis_is_exit_2_and_says_what_to_set(cli, site):
    told = cli("sources", "warm")
    assert (told.code, told.out) == (2, "")
    assert "Set REDIS_URL" in told.err
    assert not site.hits


@pytest.mark.real_redis
def test_warm_puts_every_page_in_redis(cli, site, monkeypatch):
    with running_redis() as redis:
        monkeypatch.setenv("REDIS_URL", redis.url)
        told = cli("sources", "warm")
        site.fail("/eviction")
        again = cli("sources", "warm")
    assert (told.code, told.out) == (0, "In the cache: 2 pages; 0 failed.\n")
    assert (again.code, again.out) == (1, "In the cache: 1 page; 1 failed.\n")
    assert site.url("/eviction") in again.err


def test_a_pipe_gets_neither_colour_nor_wrapped_rows_nor_control_sequences():
    assert detect_terminal() == Terminal()
    lines = format_table(["A"], [["word " * 100], ["\x1b[31mred\x1b[0m [bold]x[/bold]"]]).split(
        "\n"
    )
    assert {"word " * 99 + "word", "red [bold]x[/bold]"} < set(lines)


def test_a_terminal_gets_colour_and_its_width(monkeypatch):
    monkeypatch.setattr(sys, "stdout", TerminalOut())
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert detect_terminal() == Terminal(width=100, table_width=120, is_styled=True)
    assert "\x1b[1m" in format_table(["A"], [["b"]])


@pytest.mark.parametrize("is_styled", [True, False])
def test_a_progress_bar_is_shown_only_on_a_styled_terminal(monkeypatch, is_styled):
    stderr = TerminalOut()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(sys, "stdout", TerminalOut() if is_styled else io.StringIO())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with progress_bar("Checking", 2) as advance:
        advance()
    assert ("Checking" in stderr.getvalue()) == is_styled
