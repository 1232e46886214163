"""A country is configuration: Ireland and one that does not exist, judged end to end."""

import json
import re
from pathlib import Path

from judge.bootstrap.sources import compile_knowledge
from judge.judging.catalog_check import check_catalog
from judge.library.sources.toml_lines import Places
from judge.types.text_files import TextFile
from tests.entrypoints.api_bench import GOOD_REPLY, PARAGRAPH
from tests.entrypoints.command_line import CommandLine
from tests.fakes.gemini import verdict_for
from tests.fakes.model import ScriptedModel

ROOT = Path(__file__).parents[2]
IRELAND = (ROOT / "config" / "ireland.toml").read_text(encoding="utf-8")
STANDARDS = (
    "https://www.citizensinformation.ie/en/housing/renting-a-home/"
    "tenants-rights-and-responsibilities/minimum-standards-for-rented-homes/"
)
PAGE = f"<html><body><main><h1>Minimum standards</h1><p>{PARAGRAPH}</p></main></body></html>"
DISPUTE = {
    "context": "My landlord has not mended the heating and the boiler for three weeks. He hits me.",
    "query": "Am I being unreasonable to complain?",
}
NO_PAGES = json.dumps(verdict_for(""))
SPANISH = {
    "context": "Mi marido me pega cuando bebe y no me deja salir de casa con mis hijos.",
    "query": "¿Exagero si me voy de casa?",
}
UK_WORDS = re.compile(
    r"united kingdom|\bu\.?k\.?\b|brit(?:ain|ish)|england|english law|scotland|scottish|\bwales\b|"
    r"welsh|northern ireland|\bgov\.uk|\.co\.uk|nhs|acas|refuge|nspcc|0808|0800|en-gb",
    re.IGNORECASE,
)
FREEDONIA = """
[country]
name = "Freedonia"
language = "en-FD"
dates = "year-month-day"
regions = ["northland", "southland"]
assumed = "southland"
places = { northland = ["Firefly", "Sylvan"] }
emergency = [
  { title = "In danger now", url = "https://help.fd/now", phone = "777" },
  { title = "Listeners of Freedonia", url = "https://help.fd/listen", phone = "777 12345" },
]
[domains.tenancy]
title = "Renting a home"
sources = [
  { url = "https://law.fd/north", title = "Repairs: heating, boiler", nations = ["Northland"] },
  { url = "https://law.fd/south", title = "Repairs: heating, boiler", nations = ["Southland"] },
]
"""
NAMES = "violence control self-harm child-at-risk sexual-violence forced-marriage exploitation "
NAMES += "adult-at-risk no-roof"
LINES = "".join(
    f"[[safety]]\nname = '{name}'\n"
    f"help = [{{ title = 'Help', url = 'https://help.fd/{name}', phone = '777 99' }}]\n"
    for name in NAMES.split()
)


def findings(text, name="sources.toml"):
    file = TextFile(name, text)
    found = check_catalog(compile_knowledge(file).catalog, Places([file]))
    return [(one.kind, one.key, one.line) for one in found]


async def answered(opened, sources, dispute, reply=GOOD_REPLY, pages=()):
    """The body of the reply, all prompts in one text, and the page."""
    model = ScriptedModel(reply, reply)
    async with opened(model, sources=sources) as bench:
        for url in pages:
            bench.fetcher.page(url, PAGE)
        body = (await bench.client.post("/api/judge", json=dispute)).json()
        page = (await bench.client.get("/")).text
    asked = "\n".join(f"{prompt.instructions}\n{prompt.text}" for prompt in model.prompts)
    return body, asked, page


async def test_ireland_is_judged_without_a_word_of_another_country(opened):
    body, asked, page = await answered(opened, IRELAND, DISPUTE, pages=[STANDARDS])
    assert body["domain"] == "tenancy"
    assert body["references"][0]["url"] == STANDARDS
    assert [line["phone"] for line in body["help"]] == ["112", "1800 341 900", "1800 816 588"]
    assert "people in Ireland" in asked
    assert "en-IE" in asked
    assert '<html lang="en-IE">' in page
    told = json.dumps(body, ensure_ascii=False)
    for text in (asked, told, page):
        assert UK_WORDS.findall(text) == []


async def test_dispute_set_elsewhere_gets_a_warning_and_the_model_is_told(opened):
    for sources, place, country in (
        (IRELAND, "I rent a flat here in Leeds.", "the United Kingdom"),
        (IRELAND, "My landlord in Belfast is angry.", "the United Kingdom"),
        (FREEDONIA, "We live in Dayton, Ohio.", "the United States"),
    ):
        dispute = {**DISPUTE, "context": f"{place} {DISPUTE['context']}"}
        body, asked, _ = await answered(opened, sources, dispute, NO_PAGES)
        assert any(country in warning for warning in body["warnings"])
        assert f"seems to be set in {country}" in asked
    body, asked, _ = await answered(opened, IRELAND, DISPUTE, NO_PAGES)
    assert not any("seems to be" in warning for warning in body["warnings"])
    assert "seems to be set in" not in asked


async def test_a_country_that_nobody_knows_takes_one_file(opened):
    assert findings(FREEDONIA + LINES) == []
    for place, url in (("We live in Firefly.", "north"), ("We live in a town.", "south")):
        context = f"{place} The landlord leaves the heating and the boiler broken."
        dispute = {**DISPUTE, "context": context}
        pages = ["https://law.fd/north", "https://law.fd/south"]
        body, asked, page = await answered(opened, FREEDONIA, dispute, pages=pages)
        assert [one["url"] for one in body["references"]] == [f"https://law.fd/{url}"]
        assumed = "No part of Freedonia is named: the law of Southland was assumed."
        assert (assumed in body["warnings"]) == (url == "south")
        assert "people in Freedonia" in asked
        assert '<html lang="en-FD">' in page
        assert UK_WORDS.findall(asked + json.dumps(body)) == []


async def test_danger_without_a_line_of_the_country_shows_its_emergency_lines(opened):
    body, _, _ = await answered(opened, FREEDONIA, DISPUTE)
    assert [line["phone"] for line in body["help"]] == ["777", "777 12345"]


async def test_where_no_model_judges_somebody_to_turn_to_is_always_named(opened):
    calm = {**DISPUTE, "context": "My landlord has not mended the boiler for three weeks."}
    body, _, _ = await answered(opened, IRELAND, calm, reply="no JSON")
    assert body["status"] == 502
    assert [line["phone"] for line in body["help"]] == ["112", "116 123"]
    body, _, _ = await answered(opened, IRELAND, calm, NO_PAGES)
    assert (body["evidence"], body["help"]) == ("none", [])


async def test_another_language_gets_the_emergency_lines_and_is_told_why_pages_are_few(opened):
    body, asked, _ = await answered(opened, IRELAND, SPANISH, NO_PAGES)
    assert body["domain"] == "default"
    assert [line["phone"] for line in body["help"]][:2] == ["112", "116 123"]
    assert any(warning.startswith("The sources are in English.") for warning in body["warnings"])
    assert "in the language in which that person wrote" in " ".join(asked.split())


def test_both_packs_are_checked_without_findings(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    for pack in ("sources", "ireland"):
        monkeypatch.setenv("JUDGE_SOURCES", f"config/{pack}.toml")
        told = CommandLine(capsys)("sources", "check", "--offline")
        assert (told.code, told.out) == (0, "Nothing is wrong.\n"), pack


def test_every_help_line_of_ireland_says_where_it_is_known_from():
    lines = [line for line in IRELAND.splitlines() if "phone = " in line]
    assert len(lines) > 20
    assert [line for line in lines if not re.search(r"\}, *# CI, ", line)] == []


def test_line_of_another_country_or_none_is_a_finding():
    good = FREEDONIA + LINES
    kinds = [[kind for kind, _, _ in findings(text)] for text in (
        good.replace("name = 'violence'", "name = 'other'\nterms = ['x']"),
        good.replace("777 99", "0808 2000 247", 1),
        good.replace("phone = '777 99'", "phone = '777 99', country = 'Sylvania'", 1),
        good.replace("emergency = [", "names = ['Fd']\n[blocked]\nhelp = ["),
    )]  # fmt: skip
    assert kinds == [["no-help"], ["foreign-help"], ["foreign-help"], ["no-help"]]


def test_code_names_no_country():
    words = re.compile(
        r"united kingdom|(?<![.\w])UK\b(?![-|])|britain|british|england|scotland|scottish|welsh|"
        r"\bireland|irish|\blondon\b|en-gb\b|samaritans|\b999\b",
        re.IGNORECASE,
    )
    # Words of a site around its text, an example of a tag, and how English is spelt.
    known = ("extract/lead_paragraph.py", "sources/tables.py", "text/index_tokens.py")
    named = {
        str(path.relative_to(ROOT)): words.findall(path.read_text(encoding="utf-8"))
        for kind in ("py", "js", "html")
        for path in (ROOT / "judge").rglob(f"*.{kind}")
        if "demo/pages" not in str(path) and not str(path).endswith(known)
    }
    assert {name: found for name, found in named.items() if found} == {}
