"""`judge code …`: its output, errors and exit codes."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from click import UsageError
from click.testing import CliRunner

from judge.entrypoints.cli.main import judge
from judge.entrypoints.cli.options import CommandContext

FILES = {
    "module_a.py": "def target_symbol():\n    return 1\n\n\nclass A:\n    def m(self): ...\n",
    "module_b.py": (
        "from module_a import target_symbol\n\n\ndef use(x):\n    x.m()\n"
        "    return target_symbol()\n\n\nclass B:\n    def m(self): ...\n"
    ),
}


@pytest.fixture
def empty(tmp_path) -> Path:
    """A repository without a graph."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def root(empty) -> Path:
    """A repository with its graph."""
    ask("build-graph", "-r", empty)
    return empty


def ask(*arguments: object):
    """The exit code, stdout and stderr of `judge code ARGUMENTS`."""
    words = ["code", *map(str, arguments)]
    result = CliRunner().invoke(
        judge, words, obj=CommandContext(print, print), standalone_mode=False
    )
    if result.exception is not None:
        raise result.exception
    return result.return_value, result.stdout, result.stderr


def test_build_graph_reports_what_it_did(empty):
    root = empty
    status, out, err = ask("build-graph", "--repo", root)

    report = json.loads(out)
    assert (status, err) == (0, "")
    assert (report["status"], report["files"], report["linked"]) == ("ok", 2, 2)
    assert report["graph"] == str(root / ".judge" / "rag_graph.json")
    assert (root / ".judge" / "rag_graph.json").exists()


def test_where_used_prints_json_unless_asked_otherwise(root):
    status, out, _ = ask("where-used", "-r", root, "-s", "target_symbol")

    result = json.loads(out)
    assert status == 0
    assert set(result) >= {"symbol", "items", "truncated", "source", "freshness_state"}
    assert set(result["items"][0]) >= {"file", "line", "kind", "confidence", "snippet"}
    assert result["items"][1]["file"] == "module_b.py"
    assert out == f"{json.dumps(result, separators=(',', ':'))}\n", "compact for a program"


def test_lineage_takes_a_direction_a_depth_and_a_limit(root):
    _, out, _ = ask("lineage", "-r", root, "-s", "use", "-d", "deps", "-m", 5, "--depth", 1)

    result = json.loads(out)
    assert result["direction"] == "upstream"
    assert result["items"][0]["path"] == ["module_b.use", "module_a.target_symbol"]


def test_search_takes_a_limit_case_and_expressions(root):
    _, out, _ = ask("search", "-r", root, "-q", "TARGET.S", "-l", 1, "--regex", "-i")

    result = json.loads(out)
    assert (len(result["items"]), result["truncated"]) == (1, True)


def test_other_formats_on_request(root):
    for arguments, start in (
        (["where-used", "-s", "target_symbol", "--format", "text"], "definition:\n"),
        (["where-used", "-s", "target_symbol", "--format", "mermaid"], "flowchart LR\n"),
        (["lineage", "-s", "use", "-d", "up", "--format", "mermaid"], "flowchart LR\n"),
        (["lineage", "-s", "use", "-d", "up", "--format", "text"], "module_a.target_symbol"),
        (["search", "-q", "target", "--format", "text"], "module_a.py:1: "),
    ):
        status, out, err = ask(*arguments, "-r", root)
        assert (status, err, out.startswith(start)) == (0, "", True)


@pytest.mark.process
@pytest.mark.parametrize(("options", "start"), [([], b"definition:"), (["--format", "json"], b"{")])
def test_a_terminal_gets_text_unless_asked_otherwise(root, options, start):
    ask("build-graph", "-r", root)
    ours, terminal = pty.openpty()

    command = ["-m", "judge", "code", "where-used", "-r", root, "-s", "target_symbol", *options]
    subprocess.run([sys.executable, *command], stdout=terminal, timeout=60, check=True)

    assert os.read(ours, 4000).startswith(start)
    os.close(ours)
    os.close(terminal)


def test_a_ranked_expression_is_refused(root):
    with pytest.raises(UsageError, match="leave out one"):
        ask("search", "-r", root, "-q", "target", "--ranked", "--regex")


def test_source_text_has_no_control_sequences(root):
    (root / "module_c.py").write_text(
        "def f():\n    \treturn 1  # \x1b]0;title\x07\x1b[2J\u202eend\n"
    )
    _, out, _ = ask("search", "-r", root, "-q", "return 1  #", "--format", "text", "--refresh")

    assert "module_c.py:2:     \treturn 1  # end\n" in out


def test_possible_uses_are_shown_on_request(root):
    _, out, _ = ask("where-used", "-r", root, "-s", "A.m", "--possible")

    assert [item["confidence"] for item in json.loads(out)["items"]] == ["exact", "possible"]


def test_refresh_builds_first(empty):
    status, out, _ = ask("search", "-r", empty, "-q", "target", "--refresh")
    assert (status, json.loads(out)["freshness_state"]) == (0, "FRESH")


def test_a_missing_graph_is_a_friendly_error(empty):
    status, out, err = ask("where-used", "-r", empty, "-s", "target_symbol")
    assert (status, json.loads(out)["error"]) == (2, "GraphMissing")
    assert "judge code build-graph" in err


def test_an_ambiguous_name_is_exit_1_with_candidates(root):
    status, out, err = ask("where-used", "-r", root, "-s", "m")
    assert (status, "full name" in err) == (1, True)
    assert json.loads(out)["candidates"] == ["module_a.A.m", "module_b.B.m"]


def test_an_unknown_name_is_exit_1(root):
    status, out, err = ask("lineage", "-r", root, "-s", "nowhere", "--format", "text")
    assert (status, out) == (1, "")
    assert "no definition called 'nowhere'" in err


def test_a_folder_that_is_not_there_is_exit_2(tmp_path):
    for arguments in (
        ["build-graph"],
        ["search", "-q", "x"],
        ["search", "-q", "x", "--refresh"],
        ["lineage", "-s", "x"],
    ):
        status, out, err = ask(*arguments, "-r", tmp_path / "nowhere")
        assert (status, json.loads(out)["error"]) == (2, "BadRepository")
        assert "not a folder" in err


def test_bad_input_is_exit_2_with_a_reason(root):
    for arguments in (
        ["search", "-q", "(", "--regex"],
        ["search", "-q", ""],
        ["lineage", "-s", "use", "-d", "sideways"],
        ["search", "-q", "a\udcff"],
        ["where-used", "-s", "a\udcff"],
    ):
        status, out, err = ask(*arguments, "-r", root)
        assert (status, json.loads(out)["status"]) == (2, "error")
        assert err.startswith("judge: ")
        assert ("no text in UTF-8" in out) == ("a\udcff" in arguments)


@pytest.mark.process
def test_query_does_not_import_the_builder_or_other_commands(root):
    query = (
        "import sys, judge.__main__ as judge_main\n"
        f"sys.argv = ['judge', 'code', 'search', '--repo', {str(root)!r}, '-q', 'target']\n"
        "judge_main.main()\n"
        "slow = {'codegraph.build', 'pydantic', 'rich', 'httpx'}\n"
        "print(sorted(slow & set(sys.modules)), file=sys.stderr)"
    )
    command = [sys.executable, "-c", query]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == "[]\n"
