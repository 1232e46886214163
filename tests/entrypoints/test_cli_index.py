"""`judge index` adds and removes files, folders and pages, and survives interruptions."""

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.fakes.site import FakeSite
from tests.unit.adapters.files.test_pdf_text import pdf


@pytest.fixture
def docs(tmp_path):
    return make(
        tmp_path / "docs",
        {
            "lease.md": "# The lease\n\nThe landlord mends the boiler.",
            "2024/notes.txt": "The boiler is loud.",
            "2024/tool.py": "def boiler():\n    return 'hot'\n",
        },
    )


def make(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def listed(cli, *options):
    told = cli("index", "list", "--format", "json", *options)
    return {d["id"]: d["passages"] for d in json.loads(told.out)["documents"]}


def added(cli, *arguments):
    told = cli("index", "add", "--format", "json", *arguments)
    return told, json.loads(told.out)


def test_a_folder_is_added_and_found(cli, docs):
    told = cli("index", "add", "docs")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("3 added, 3 passages in ")
    assert listed(cli) == {"2024/notes.txt": 1, "2024/tool.py": 1, "lease.md": 1}
    assert "[1] docs/2024/notes.txt:1-1\n" in cli("search", "loud", "-a").out
    assert "Results: 2" in cli("search", "boiler @folder:2024").out


def test_only_what_changed_is_read_again(cli, docs):
    added(cli, "docs")
    make(docs, {"lease.md": "# The lease\n\nThe tenant mends the boiler, and is paid for it."})
    _, report = added(cli, "docs")
    assert (report["replaced"], report["unchanged"], report["added"]) == (1, 2, 0)
    assert "Results: 1" in cli("search", "tenant").out
    assert "Results: 0" in cli("search", "landlord").out


def test_options_say_where_and_how_a_document_is_kept(cli, docs):
    told = cli(
        "index", "add", "docs/lease.md", "-c", "Leases", "--tag", "flat", "--tag", "2024",
        "--folder", "/home/", "--document", "agreement", "--title", "Our lease",
    )  # fmt: skip
    assert told.code == 0
    assert listed(cli, "-c", "leases") == {"agreement": 1}
    found = json.loads(
        cli("search", "boiler @tag:FLAT @folder:home", "-c", "leases", "--format", "json").out
    )
    assert found["chunks"][0]["title"] == "Our lease"
    assert found["chunks"][0]["chunk_id"] == "Leases/agreement:0"


@pytest.mark.process
def test_unreadable_file_is_named_and_the_rest_is_indexed(cli, docs):
    make(docs, {"broken.pdf": b"%PDF nonsense", "picture.gif": b"GIF\0", "empty.md": b""})
    make(docs, {"good.pdf": pdf("The boiler manual"), "large.txt": b"x" * (10 * 1024 * 1024 + 1)})
    (docs / "link.md").symlink_to(docs / "lease.md")
    told = cli("index", "add", "docs", "nowhere")
    assert told.code == 1
    assert "4 added, 4 passages, 1 binary, 1 empty, 1 link, 3 problems in " in told.out
    lines = told.err.splitlines()
    assert lines[0] == "nowhere: No such file or directory"
    assert lines[1] == "docs/large.txt: is over 10 MiB"
    assert lines[2].startswith("docs/broken.pdf: The PDF is broken")


def test_blank_name_is_not_the_default_collection(cli, docs):
    cli("index", "add", "docs")
    for command in (("remove", "--all"), ("remove", "x"), ("list",)):
        told = cli("index", *command, "-c", "")
        assert (told.code, "There is no collection ''" in told.err) == (2, True)
        assert "default" in cli("index", "stats").out


def test_a_web_page_is_added_through_the_safe_fetcher(cli, monkeypatch):
    with FakeSite() as site:
        url = site.page("/terms", "<h1>Terms</h1><p>The boiler is ours.</p>")
        refused = cli("index", "add", url)
        assert (refused.code, "1 problem in" in refused.out) == (1, True)
        monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", site.host)
        told, report = added(cli, url, "--tag", "web")
        assert (told.code, report["added"]) == (0, 1)
        assert added(cli, url, "--tag", "web")[1]["unchanged"] == 1
        assert added(cli, url, "--replace")[1]["replaced"] == 1
    assert set(listed(cli)) == {url}
    assert f"Source: {url}\n" in cli("search", "boiler").out


def test_documents_are_removed_by_id(cli, docs):
    added(cli, "docs")
    told = cli("index", "remove", "LEASE.md", "nope")
    assert (told.code, told.out) == (1, "1 document removed.\n")
    assert told.err == "nope: there is no such document in default.\n"
    assert "lease.md" not in listed(cli)
    removed = cli("index", "remove", "2024/tool.py", "--format", "json")
    assert json.loads(removed.out) == {"removed": 1, "missing": []}


def test_lists_and_figures_are_tables_or_json(cli, docs):
    told = cli("index", "stats")
    assert ("Nothing is indexed yet" in told.err, told.out) == (True, "")
    added(cli, "docs")
    added(cli, "docs/2024", "-c", "year")
    table = cli("index", "stats").out
    assert table.splitlines()[3].split() == ["default", "3", "3"]
    stats = json.loads(cli("index", "stats", "--format", "json").out)["collections"]
    assert stats[1] == {"name": "year", "documents": 2, "passages": 2}
    lines = cli("index", "list", "-c", "YEAR").out.splitlines()
    assert lines[2].split()[:2] == ["notes.txt", "1"]


def start_judge(folder, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "judge", *arguments],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def many(folder, count):
    paragraph = "The boiler of flat {n} is mended by the landlord within a week. " * 40
    return make(folder, {f"{n:04}.md": f"# Flat {n}\n\n{paragraph}" for n in range(count)})


def wait_for_index(folder):
    """Return when the first commit is there."""
    deadline = time.monotonic() + 60
    while not list((folder / ".judge").glob("index-*/meta.json")):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.process
def test_interrupted_run_keeps_its_work_and_the_next_does_the_rest(cli, tmp_path):
    many(tmp_path / "flats", 800)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which a script ignores
    process = start_judge(tmp_path, "index", "add", "flats")
    signal.signal(signal.SIGINT, before)
    wait_for_index(tmp_path)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    if process.returncode:
        assert (process.returncode, out, "Stopped." in err) == (130, "", True)
    _, report = added(cli, "flats")
    assert report["added"] + report["replaced"] + report["unchanged"] == 800
    assert len(listed(cli)) == 800


@pytest.mark.process
def test_sigterm_ends_a_run_in_the_background_of_a_script(tmp_path):
    many(tmp_path / "flats", 800)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as shells do for `judge … &`
    process = start_judge(tmp_path, "index", "add", "flats")
    signal.signal(signal.SIGINT, before)
    wait_for_index(tmp_path)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, "Stopped." in err) == (130, "", True)


def test_pattern_of_many_stars_is_refused_and_in_gitignore_named(cli, docs):
    slow = "a*" * 14 + "b"
    make(docs, {"a" * 100: "x", ".gitignore": f"{slow}\n*.py\n"})
    told = cli("index", "add", "docs")
    assert (told.code, ".gitignore, line 1: was not followed" in told.err) == (1, True)
    assert "2024/tool.py" not in listed(cli)
    for arguments in (["docs", "--glob", slow], [f"docs/{'*a' * 30}b"]):
        told = cli("index", "add", *arguments)
        assert (told.code, "has more * than can be matched" in told.err) == (2, True)
    assert cli("index", "add", "/dev/zero").err == "/dev/zero: is neither a file nor a folder\n"


def test_globs_choose_files_and_one_that_matches_nothing_changes_nothing(cli, docs):
    added(cli, "docs", "--glob", "*.txt", "--glob", "*.py")
    before = listed(cli)
    assert set(before) == {"2024/notes.txt", "2024/tool.py"}
    for options in ([], ["--replace"], ["--replace", "--prune"]):
        told = cli("index", "add", "docs", "--glob", "*.odt", *options)
        assert (told.code, "No file matches '*.odt'" in told.err) == (2, True)
        assert listed(cli) == before


def test_collection_is_named_once(cli, docs):
    told = cli("index", "add", "docs", "-c", "one", "-c", "two")
    assert (told.code, "name one collection" in told.err) == (2, True)


@pytest.mark.process
def test_damaged_pages_and_unread_formats_are_named(cli, docs):
    broken = pdf("First", "Second").replace(b"(Second) Tj", b"(Second] Tj")
    make(docs, {"some.docx": b"PK\x03\x04\0", "pages.pdf": broken})
    told = cli("index", "add", "docs")
    assert told.code == 1
    assert "docs/some.docx: " in told.err  # what it says depends on pandoc


def test_option_of_invalid_text_is_refused(cli, docs):
    for option in ("--tag", "--collection", "--folder", "--document", "--title"):
        told = cli("index", "add", "docs/guide.md", option, "a\udcff")
        assert (told.code, "An argument is no text in UTF-8" in told.err) == (2, True)
