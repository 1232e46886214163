"""Which files are found below a folder, and how they are read."""

import os

import pytest

from judge.adapters.files.document_files import LocalFiles
from judge.errors import InvalidRequest, UnreadableDocument

FILES = LocalFiles()


@pytest.fixture
def root(tmp_path):
    """A folder with files of all kinds."""
    return make(
        tmp_path / "docs",
        {
            "b.md": "b",
            "a.txt": "a",
            "2024/q1/report.md": "r",
            "2024/data.csv": "1",
            ".hidden/x.md": "x",
            "~$a.docx": "x",
            ".env": "secret",
        },
    )


def make(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def found(*paths, globs=()):
    return [file.relative for file in FILES.scan([str(path) for path in paths], globs).files]


def test_a_folder_gives_all_its_files_by_name_but_hidden_ones(root):
    assert found(root) == ["a.txt", "b.md", "2024/data.csv", "2024/q1/report.md"]


def test_a_file_may_be_named_itself_hidden_or_not(root):
    assert found(root / "b.md", root / ".env") == ["b.md", ".env"]


@pytest.mark.parametrize(
    ("globs", "names"),
    [
        (["*.md"], ["b.md", "2024/q1/report.md"]),
        (["/*.md"], ["b.md"]),
        (["2024/**/*.md"], ["2024/q1/report.md"]),
        (["*.csv", "*.txt"], ["a.txt", "2024/data.csv"]),
    ],
)
def test_globs_select_files(root, globs, names):
    assert found(root, globs=globs) == names


def test_a_path_may_hold_wildcards_itself(root):
    assert found(root / "**/*.md") == ["b.md", "2024/q1/report.md"]
    assert found(root / "*.md") == ["b.md"]
    assert found(root / "b.md", globs=["*.txt"]) == []


def test_gitignored_files_are_left_out(root):
    make(
        root,
        {
            ".gitignore": "*.txt\n/2024/*\n!/2024/q1\n",
            "sub/.gitignore": "!keep.txt\nbuild/\n",
            "sub/keep.txt": "k",
            "sub/drop.txt": "d",
            "sub/build/x.md": "x",
        },
    )
    assert found(root) == ["b.md", "2024/q1/report.md", "sub/keep.txt"]


def test_gitignore_of_the_enclosing_repository_applies(root):
    make(root, {".git/HEAD": "x", ".gitignore": "data.csv\n"})
    assert found(root / "2024") == ["q1/report.md"]


def test_invalid_line_of_gitignore_matches_nothing(root):
    make(root, {".gitignore": "!\n[z-a].md\ndata.csv\n\\\n"})
    assert found(root) == ["a.txt", "b.md", "2024/q1/report.md"]


@pytest.mark.parametrize("glob", ["!", "[z-a]*", "a\\"])
def test_invalid_glob_is_refused(root, glob):
    with pytest.raises(InvalidRequest, match="is no pattern of file names"):
        found(root, globs=("*.md", glob))


def test_symbolic_links_are_counted_and_not_followed(root, tmp_path):
    make(tmp_path / "outside", {"secret.md": "s"})
    (root / "link.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "loop").symlink_to(root)
    result = FILES.scan([str(root)])
    assert len(result.files) == 4
    assert result.links == 2


def test_pipes_are_skipped_and_refused_if_named(root):
    os.mkfifo(root / "pipe")
    assert len(found(root)) == 4
    result = FILES.scan([str(root / "pipe")])
    assert result.problems == [(str(root / "pipe"), "is neither a file nor a folder")]
    with pytest.raises(UnreadableDocument, match="no regular file"):
        FILES.read(str(root / "pipe"), max_bytes=10)


def test_missing_path_is_a_problem_and_the_rest_is_found(root, tmp_path):
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    result = FILES.scan([str(root / "nope"), str(tmp_path / "circle"), str(root / "b.md")])
    assert len(result.files) == 1
    assert result.problems[0][1] == "No such file or directory"
    assert len(result.problems) == 2


def test_file_name_of_invalid_utf8_can_be_opened_and_printed(root):
    (root / os.fsdecode(b"caf\xe9.md")).write_text("x")
    (file,) = [f for f in FILES.scan([str(root)]).files if "caf" in f.relative]
    assert file.relative == "caf\ufffd.md"
    assert FILES.read(file.location, max_bytes=10) == b"x"


def test_unreadable_folder_is_a_problem(root, monkeypatch):
    scandir = os.scandir

    def refusing(folder):
        if str(folder).endswith("q1"):
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    result = FILES.scan([str(root)])
    place = f"{root.resolve()}/2024/q1"
    assert result.problems == [(place, "Permission denied")]


def test_reading_keeps_to_the_limit(root):
    assert FILES.read(str(root / "b.md"), max_bytes=1) == b"b"
    (root / "b.md").write_text("x" * 2_000_000)
    with pytest.raises(UnreadableDocument, match="over 1 MiB"):
        FILES.read(str(root / "b.md"), max_bytes=1024 * 1024)
    with pytest.raises(UnreadableDocument, match="cannot be read"):
        FILES.read(str(root / "nope"), max_bytes=1)
