"""`judge sources show` prints the effective sources, with the file and line of each entry."""

import json

import pytest


@pytest.fixture(autouse=True)
def files(cli, tmp_path):
    (tmp_path / "sources.toml").write_text("""include = ["more/*.toml"]
retrieval = { ttl_hours = 12 }
[domains.tenancy]
terms = { "damp and mould" = 1, gazumping = 2 }
patterns = [{ regex = 'room \\d', weight = 1 }]
sources = [
  { url = "https://example.org/a", title = "A", topics = ["rent"], nations = ["wales"] },
]
help = [{ title = "Shelter", url = "https://example.org/shelter" }]
examples = [{ text = "The landlord took my deposit" }]
not_examples = [{ text = "A pub landlord" }]
[[safety]]
name = "self-harm"
terms = ["feel like vanishing"]
[[personas]]
name = "Judge"
brief = "You weigh both sides. Be brief."
""")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "pets.toml").write_text("\n[domains.pets.terms]\ndog = 3\n")


def shown(cli, *arguments):
    told = cli("sources", "show", *arguments, "--json")
    assert told.code == 0
    return json.loads(told.out)


def test_terms_come_from_the_file_and_from_the_package(cli):
    found = {term["text"]: term for term in shown(cli, "--domain", "tenancy")["terms"]}
    assert found["gazumping"]["place"] == {"file": "sources.toml", "line": 4}
    assert found["damp and mould"]["weight"] == 1
    assert found["damp and mould"]["overruled"] > 1
    package = found["deposit protection scheme"]["place"]
    assert package["file"] == "judge/vocabulary/domains/tenancy.toml"
    assert package["line"] > 10


def test_settings_have_their_line_or_are_built_in(cli):
    retrieval = {item["key"]: item for item in shown(cli)["retrieval"]}
    assert retrieval["ttl_hours"]["place"] == {"file": "sources.toml", "line": 2}
    assert retrieval["references"]["place"]["file"] == "built in"


def test_a_rule_of_care_that_is_extended_names_both_files(cli):
    rules = {rule["name"]: rule["files"] for rule in shown(cli)["safety"]}
    assert rules["self-harm"] == ["judge/vocabulary/safety.toml", "sources.toml"]
    assert rules["violence"] == ["judge/vocabulary/safety.toml"]


def test_the_text_has_all_parts(cli):
    whole = cli("sources", "show").out
    for part in ("pets", "self-harm", "ttl_hours", "Judge", "built in", "sources.toml:15"):
        assert part in whole
    one = cli("sources", "show", "--domain", "tenancy").out
    for part in (
        "gazumping", r"room \d", "https://example.org/a", "wales", "Shelter",
        "The landlord took my deposit", "A pub landlord", "sources.toml:11",
    ):  # fmt: skip
        assert part in one


def test_unknown_domain_is_refused_with_the_known_ones(cli):
    told = cli("sources", "show", "--domain", "pests")
    assert (told.code, told.out) == (2, "")
    assert "tenancy, pets" in told.err
