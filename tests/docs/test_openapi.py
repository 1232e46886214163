"""The page about the HTTP API is up to date, and every reply in tests is checked against it."""

import json
import runpy
from pathlib import Path

import httpx
import pytest

from judge.entrypoints.api.app import cors_config
from tests.entrypoints.api_bench import DISPUTE, open_bench
from tests.entrypoints.conformance import NotAsDocumented, check_conformance, document
from tests.fakes.model import ScriptedModel

ROOT = Path(__file__).parents[2]
GENERATOR = runpy.run_path(str(ROOT / "scripts" / "generate_api_docs.py"))


def test_page_is_up_to_date():
    assert (ROOT / "docs" / "api.md").read_text() == GENERATOR["render"](), "run `make docs`"


def test_the_page_shows_a_whole_reply_as_it_is_sent():
    page = GENERATOR["render"]()
    shown = json.loads(page.partition("A whole reply:\n\n```json\n")[2].partition("```")[0])
    schema = document()["components"]["schemas"]["JudgeResult"]
    assert shown.keys() == schema["properties"].keys()
    reply = httpx.Response(200, json=shown, request=httpx.Request("POST", "http://x/api/judge"))
    check_conformance(reply)
    [first, *_] = shown["citations"]
    assert shown[first["field"]][first["start"] : first["end"]] == f"[{first['number']}]"


def test_page_documents_cors():
    page = GENERATOR["render"]().lower()
    cors = cors_config(["https://app.example"])
    assert cors
    names = [*cors.allow_methods, *cors.allow_headers, *cors.expose_headers]
    assert [n for n in names if f"`{n.lower()}`" not in page and "mcp" not in n] == []


def test_protected_operations_document_401_and_429():
    for path, item in document()["paths"].items():
        for operation in item.values():
            if path.startswith("/api/"):
                assert {"400", "401", "429", "500"} <= operation["responses"].keys()


JUDGEMENT = (
    "JudgeRequest JudgeResult PersonaVerdict Reference Citation DomainScore HelpLine Excerpt Usage "
    "Timings Versions ProblemDetails"
)


def test_every_field_of_a_judgement_is_explained():
    for name in JUDGEMENT.split():
        schema = document()["components"]["schemas"][name]
        assert schema["description"]
        assert [f for f, one in schema["properties"].items() if "description" not in one] == []


async def test_every_reply_in_the_tests_is_checked(tmp_path):
    async with open_bench(tmp_path / "sources.toml", ScriptedModel()) as bench:
        assert (await bench.client.post("/api/judge", json=DISPUTE)).status_code == 503
        del document()["paths"]["/api/judge"]["post"]["responses"]["503"]
        try:
            with pytest.raises(NotAsDocumented, match="answers 503"):
                await bench.client.post("/api/judge", json=DISPUTE)
        finally:
            document.cache_clear()
