"""`judge search` over a small book on robots, through the real index."""

import asyncio
import json
import re
import shutil
from pathlib import Path

import pytest

from judge.bootstrap.corpus import open_search
from judge.entrypoints.cli.indexing import add_documents
from judge.settings import Settings
from tests.entrypoints.command_line import CommandResult
from tests.fakes.journal import RecordingJournal

BOOK = Path(__file__).parents[1] / "fixtures" / "robotics"
LINE = "=" * 50


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    """A folder with the book and its index; no test changes it."""
    folder = tmp_path_factory.mktemp("shelf")
    shutil.copytree(BOOK, folder / "book")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("QDRANT_URL", raising=False)
        for place, collection in (("book", "default"), ("book/examples", "code")):
            adding = add_documents(
                RecordingJournal(), places=[place], collection=collection, tags=(), form="text"
            )
            assert asyncio.run(adding) == 0
    return folder


@pytest.fixture(autouse=True)
def shelf(cli, indexed, monkeypatch):
    monkeypatch.chdir(indexed)


def scores(told: CommandResult) -> list[float]:
    return [float(line.split()[-1]) for line in told.out.splitlines() if " Score: " in line]


def test_tc_001_a_basic_query_gives_five_results_with_everything(cli):
    told = cli("search", "--query", "What is ROS 2?")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith(
        f'{LINE}\nSearch Results\n{LINE}\nQuery: "What is ROS 2?"\nCollection: default\n'
        f"Results: 5\n\n{LINE}\n\n[1] Score: "
    )
    assert len(scores(told)) == 5
    assert scores(told) == sorted(scores(told), reverse=True)
    assert re.search(
        r"Source: book/module-1-ros2/ch01-intro.md:1-\d+\nChapter: module-1-ros2\n"
        "Section: Introduction to ROS 2\n",
        told.out,
    )
    assert told.out.endswith(f" unique pages\n{LINE}\n")


def test_tc_003_k_is_clamped_with_a_warning(cli):
    told = cli("search", "--query", "sensors", "--k", "15")
    assert (told.code, len(scores(told))) == (1, 8)
    assert told.err == "Warning: k must be from 3 to 8; 8 is used instead of 15.\n"
    assert len(scores(cli("search", "sensors", "-k", "1"))) == 3


def test_tc_004_an_empty_query_is_an_error(cli):
    start = f"{LINE}\nError\n{LINE}\nCode: EMPTY_QUERY\nMessage: Query cannot be empty\nDetails: "
    for typed in (["--query", ""], ["--query", "  "], [], ["@tag:x"]):
        told = cli("search", *typed)
        assert (told.code, told.out) == (2, "")
        assert told.err.startswith(start)
        assert told.err.endswith(f"\n\nExit code: 2\n{LINE}\n")


def test_tc_005_what_is_not_in_the_book_is_not_found(cli):
    told = cli("search", "--query", "quantum cooking techniques")
    assert (told.code, told.err) == (0, "")
    assert told.out == (
        f'{LINE}\nSearch Results\n{LINE}\nQuery: "quantum cooking techniques"\n'
        "Collection: default\nResults: 0\n\n"
        f"No matching content found in the knowledge base.\n{LINE}\n"
    )


def test_tc_006_json_has_all_fields(cli):
    told = cli("search", "--query", "navigation", "--format", "json")
    assert cli("search", "navigation", "--json") == told
    body = json.loads(told.out)
    assert told.code == 0
    assert list(body) == ["status", "query", "collection", "count", "chunks", "context"]
    assert list(body["chunks"][0]) == (
        "rank score source_url chapter section title chunk_index chunk_id text".split()
    )
    assert body["count"] == len(body["chunks"]) == body["context"]["chunk_count"] == 5
    assert body["chunks"][0]["title"] == "Navigation"
    assert body["context"]["total_chars"] == sum(len(c["text"]) for c in body["chunks"])
    assert set(body["context"]["sources"]) == {c["source_url"] for c in body["chunks"]}


def test_tc_007_a_server_out_of_reach_is_a_connection_error(cli, monkeypatch):
    monkeypatch.setenv("QDRANT_URL", "http://user:secret@127.0.0.1:1")
    told = cli("search", "--query", "navigation", "--format", "json")
    body = json.loads(told.out)
    assert told.code == 2
    assert body["code"] == "CONNECTION_ERROR"
    assert body["message"] == "Cannot connect to Qdrant at http://127.0.0.1:1"
    assert body["details"]
    assert "secret" not in told.out + told.err


def test_tc_007_an_invalid_server_url_is_one_too_without_its_password(cli, monkeypatch):
    monkeypatch.setenv("QDRANT_URL", "http://user:s@cret@127.0.0.1:99999")
    told = cli("search", "--query", "navigation")
    assert (told.code, "cret" in told.out + told.err) == (2, False)
    assert "Code: CONNECTION_ERROR\nMessage: Cannot connect to Qdrant at http://127" in told.err


def test_tc_008_a_missing_key_is_reported(cli, monkeypatch):
    monkeypatch.setenv("JUDGE_EMBEDDER", "cohere")
    for url in ("", "http://127.0.0.1:1"):
        monkeypatch.setenv("QDRANT_URL", url)
        told = cli("search", "--query", "navigation")
        assert told.code == 2
        assert "Code: MISSING_KEY\nMessage: JUDGE_EMBEDDER=cohere needs COHERE_API_KEY" in told.err


def test_documents_without_vectors_get_keyword_search_and_a_warning(cli, monkeypatch):
    monkeypatch.setenv("COHERE_API_KEY", "x")
    monkeypatch.setenv("JUDGE_EMBEDDER", "cohere")
    told = cli("search", "navigation")
    assert told.code == 1
    assert "Results: " in told.out
    assert "there are no vectors of embed-v4.0-1024. `judge index add` makes them." in told.err


async def test_a_key_alone_opens_no_embedder_for_the_embedded_index(tmp_path):
    keys = {"GEMINI_API_KEY": "g", "COHERE_API_KEY": "c", "JUDGE_DATA_DIR": str(tmp_path)}
    for embedder, opened in ((None, False), ("none", False), ("gemini", True), ("cohere", True)):
        settings = Settings(_env_file=None, JUDGE_EMBEDDER=embedder, **keys)
        async with open_search(settings, RecordingJournal()) as corpus:
            assert (corpus.indexer.vectors is not None) == opened


def test_k_must_be_an_integer(cli):
    for k in ("three", "3.5", "", "9" * 30 + "x"):
        told = cli("search", "sensors", "--k", k)
        assert told.code == 2
        assert "Code: INVALID_K\nMessage: K must be an integer\n" in told.err


def test_a_long_query_is_cut_with_a_warning(cli):
    told = cli("search", "navigation " * 100, "--format", "json")
    body = json.loads(told.out)
    assert told.code == 1
    assert len(body["query"]) == 1000
    assert body["warnings"] == ["The query has 1099 characters; it was cut to 1000."]
    assert "cut to 1000" in told.err


def test_options_given_twice_all_count_or_are_refused(cli):
    both = cli("search", "wheel", "-c", "code", "-c", "default")
    assert "Collection: code, default\n" in both.out
    scoped = cli("search", "wheel", "--context", "@*", "--context", "@collection:code")
    assert "Collection: code\n" in scoped.out
    for typed in (["navigation", "--query", "sensors"], ["--query", "wheel", "--query", "sensor"]):
        told = cli("search", *typed)
        assert (told.code, "Give the query once" in told.err) == (2, True)


def test_argument_of_invalid_text_is_refused(cli):
    for typed in (["\udcff boiler"], ["boiler", "-c", "\udcff"], ["x", "--context", "@tag:\udcff"]):
        told = cli("search", *typed, "--format", "json")
        assert (told.code, "no text in UTF-8" in json.loads(told.out)["message"]) == (2, True)


def test_the_default_collection_comes_from_the_environment(cli, monkeypatch):
    monkeypatch.setenv("JUDGE_COLLECTION", " code ")
    assert "Collection: code\n" in cli("search", "wheel").out


def test_the_heading_names_what_was_searched(cli):
    for typed, collection in (
        (["wheel @collection:code"], "code"),
        (["wheel", "--context", "@collection:code,default"], "code, default"),
        (["wheel", "--context", "@*"], "*"),
        (["wheel", "-c", "*"], "*"),
        *(
            (["wheel", option, "code"], "code")
            for option in ("--collection", "-c", "--store", "-s")
        ),
        (["wheel"], "default"),
        (["wheel @folder:examples"], "*"),
        (["wheel (@collection:code OR @collection:default)"], "code, default"),
        (["wheel (@collection:code OR @folder:examples)"], "*"),
        (["wheel -@collection:code"], "*"),
    ):
        assert f"Collection: {collection}\n" in cli("search", *typed).out


def test_invalid_scope_lists_the_valid_ones(cli):
    told = cli("search", "wheel @collection:cod", "--format", "json")
    assert told.code == 2
    assert json.loads(told.out) == {
        "status": "error",
        "code": "BAD_SCOPE",
        "message": "There is no collection 'cod': did you mean 'code'?",
        "details": "Valid are: code, default",
    }
    assert "Message: @foldr: did you mean @folder?" in cli("search", "x @foldr:y").err
    assert "Code: BAD_SCOPE" in cli("search", "x", "-c", " ").err


def test_scope_without_hits_gives_a_hint(cli):
    told = cli("search", "gripper @folder:module-1-ros2", "--format", "json")
    assert told.code == 0
    assert "@* has 1 passage." in json.loads(told.out)["hint"]
    assert told.err.startswith("Hint: Nothing in ")


def test_answer_option_overrides_the_format(cli):
    told = cli("search", "wheel", "-a", "--format", "json", "-c", "code")
    assert told.out.startswith(
        "Based on the indexed files, here are the relevant sections:\n\n"
        "[1] book/examples/wheels.py:"
    )
    assert "\n```python\n" in told.out
    assert told.out.endswith('---\nSources: <cite i="1"/> <cite i="2"/> <cite i="3"/>\n')


def test_an_index_that_cannot_be_read_is_an_internal_error(cli, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("JUDGE_DATA_DIR", str(tmp_path / "file"))
    told = cli("search", "wheel")
    assert (told.code, "Code: INTERNAL_ERROR" in told.err) == (2, True)


def check(cli, tmp_path, reply: str, *more: str) -> CommandResult:
    (tmp_path / "reply.md").write_text(reply)
    return cli("search", *more, "--check-answer", str(tmp_path / "reply.md"))


def test_citations_of_a_reply_are_checked_against_search_results(cli, tmp_path):
    good = check(cli, tmp_path, 'So it is <cite i="3"/>.', "wheel", "-c", "code")
    assert (good.code, good.out) == (0, "")
    assert good.err == "1 citation mark, 0 without a source.\n"
    bad = check(cli, tmp_path, 'a\nb <cite i="4"/>', "wheel", "-c", "code")
    assert (bad.code, bad.out) == (1, 'line 2: <cite i="4"/> has no source; there are 3.\n')


def test_reply_may_include_its_sources(cli, tmp_path):
    answer = cli("search", "wheel", "-a", "-c", "code").out
    assert check(cli, tmp_path, f"{answer}\n\nIt rolls <cite i='2'/>.").code == 0
    assert check(cli, tmp_path, f"{answer}\n\nIt rolls <cite i='7'/>.").code == 1


def test_the_check_of_a_reply_has_a_form_for_programs(cli, tmp_path):
    reply = 'So <cite i="3"/>,\nnot <cite i="4"/> and <cite>.'
    told = check(cli, tmp_path, reply, "wheel", "-c", "code", "-k", "2", "--json")
    body = json.loads(told.out)
    assert (told.code, body["status"], body["source_count"]) == (1, "success", 3)
    assert [(m["number"], m["line"], m["in_range"]) for m in body["marks"]] == [
        (3, 1, True),
        (4, 2, False),
        (None, 2, False),
    ]
    assert "k must be from 3 to 8" in body["warnings"][0]
    assert "warnings" not in json.loads(check(cli, tmp_path, reply, "wheel", "--json").out)


def test_a_reply_that_cannot_be_checked_has_an_error_for_programs(cli, tmp_path):
    (tmp_path / "reply.md").write_text('<cite i="1"/>')
    for file, code in (("reply.md", "EMPTY_QUERY"), ("missing.md", "INTERNAL_ERROR")):
        told = cli("search", "--check-answer", str(tmp_path / file), "--json")
        assert (told.code, json.loads(told.out)["code"], told.err) == (2, code, "")
