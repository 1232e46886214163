"""`judge sources check --offline` finds what is wrong in a sources file, by file, line and key."""

import json

import pytest

FILE = """\
[retrieval]
ttl_hours = 24
[domains.tenancy]
title = "Renting a home"
terms = { landlord = 3, "letting agent" = 3 }
sources = [
  { url = "https://example.org/a", title = "A", topics = ["rent"], nations = ["england"] },
  { url = "https://example.org/b", title = "B" },
]
examples = [{ text = "The landlord kept it" }]
not_examples = [{ text = "A pub in Leeds" }]
[domains.pubs]
terms = { beer = 3 }
[[personas]]
name = "Judge"
brief = "Weigh it."
[[safety]]
terms = ["hits me"]
patterns = ['\\bhit me\\b']
"""


@pytest.fixture(autouse=True)
def file(cli, tmp_path):
    path = tmp_path / "sources.toml"
    path.write_text(f"vocabulary = false\n{FILE}")
    return path


def report(cli):
    return json.loads(cli("sources", "check", "--offline", "--json").out)


def test_a_good_file_is_exit_0(cli):
    told = cli("sources", "check", "--offline")
    assert (told.code, told.out) == (0, "Nothing is wrong.\n")


def test_a_domain_without_pages_is_named_with_what_adds_one(cli):
    assert "`judge sources add ADDRESS --domain pubs`" in cli("sources", "check", "--offline").err
    alone = cli("sources", "check", "--offline", "--domain", "tenancy")
    assert "no pages" not in alone.err


BROKEN = [
    ('nations = ["england"] },', 'nations = ["england" },', 8, "Unclosed array"),
    ('title = "Renting', 'titel = "Renting', 5, "did you mean title?"),
    ("https://example.org/b", "https://example.org/a", 9, "remove one"),
    ('title = "B"', 'title = "B", selector = "p["', 9, "CSS selector"),
    ("hit me", "(hit)+ me", 20, "{1,9}"),
    ("vocabulary", 'include = ["x/*.toml"]\nvocabulary', 1, "no other file"),
    ("vocabulary", 'include = ["*.toml"]\nvocabulary', 1, "no other file"),
]


def test_a_broken_file_is_exit_2_with_file_line_and_fix(cli, file):
    good = file.read_text()
    for old, new, line, fix in BROKEN:
        assert good.count(old) == 1
        file.write_text(good.replace(old, new))
        told = cli("sources", "check", "--offline")
        assert (told.code, told.out) == (2, "")
        assert f"sources.toml, line {line}" in told.err
        assert fix in told.err


TWICE = 'sources = [{ url = "https://example.org/a", title = "A" }]'


def test_suspicious_entry_is_exit_1_with_file_and_line(cli, file):
    good = file.read_text()
    for old, new, kind, line in (
        ("beer = 3 }", f"beer = 3 }}\n{TWICE}", "duplicate-page", 15),
        ("https://example.org/b", "http://b.org/", "plain-http", 9),
        ("terms = { beer = 3 }\n", "", "no-words", 13),
    ):
        file.write_text(good.replace(old, new))
        [found] = report(cli)["findings"]
        assert (found["kind"], found["file"], found["line"]) == (kind, "sources.toml", line)
        told = cli("sources", "check", "--offline")
        assert (told.code, f"sources.toml:{line}" in told.out) == (1, True)


def test_what_a_file_of_the_package_lacks_is_found_without_a_line(cli, file):
    anywhere = (
        file.read_text().replace(', nations = ["england"]', "").replace("vocabulary = false", "")
    )
    file.write_text(anywhere + '\n[country]\nname = "Malta"\n')
    told = cli("sources", "check", "--offline")
    assert told.code == 1
    assert "no help line of Malta" in " ".join(told.out.split())
    assert "safety.toml" in told.out
    assert "safety.toml:" not in told.out


def test_misplaced_example_and_counterexample_are_found(cli, file):
    text = file.read_text().replace("The landlord kept it", "The beer was warm")
    file.write_text(text.replace("A pub in Leeds", "A landlord in Leeds"))
    told = cli("sources", "check", "--offline")
    assert told.code == 1
    assert "sources.toml:11" in told.out
    assert "example of tenancy gets pubs" in told.out
    assert "sources.toml:12" in told.out
    assert "counter-example of tenancy gets tenancy" in told.out


def test_example_must_match_as_a_question_alone(cli, file):
    file.write_text(file.read_text().replace("landlord = 3", "landlord = 1.5"))
    told = [(example["detected"], example["read_as"]) for example in report(cli)["examples"]]
    assert told == [("default", "story"), ("default", "story")]
    file.write_text(file.read_text().replace("A pub in Leeds", "My landlord in Leeds"))
    assert report(cli)["examples"][1]["read_as"] == "question"


def test_one_domain_can_be_checked_alone(cli, file):
    file.write_text(file.read_text().replace("https://example.org/b", "http://b.org/"))
    assert cli("sources", "check", "--offline", "--domain", "pubs").code == 0
    assert cli("sources", "check", "--offline", "--domain", "tenancy").code == 1
    assert cli("sources", "check", "--offline", "--domain", "pub").code == 2
