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
def root(tmp_path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def ask(*arguments: object):
    """The exit code, stdout and stderr of `judge code ARGUMENTS`."""
    words = ["code", *map(str, arguments)]
    result = CliRunner().invoke(
        judge, words, obj=CommandContext(print, print), standalone_mode=False
    )
    if result.exception is not None:
        raise result.exception
    return result.return_value, result.stdout, result.stderr


def test_build_graph_reports_what_it_did(root):
    status, out, err = ask("build-graph", "--repo", root)

    report = json.loads(out)
    assert (status, err) == (0, "")
    assert (report["status"], report["files"], report["linked"]) == ("ok", 2, 2)
    assert report["graph"] == str(root / ".judge" / "rag_graph.json")
    assert (root / ".judge" / "rag_graph.json").exists()


def test_where_used_prints_json_unless_asked_otherwise(root):
    ask("build-graph", "-r", root)

    status, out, _ = ask("where-used", "-r", root, "-s", "target_symbol")

    result = json.loads(out)
    assert status == 0
    assert set(result) >= {"symbol", "items", "truncated", "source", "freshness_state"}
    assert set(result["items"][0]) >= {"file", "line", "kind", "confidence", "snippet"}
    assert result["items"][1]["file"] == "module_b.py"
    assert out == f"{json.dumps(result, separators=(',', ':'))}\n", "compact for a program"


def test_lineage_takes_a_direction_a_depth_and_a_limit(root):
    ask("build-graph", "-r", root)

    _, out, _ = ask("lineage", "-r", root, "-s", "use", "-d", "deps", "-m", 5, "--depth", 1)

    result = json.loads(out)
    assert result["direction"] == "upstream"
    assert result["items"][0]["path"] == ["module_b.use", "module_a.target_symbol"]


def test_search_takes_a_limit_case_and_expressions(root):
    ask("build-graph", "-r", root)

    _, out, _ = ask("search", "-r", root, "-q", "TARGET.S", "-l", 1, "--regex", "-i")

    result = json.loads(out)
    assert (len(result["items"]), result["truncated"]) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (["where-used", "-s", "target_symbol", "--format", "text"], "definition:\n"),
        (["where-used", "-s", "target_symbol", "--format", "mermaid"], "flowchart LR\n"),
        (["lineage", "-s", "use", "-d", "up", "--format", "mermaid"], "flowchart LR\n"),
        (["lineage", "-s", "use", "-d", "up", "--format", "text"], "module_a.target_symbol"),
        (["search", "-q", "target", "--format", "text"], "module_a.py:1: "),
    ],
)
def test_other_formats_on_request(root, arguments, start):
    ask("build-graph", "-r", root)

    status, out, err = ask(*arguments, "-r", root)

    assert (status, err) == (0, "")
    assert out.startswith(start)


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
    ask("build-graph", "-r", root)

    _, out, _ = ask("search", "-r", root, "-q", "return 1  #", "--format", "text")

    assert "module_c.py:2:     \treturn 1  # end\n" in out


def test_possible_uses_are_shown_on_request(root):
    ask("build-graph", "-r", root)

    _, out, _ = ask("where-used", "-r", root, "-s", "A.m", "--possible")

    assert [item["confidence"] for item in json.loads(out)["items"]] == ["exact", "possible"]


def test_refresh_builds_first(root):
    status, out, _ = ask("search", "-r", root, "-q", "target", "--refresh")

    assert (status, json.loads(out)["freshness_state"]) == (0, "FRESH")


def test_a_missing_graph_is_a_friendly_error(root):
    status, out, err = ask("where-used", "-r", root, "-s", "target_symbol")

    assert status == 2
    assert json.loads(out)["error"] == "GraphMissing"
    assert "judge code build-graph" in err


def test_an_ambiguous_name_is_exit_1_with_candidates(root):
    ask("build-graph", "-r", root)

    status, out, err = ask("where-used", "-r", root, "-s", "m")

    assert status == 1
    assert json.loads(out)["candidates"] == ["module_a.A.m", "module_b.B.m"]
    assert "full name" in err


def test_an_unknown_name_is_exit_1(root):
    ask("build-graph", "-r", root)

    status, out, err = ask("lineage", "-r", root, "-s", "nowhere", "--format", "text")

    assert (status, out) == (1, "")
    assert "no definition called 'nowhere'" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["build-graph"],
        ["search", "-q", "x"],
        ["search", "-q", "x", "--refresh"],
        ["where-used", "-s", "x"],
        ["lineage", "-s", "x"],
    ],
)
def test_a_folder_that_is_not_there_is_exit_2(tmp_path, arguments):
    status, out, err = ask(*arguments, "-r", tmp_path / "nowhere")

    assert status == 2
    assert json.loads(out)["error"] == "BadRepository"
    assert "not a folder" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "-q", "(", "--regex"],
        ["search", "-q", ""],
        ["lineage", "-s", "use", "-d", "sideways"],
    ],
)
def test_bad_input_is_exit_2_with_a_reason(root, arguments):
    ask("build-graph", "-r", root)

    status, out, err = ask(*arguments, "-r", root)

    assert status == 2
    assert json.loads(out)["status"] == "error"
    assert err.startswith("judge: ")


@pytest.mark.parametrize(("command", "option"), [("search", "-q"), ("where-used", "-s")])
def test_invalid_text_is_not_echoed_in_json(root, command, option):
    ask("build-graph", "-r", root)

    code, out, _ = ask(command, "-r", root, option, "a\udcff")

    assert (code, "no text in UTF-8" in json.loads(out)["detail"]) == (2, True)


def test_query_does_not_import_the_builder_or_other_commands(root):
    CliRunner().invoke(
        judge, ["code", "build-graph", "--repo", str(root)], obj=CommandContext(print, print)
    )
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
