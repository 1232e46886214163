import os
import re
import threading
from pathlib import Path

import pytest

from judge.adapters.files.watched_file import CHECK_EVERY_S, MAX_BYTES, LastGood, WatchedFile
from judge.errors import ConfigurationError
from judge.types.text_files import TextFile
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.waiting import until


class Watched:
    """A watched file of numbers, and what it is watched with."""

    def __init__(self, path: Path, **options) -> None:
        self.path = path
        self.clock = FakeClock()
        self.journal = RecordingJournal()
        self.parsed: list[str] = []
        path.write_text("1")
        self.file = WatchedFile(path, self._parse, self.clock, self.journal, **options)

    def _parse(self, *files: TextFile) -> int:
        self.parsed += [file.text for file in files]
        return sum(_number(file) for file in files)

    def edit(self, text: str) -> None:
        self.path.write_text(text)

    def later(self) -> int:
        self.clock.advance(CHECK_EVERY_S)
        return self.file.current()


@pytest.fixture
def watched(tmp_path) -> Watched:
    return Watched(tmp_path / "numbers")


def test_an_edit_is_seen_after_a_moment(watched):
    watched.edit("2")
    assert watched.file.current() == 1
    assert watched.later() == 2
    assert watched.journal.events == ["sources.reloaded"]


def test_a_broken_edit_keeps_the_last_good_value(watched):
    watched.edit("two")
    assert watched.later() == 1
    assert "is no number" in watched.file.problem
    assert str(watched.path) in watched.file.problem
    [fields] = watched.journal.fields_of("sources.rejected")
    assert fields["problem"] == watched.file.problem


def test_broken_edit_is_reported_and_parsed_once(watched):
    watched.edit("two")
    watched.later()
    watched.later()
    assert watched.journal.events == ["sources.rejected"]
    assert watched.parsed == ["1", "two"]


def test_a_file_that_is_not_text_is_refused(watched):
    watched.path.write_bytes(b"1\n\xff\xfe\x00")
    assert watched.later() == 1
    assert "numbers, line 2: is not UTF-8 text; save" in watched.file.problem


@pytest.mark.parametrize("content", [None, "two"])
def test_a_file_that_is_bad_from_the_start_is_an_error(tmp_path, content):
    path = tmp_path / "numbers"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigurationError, match="numbers"):
        WatchedFile(path, _number, FakeClock(), RecordingJournal())


def _number(file: TextFile) -> int:
    try:
        return int(file.text)
    except ValueError:
        raise ConfigurationError(f"{file.name}: {file.text!r} is no number") from None


class TestIncludedFiles:
    """A file of numbers that includes others; the value is their sum."""

    @pytest.fixture
    def watched(self, tmp_path) -> Watched:
        (tmp_path / "more").mkdir()
        (tmp_path / "more" / "a").write_text("10")
        return Watched(tmp_path / "numbers", included=lambda text: (("more/*", 7),))

    def edit(self, watched, name, text):
        (watched.path.parent / "more" / name).write_text(text)

    def test_included_files_are_read(self, watched):
        assert watched.file.current() == 11

    def test_edit_of_an_included_file_is_seen(self, watched):
        self.edit(watched, "a", "20")
        assert watched.later() == 21
        assert watched.later() == 21
        assert watched.journal.events == ["sources.reloaded"]

    def test_pattern_without_matches_is_reported_with_its_line(self, watched):
        (watched.path.parent / "more" / "a").unlink()
        assert watched.later() == 11
        assert "numbers, line 7: include: 'more/*' matches no other file" in watched.file.problem
        self.edit(watched, "a", "5")
        assert watched.later() == 6
        assert watched.file.problem is None

    @pytest.mark.parametrize("pattern", ["", "/etc/*", "."])
    def test_invalid_pattern_is_an_error(self, tmp_path, pattern):
        told = f"numbers, line 1: include: '{pattern}' matches no other file in"
        with pytest.raises(ConfigurationError, match=re.escape(told)):
            Watched(tmp_path / "numbers", included=lambda text: ((pattern, 1),))


@pytest.mark.parametrize("endless", ["fifo", "/dev/zero", "directory", "too large"])
def test_special_or_huge_file_is_refused_at_once(watched, tmp_path, endless):
    watched.path.unlink()
    if endless == "fifo":
        os.mkfifo(watched.path)
    elif endless == "directory":
        watched.path.mkdir()
    elif endless == "too large":
        watched.path.write_bytes(b"1" * (MAX_BYTES + 1))
    else:
        watched.path.symlink_to(endless)
    assert watched.later() == 1
    assert "cannot be read" in watched.file.problem
    assert watched.journal.events == ["sources.rejected"]


async def test_on_an_event_loop_a_change_is_read_on_a_thread(watched):
    threads = []
    parse = watched.file.parse
    watched.file.parse = lambda file: threads.append(threading.current_thread()) or parse(file)
    watched.edit("2")
    watched.later()
    await until(lambda: watched.file.current() == 2)
    assert threads != []
    assert threading.main_thread() not in threads


class TestLastGood:
    @pytest.fixture
    def path(self, tmp_path) -> Path:
        path = tmp_path / "numbers"
        path.write_text("5")
        return path

    @pytest.fixture
    def last_good(self, tmp_path) -> LastGood:
        return LastGood(tmp_path / "data" / "folder")

    def opened(self, path, last_good) -> tuple[WatchedFile[int], RecordingJournal]:
        journal = RecordingJournal()
        return WatchedFile(path, _number, FakeClock(), journal, last_good=last_good), journal

    @pytest.mark.parametrize("content", ["five", None])
    def test_broken_file_starts_with_the_last_good_version(self, path, last_good, content):
        self.opened(path, last_good)
        path.unlink() if content is None else path.write_text(content)
        file, journal = self.opened(path, last_good)
        assert file.current() == 5
        assert "numbers" in file.problem
        assert journal.events == ["sources.rejected", "sources.last_good_used"]

    @pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"files": [], "digest": ""}'])
    def test_damaged_stored_version_is_not_used(self, path, last_good, damage):
        self.opened(path, last_good)
        last_good._path.write_text(damage)
        path.write_text("five")
        with pytest.raises(ConfigurationError, match="numbers"):
            self.opened(path, last_good)

    def test_unwritable_folder_is_reported_without_an_error(self, path, tmp_path):
        (tmp_path / "file").write_text("")
        file, journal = self.opened(path, LastGood(tmp_path / "file"))
        assert file.current() == 5
        assert journal.events == ["sources.not_kept"]
