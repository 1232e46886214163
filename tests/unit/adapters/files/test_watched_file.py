import os
from pathlib import Path

import pytest

from judge.adapters.files.watched_file import CHECK_EVERY_S, WatchedFile
from judge.errors import ConfigurationError
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal


class Watched:
    """A watched file of numbers, and what it is watched with."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = FakeClock()
        self.journal = RecordingJournal()
        self.parsed: list[str] = []
        path.write_text("1")
        self.file = WatchedFile(path, self._parse, self.clock, self.journal)

    def _parse(self, text: str) -> int:
        self.parsed.append(text)
        try:
            return int(text)
        except ValueError:
            raise ConfigurationError(f"{text!r} is no number") from None

    def edit(self, text: str) -> None:
        """Write *text* under a time of its own, whatever the file system's resolution."""
        stat = self.path.stat() if self.path.exists() else None
        self.path.write_text(text)
        if stat:
            os.utime(self.path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1_000_000))

    def later(self) -> int:
        self.clock.advance(CHECK_EVERY_S)
        return self.file.current()


@pytest.fixture
def watched(tmp_path) -> Watched:
    return Watched(tmp_path / "numbers")


def test_the_file_is_read_at_once(watched):
    assert watched.file.current() == 1
    assert watched.file.problem is None


def test_an_edit_is_seen_after_a_moment(watched):
    watched.edit("2")
    assert watched.file.current() == 1
    assert watched.later() == 2
    assert watched.journal.events == ["sources.reloaded"]


def test_a_file_that_did_not_change_is_not_parsed_again(watched):
    watched.later()
    watched.later()
    assert watched.parsed == ["1"]
    assert watched.journal.events == []


def test_an_edit_of_the_same_length_is_seen(watched):
    watched.edit("7")
    assert watched.later() == 7


def test_a_file_that_is_replaced_is_seen(watched, tmp_path):
    other = tmp_path / "other"
    other.write_text("3")
    other.replace(watched.path)
    assert watched.later() == 3


def test_a_broken_edit_keeps_the_last_good_value(watched):
    watched.edit("two")
    assert watched.later() == 1
    assert "is no number" in watched.file.problem
    assert str(watched.path) in watched.file.problem
    [fields] = watched.journal.fields_of("sources.rejected")
    assert fields["problem"] == watched.file.problem


def test_a_broken_edit_is_told_and_parsed_once(watched):
    watched.edit("two")
    watched.later()
    watched.later()
    assert watched.journal.events == ["sources.rejected"]
    assert watched.parsed == ["1", "two"]


def test_a_mended_file_is_used_again(watched):
    watched.edit("two")
    watched.later()
    watched.edit("4")
    assert watched.later() == 4
    assert watched.file.problem is None


def test_a_file_that_vanishes_keeps_the_last_good_value_and_is_told_once(watched):
    watched.path.unlink()
    assert watched.later() == 1
    assert watched.later() == 1
    assert "cannot be read" in watched.file.problem
    assert watched.journal.events == ["sources.rejected"]


def test_a_file_that_comes_back_as_it_was_is_no_problem_any_more(watched):
    stat = watched.path.stat()
    kept = watched.path.rename(watched.path.with_name("kept"))
    watched.later()
    kept.rename(watched.path)
    os.utime(watched.path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert watched.later() == 1
    assert watched.file.problem is None


def test_undoing_a_broken_edit_by_an_old_copy_is_no_problem_any_more(watched):
    watched.edit("two")
    watched.later()
    watched.edit("1")
    assert watched.later() == 1
    assert watched.file.problem is None


def test_a_file_that_is_not_text_is_refused(watched):
    watched.path.write_bytes(b"\xff\xfe\x00")
    assert watched.later() == 1
    assert "JUDGE_SOURCES" in watched.file.problem


@pytest.mark.parametrize("content", [None, "two"])
def test_a_file_that_is_bad_from_the_start_is_an_error(tmp_path, content):
    path = tmp_path / "numbers"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigurationError, match="numbers"):
        WatchedFile(path, _number, FakeClock(), RecordingJournal())


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ConfigurationError("no number") from None


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot be read"):
        WatchedFile(tmp_path, _number, FakeClock(), RecordingJournal())


def test_looking_costs_nothing_between_checks(watched):
    watched.path.unlink()
    assert watched.file.current() == 1
    assert watched.file.problem is None


def test_an_error_that_is_not_expected_of_a_parser_does_not_stop_the_service(tmp_path):
    path, clock, journal = tmp_path / "numbers", FakeClock(), RecordingJournal()
    path.write_text("1")
    file = WatchedFile(path, int, clock, journal)
    path.write_text("nonsense")
    clock.advance(CHECK_EVERY_S)
    assert file.current() == 1
    assert file.problem is not None
