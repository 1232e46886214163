"""`judge sources try` scores labelled disputes."""

import json

import pytest

from tests.fakes.site import FakeSite

TENANCY = {"context": "My landlord kept it", "query": "Is that fair?", "domain": "tenancy"}
PUBS = {"context": "The beer was warm", "query": "Is that fair?", "domain": "pubs"}
WRONG = {"context": "The landlord sold beer-mats", "query": "Fair?", "domain": "pubs"}
NONE = {"context": "The moon is full", "query": "Is that fair?", "domain": "default", "id": 7}


@pytest.fixture
def site():
    with FakeSite() as site:
        for path in ("repairs", "deposits"):
            text = f"Your landlord has to look after {path} and to answer what you write of {path}."
            site.page(f"/{path}", f"<main><h1>About {path}</h1><p>{text}</p></main>")
        yield site


@pytest.fixture(autouse=True)
def file(cli, monkeypatch, tmp_path, site):
    monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", site.host)
    (tmp_path / "sources.toml").write_text(f"""
vocabulary = false
[retrieval]
references = 4
[domains.tenancy]
terms = {{ landlord = 3 }}
sources = [
  {{ url = "{site.url("/repairs")}", title = "A" }},
  {{ url = "{site.url("/deposits")}", title = "B" }},
]
[domains.pubs]
terms = {{ beer = 3 }}
""")


@pytest.fixture
def disputes(tmp_path):
    def write(*rows):
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (tmp_path / "disputes.jsonl").write_text("\n".join(lines) + "\n")
        return "disputes.jsonl"

    return write


def test_precision_recall_and_confusions_of_each_domain(cli, disputes):
    told = cli("sources", "try", disputes(TENANCY, PUBS, "", NONE, PUBS | {"context": "Landlord"}))
    assert told.code == 0
    rows = [line.split() for line in told.out.splitlines()]
    assert ["tenancy", "1", "0.5", "1", "0.667"] in rows
    assert ["pubs", "2", "1", "0.5", "0.667"] in rows
    assert ["default", "1", "1", "1", "1"] in rows
    assert ["pubs", "tenancy", "5"] in rows
    assert "accuracy: 0.75" in told.out


def test_pages_are_read_and_found_by_what_they_say(cli, disputes, site):
    row = TENANCY | {"context": "My landlord did no repairs", "pages": [site.url("/repairs")]}
    other = TENANCY | {"pages": [site.url("/repairs"), "https://example.org/unknown"]}
    file = disputes(row, other)
    told = cli("sources", "try", file, "--json")
    pages = json.loads(told.out)["pages"]
    assert (pages["disputes"], pages["limit"]) == (2, 4)
    assert 0.5 <= pages["hit_at_2"] <= 1
    assert pages["recall"] <= 0.75
    assert site.hits["/repairs"] == 1
    assert "1 of the labelled pages are not in the sources" in told.err
    cli("sources", "try", file, "--offline")
    assert site.hits["/repairs"] == 1


def test_a_line_that_cannot_be_used_is_named(cli, disputes):
    for row, told in (
        ("{", "line 2: is not valid JSON"),
        ("[1]", "line 2: must be a JSON object"),
        ({"text": "A", "domain": "tenancy"}, "line 2: has neither context nor query"),
        ({"context": "A", "query": "B"}, "line 2: domain"),
        (TENANCY | {"domain": "pets"}, "line 2: domain: there is no domain 'pets'"),
        (TENANCY | {"pages": "https://example.org/"}, "line 2: pages"),
    ):
        refused = cli("sources", "try", disputes(TENANCY, row))
        assert (refused.code, refused.out) == (2, "")
        assert told in refused.err
        assert "landlord" not in refused.err


def test_other_line_endings_are_read_and_invalid_text_is_named(cli, tmp_path):
    row = json.dumps(TENANCY | {"context": "My landlord\u2028kept it"}, ensure_ascii=False)
    (tmp_path / "odd.jsonl").write_bytes(b"\xef\xbb\xbf" + f"{row}\r\n\r\n{row}".encode())
    assert json.loads(cli("sources", "try", "odd.jsonl", "--json").out)["disputes"] == 2
    (tmp_path / "odd.jsonl").write_bytes(row.encode() + b'\n{"context": "caf\xe9"}\n')
    refused = cli("sources", "try", "odd.jsonl")
    assert (refused.code, refused.out) == (2, "")
    assert "odd.jsonl, line 2: is not valid JSON" in refused.err
