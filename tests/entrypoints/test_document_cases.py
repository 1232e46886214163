"""The cases of real files in ../shared: each is found, told apart or named as its line says."""

import json
import shutil
from pathlib import Path

import pytest

from tests.entrypoints.command_line import CommandLine

CASES = Path(__file__).parents[3] / "shared" / "cases" / "documents"
EXPECTED = CASES / "expected.jsonl"
LINES = (
    [json.loads(line) for line in EXPECTED.read_text().splitlines()] if EXPECTED.exists() else []
)

pytestmark = pytest.mark.skipif(not LINES, reason="the cases are not on this machine")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("cases")
    shutil.copytree(CASES / "files", folder / "files")
    return folder / "files"


class Shelf(CommandLine):
    """The commands, in the folder of the files."""

    added = ""

    def chunks(self, query: str, k: int = 8) -> tuple[int, list[dict]]:
        told = self("search", query, "-c", "half", "-k", str(k), "--format", "json")
        return told.code, json.loads(told.out).get("chunks", [])


_added: dict[Path, str] = {}


@pytest.fixture
def cli(shelf, monkeypatch, capsys) -> Shelf:
    monkeypatch.chdir(shelf)
    for key in ("JUDGE_COLLECTION", "JUDGE_EMBEDDER", "QDRANT_URL", "JUDGE_DATA_DIR"):
        monkeypatch.delenv(key, raising=False)
    commands = Shelf(capsys)
    if shelf not in _added:
        told = commands("index", "add", ".", "-c", "half")
        assert told.code in (0, 1)
        _added[shelf] = told.err
    commands.added = _added[shelf]
    return commands


def of_kind(kind: str) -> list:
    return [pytest.param(case, id=case["name"]) for case in LINES if case["kind"] == kind]


@pytest.mark.parametrize("case", of_kind("scope"))
def test_scope_finds_what_it_should(cli, case):
    code, chunks = cli.chunks(case["q"])
    if case.get("or") == "refused" and code == 2:
        return
    found = {chunk["source_url"] for chunk in chunks}
    assert set(case["finds"]) <= found
    assert not set(case["never"]) & found


@pytest.mark.parametrize("case", of_kind("find"))
def test_file_is_found_by_its_words(cli, case):
    named = [line for line in cli.added.splitlines() if Path(case["file"]).name in line]
    if case.get("or") == "named" and named:
        return
    for word in case.get("names", ()):
        assert any(word in line for line in named), named
    for query in case.get("none", ()):
        assert case["file"] not in [c["source_url"] for c in cli.chunks(query)[1]], query
    texts = []
    for query in case.get("qs", ()):
        found = [c for c in cli.chunks(query)[1] if c["source_url"] == case["file"]]
        assert found, query
        texts += [chunk["text"] for chunk in found]
        for name in ("title", "section"):
            assert found[0][name] == case.get(name, found[0][name])
        if case.get("chapter_differs"):
            assert found[0]["chapter"] != found[0]["section"]
    if case.get("no_blob"):
        assert all(len(word) < 100 for text in texts for word in text.split())
    whole = "\n".join(texts)
    assert all(part in whole for part in case.get("text", ()))
    assert not [part for part in case.get("not", ()) if part in whole]


@pytest.mark.parametrize("case", of_kind("rows"))
def test_passages_are_whole_rows(cli, shelf, case):
    lines = (shelf / case["file"]).read_text().splitlines()
    chunks = [c for c in cli.chunks(case["q"])[1] if c["source_url"] == case["file"]]
    assert chunks
    for chunk in chunks:
        rows = chunk["text"].splitlines()
        assert set(rows) <= set(lines)
        assert "header" not in case or rows[0] == case["header"]


def test_lines_stand_beside_the_path_in_the_text(cli):
    assert "sections/allotment.md:5-" in cli("search", "turquoise", "-c", "half").out
