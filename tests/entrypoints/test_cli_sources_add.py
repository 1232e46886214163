"""`judge sources add` proposes a page and writes it only after confirmation."""

import io
import sys
import tomllib

import pytest

from tests.fakes.site import FakeSite

LEAD = "Your landlord has to keep the boiler in working order and start repairs in reasonable time."
PAGE = f"""<html><head><title>Repairs - Example</title>
<meta property="article:modified_time" content="2025-03-04T10:00:00Z"></head><body><main>
<h1>Who repairs a rented home</h1><p>{LEAD}</p>
<h2>Heating and hot water</h2><p>The heating must work in every room of the home all winter.</p>
<h2>When heating fails</h2><p>Tell the agent in writing that the heating has failed again.</p>
</main></body></html>"""


@pytest.fixture
def site():
    with FakeSite() as site:
        site.page("/repairs", PAGE)
        yield site


@pytest.fixture(autouse=True)
def file(cli, monkeypatch, tmp_path, site):
    monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", site.host)
    path = tmp_path / "sources.toml"
    path.write_text(f"""# ours
vocabulary = false
[domains.tenancy]
terms = {{ landlord = 3, boiler = 2 }}
sources = [
  {{ url = "{site.url("/old")}", title = "Old (Example)" }},  # seen
]
[domains.workplace]
terms = {{ grievance = 3 }}
""")
    return path


def test_the_page_is_shown_and_written_as_one_line(cli, site, file):
    before = file.read_text().splitlines()
    told = cli("sources", "add", site.url("/repairs"), "--yes")
    after = file.read_text().splitlines()
    assert told.code == 0
    [row] = [line for line in after if line not in before]
    assert [line for line in after if line != row] == before
    [source] = tomllib.loads(f"s = [{row}]")["s"]
    assert source["title"] == "Who repairs a rented home"
    assert source["url"] == site.url("/repairs")
    assert "heating" in source["topics"]
    assert after.index(row) == 6
    assert LEAD in " ".join(told.out.split())
    assert "2025-03-04" in told.out
    assert "tenancy (sources.toml)" in told.out
    assert cli("sources", "check", "--offline").code == 0


def test_a_file_with_a_byte_order_mark_keeps_it(cli, site, file):
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert cli("sources", "add", site.url("/repairs"), "--yes").code == 0
    assert file.read_bytes().startswith(b"\xef\xbb\xbf# ours")
    assert cli("sources", "check", "--offline").code == 0


def test_nothing_is_written_without_confirmation(cli, site, file, monkeypatch):
    before = file.read_bytes()
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    told = cli("sources", "add", site.url("/repairs"))
    assert (told.code, file.read_bytes()) == (1, before)
    assert "Nothing was written." in told.err


def test_file_permissions_and_symlink_are_kept(cli, site, file, tmp_path):
    real = tmp_path / "real.toml"
    file.rename(real)
    real.chmod(0o640)
    file.symlink_to(real)
    assert cli("sources", "add", site.url("/repairs"), "--yes").code == 0
    assert file.is_symlink()
    assert site.url("/repairs") in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    assert {path.name for path in tmp_path.iterdir()} == {"real.toml", "sources.toml"}


def test_an_included_domain_is_written_into_its_own_file(cli, site, file, tmp_path):
    file.write_text('include = ["pets.toml"]\n' + file.read_text())
    pets = tmp_path / "pets.toml"
    pets.write_text("[domains.pets]\nterms = { dog = 3 }\n")
    before = file.read_bytes()
    assert cli("sources", "add", site.url("/repairs"), "--domain", "pets", "--yes").code == 0
    assert file.read_bytes() == before
    assert site.url("/repairs") in pets.read_text()


def test_a_page_that_must_not_be_quoted_is_refused(cli, site, file):
    site.fail("/gone", 404)
    site.page("/empty", "<html><body><main><h1>Nothing</h1></main></body></html>")
    site.page(
        "/withdrawn", PAGE.replace("<head>", '<head><meta name="govuk:withdrawn" content="1">')
    )
    before = file.read_bytes()
    for url, told in (
        (site.url("/old"), "stands in domains.tenancy already"),
        (site.url("/old/"), "stands in domains.tenancy already"),
        (site.url("/withdrawn"), "withdrawn"),
        (site.url("/gone"), "404"),
        (site.url("/empty"), "No paragraph"),
        ("http://example.org/a", "Give its https address"),
        ("example.org/a", "must be http or https"),
    ):
        refused = cli("sources", "add", url, "--yes")
        assert (refused.code, refused.out, file.read_bytes()) == (2, "", before)
        assert told in refused.err


def test_page_without_a_matching_domain_needs_the_option(cli, site):
    site.page("/moon", f"<main><h1>Moon</h1><p>{'The moon is full and bright tonight. ' * 5}</p>")
    refused = cli("sources", "add", site.url("/moon"), "--yes")
    assert refused.code == 2
    assert "--domain: tenancy, workplace" in refused.err
