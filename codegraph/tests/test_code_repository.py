"""Which files of a repository are listed and read, and how the graph is written."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from codegraph.errors import BadRepository
from codegraph.models import FileStat
from codegraph.python_api import build_graph_for_repo, tool_rag_search, tool_rag_where_used
from codegraph.source_text import content_hash
from codegraph.store.artifact import BUILDER, SETTINGS, Artifact, FileRecord, compare
from codegraph.store.repository import GRAPH_NAME, MAX_FILE_BYTES, Repository


def git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments],
        cwd=root,
        check=True,
        capture_output=True,
        timeout=60,
    )


def statuses(root: Path) -> dict[str, str]:
    graph = msgspec.json.decode((root / GRAPH_NAME).read_bytes())
    return {file["path"]: file["status"] for file in graph["files"]}


def test_files_are_listed_by_git(repo):
    root = repo("--- a.py\n--- b.py\n--- gone.py\n--- out/c.py\n--- .gitignore\nout/\n")
    git(root, "init", "-q")
    git(root, "add", "a.py", "gone.py")
    (root / "gone.py").unlink()

    assert list(Repository(root).files()) == [".gitignore", "a.py", "b.py"]


def test_a_pattern_for_names_with_many_dashes_is_no_reason_to_refuse(repo):
    root = repo(
        "--- a.py\n--- 123e4567-e89b-12d3-a456-426614174000.py\n--- .gitignore\n*-*-*-*-*.py\n"
    )
    git(root, "init", "-q")

    assert list(Repository(root).files()) == [".gitignore", "a.py"]


def test_git_that_takes_too_long_is_not_asked_again(repo, monkeypatch):
    root = repo("--- a.py\ndef f(): ...\n--- sub/.gitignore\n")
    git(root, "init", "-q")
    build_graph_for_repo(root)
    (root / "sub/.gitignore").write_text("a*" * 14 + "b\n")
    (root / "sub" / ("a" * 100 + "c")).touch()
    monkeypatch.setattr("codegraph.store.repository._GIT_TIMEOUT_S", 0.3)
    repository = Repository(root)

    for _ in range(200):
        with pytest.raises(BadRepository, match="git could not list the files"):
            repository.files()
    found = tool_rag_where_used("f", root)
    assert (found.freshness_state, len(found.items)) == ("UNKNOWN", 1)


def test_submodules_are_named(repo):
    root = repo("--- a.py\n--- vendor/lib/b.py\n--- other/c.py\n")
    for folder in (root / "vendor" / "lib", root / "other", root):
        git(folder, "init", "-q")
    git(root / "vendor" / "lib", "add", ".")
    git(root / "vendor" / "lib", "commit", "-qm", "x")
    git(root, "add", "vendor/lib", "a.py")

    report = build_graph_for_repo(root)

    assert report.submodules == ("other", "vendor/lib")
    assert list(statuses(root)) == ["a.py"]


def test_subfolder_of_a_work_tree_is_listed_from_its_own_root(repo):
    root = repo("--- sub/a.py\n--- b.py\n")
    git(root, "init", "-q")

    assert list(Repository(root / "sub").files()) == ["a.py"]


def test_folder_without_git_is_walked_without_dependencies(repo):
    root = repo("--- a.py\n--- node_modules/x.js\n--- .venv/y.py\n--- sub/b.py\n")

    assert list(Repository(root).files()) == ["a.py", "sub/b.py"]


def test_repository_cannot_make_git_start_a_program(repo):
    root = repo("--- a.py\n--- hook.sh\n#!/bin/sh\ntouch started\n")
    (root / "hook.sh").chmod(0o755)
    git(root, "init", "-q")
    git(root, "config", "core.fsmonitor", str(root / "hook.sh"))

    Repository(root).files()

    assert not (root / "started").exists()


def test_links_and_pipes_are_neither_listed_nor_read(repo, tmp_path):
    root = repo("--- a.py\n")
    os.mkfifo(root / "pipe.py")
    (tmp_path / "secret.py").write_text("def secret(): ...\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "b.py").write_text("def secret(): ...\n")
    (root / "link.py").symlink_to(tmp_path / "secret.py")
    (root / "linked").symlink_to(tmp_path / "folder")
    repository = Repository(root)

    assert list(repository.files()) == ["a.py"]
    outside = str(tmp_path / "secret.py")
    for path in ("pipe.py", "link.py", "linked/b.py", "../secret.py", outside, "a\0"):
        assert repository.read(path) is None


def test_each_file_has_its_status(repo):
    root = repo("--- a.py\n--- b.txt\n--- c.py\ndef (\n")
    (root / "d.bin").write_bytes(b"a\0b")
    (root / "e.txt").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    (root / "f.py").write_bytes(b"x = 1\0\n")
    (root / "g.py").write_bytes("s = 'é'\n".encode("latin-1"))
    (root / "h.py").write_bytes(b"\xef\xbb\xbfdef f(): ...\r\nf()\r\n")
    build_graph_for_repo(root)
    assert statuses(root) == {
        "a.py": "parsed",
        "b.txt": "text",
        "c.py": "syntax-error",
        "d.bin": "binary",
        "e.txt": "too-large",
        "f.py": "binary",
        "g.py": "parsed",
        "h.py": "parsed",
    }
    assert [item.line for item in tool_rag_where_used("f", root).items] == [1, 2]
    assert tool_rag_search("xxxx", root).items == ()


def test_freshness_is_unknown_if_files_cannot_be_listed_or_read():
    record = FileRecord("a.py", "python", content_hash(b"x"), 1, 5, "parsed")
    graph = Artifact(4, BUILDER, SETTINGS, [record], [])
    known = {"a.py": FileStat(1, 6)}

    assert compare(graph, 10**18, None, lambda _: b"")[0] == "UNKNOWN"
    assert compare(graph, 10**18, known, lambda _: None)[0] == "UNKNOWN"
    assert compare(graph, 10**18, known, lambda _: b"x")[0] == "FRESH"


def test_file_names_that_are_not_utf_8_are_left_out(repo):
    root = repo("--- a.py\n")
    try:
        (root / os.fsdecode(b"\xff.py")).write_text("")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")

    assert list(Repository(root).files()) == ["a.py"]
    git(root, "init", "-q")
    assert list(Repository(root).files()) == ["a.py"]


def test_concurrent_builds_leave_a_complete_graph(repo):
    root = repo("".join(f"--- m{n}.py\ndef f{n}(): ...\nf{n}()\n" for n in range(20)))

    with ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(lambda _: build_graph_for_repo(root), range(8)))

    assert {report.files for report in reports} == {20}
    assert tool_rag_where_used("f7", root).freshness_state == "FRESH"
    assert sorted(path.name for path in (root / ".judge").iterdir()) == [
        "rag_facts.msgpack",
        "rag_graph.json",
    ]


def test_unwritable_folder_is_an_error(repo):
    root = repo("--- a.py\n")
    (root / ".judge").write_text("a file where the folder should be")

    with pytest.raises(BadRepository, match="cannot be written"):
        build_graph_for_repo(root)


def test_graph_folder_that_is_a_link_is_refused(repo, tmp_path):
    root = repo("--- a.py\n")
    (tmp_path / "elsewhere").mkdir()
    (root / ".judge").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(BadRepository, match="is a link"):
        build_graph_for_repo(root)
    assert list((tmp_path / "elsewhere").iterdir()) == []
