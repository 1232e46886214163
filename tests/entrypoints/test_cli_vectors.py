"""`judge` with embedders: Gemini's SDK against a server on loopback, and static models."""

import json

import pytest

from tests.fakes.embedding_server import EmbeddingServer
from tests.fakes.static_model import make_model


@pytest.fixture
def server():
    with EmbeddingServer() as server:
        yield server


@pytest.fixture(autouse=True)
def docs(cli, monkeypatch, tmp_path, server):
    monkeypatch.setenv("JUDGE_EMBEDDER", "gemini")
    monkeypatch.setenv("GEMINI_API_KEY", "key")
    monkeypatch.setenv("JUDGE_GEMINI_BASE_URL", server.url)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "harbour.md").write_text("# Harbour\n\nThe ferry leaves at noon.\n")
    (tmp_path / "docs" / "kitchen.md").write_text("# Kitchen\n\nFlour and water make a loaf.\n")


def stats(cli):
    return json.loads(cli("index", "stats", "--format", "json").out)["vectors"]


def test_added_documents_are_embedded_and_found_by_vectors(cli, server):
    told = cli("index", "add", "docs")
    assert (told.code, told.err) == (0, "")
    assert len(server.texts) == 2

    told = cli("search", "boat", "-a")
    assert told.code == 0
    assert "[1] docs/harbour.md:" in told.out
    assert "kitchen" not in told.out
    assert stats(cli) == {"embedder": "gemini-embedding-001-768", "missing": 0}
    assert "0 passages without a vector of gemini-embedding-001-768." in cli("index", "stats").err


def test_search_without_the_embedder_says_that_only_words_were_searched(cli, monkeypatch):
    cli("index", "add", "docs")
    monkeypatch.delenv("JUDGE_EMBEDDER")
    monkeypatch.delenv("GEMINI_API_KEY")
    told = cli("search", "ferry")
    assert (told.code, "Results: 1" in told.out) == (1, True)
    assert "the index has vectors of gemini-embedding-001-768, and JUDGE_EMBEDDER" in told.err


def test_same_command_computes_only_missing_vectors(cli, server):
    server.is_down = True
    told = cli("index", "add", "docs")
    assert told.code == 1
    assert told.out.startswith("2 added")
    assert told.err == (
        "vectors: 2 missing. Gemini made no vectors (status 400). The same command makes them.\n"
    )
    assert stats(cli)["missing"] == 2

    server.is_down = False
    told = cli("index", "add", "docs")
    assert (told.code, told.err) == (0, "")
    assert "2 unchanged" in told.out
    assert len(server.texts) == 2
    assert "Results: 1" in cli("search", "boat").out

    server.texts.clear()
    cli("index", "add", "docs")
    assert server.texts == []


def test_doctor_reports_missing_vectors(cli, monkeypatch, server):
    server.is_down = True
    cli("index", "add", "docs")
    told = cli("doctor")
    assert "vectors: Run `judge index add` on your documents; it makes them." in told.out

    server.is_down = False
    cli("index", "add", "docs")
    assert "0 missing of gemini-embedding-001-768" in cli("doctor").out

    monkeypatch.setenv("JUDGE_EMBEDDER", "word2vec")
    assert "vectors: Mend that, or set JUDGE_EMBEDDER=none." in cli("doctor").out
    for name, value in (("JUDGE_EMBEDDER", "none"), ("QDRANT_URL", "http://127.0.0.1:1")):
        monkeypatch.setenv(name, value)
        assert "vectors" not in cli("doctor").out


def test_static_model_searches_by_vectors_without_a_key(cli, monkeypatch, tmp_path):
    folder = make_model(tmp_path / "tiny")
    monkeypatch.delenv("GEMINI_API_KEY")
    monkeypatch.setenv("JUDGE_EMBEDDER", f"static:{folder}")
    assert cli("index", "add", "docs").err == ""
    assert "with a key" not in cli("doctor").out.partition("vectors ")[2]

    told = cli("search", "boat", "-a")
    assert (told.code, "[1] docs/harbour.md:" in told.out) == (0, True)
    assert "kitchen" not in told.out
