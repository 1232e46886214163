import io
import json
import logging

from judge.adapters.journal import Journals, LibraryHandler, LogJournal, within_request
from tests.fakes.journal import RecordingJournal


def lines(stream: io.StringIO) -> list[dict]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_an_event_is_one_line_of_json_with_its_fields_and_the_time():
    stream = io.StringIO()
    LogJournal(stream).note("page.read", host="a.example", ms=1.5, is_new=True)
    [line] = lines(stream)
    assert line.pop("timestamp").endswith("Z")
    assert line == {"event": "page.read", "host": "a.example", "ms": 1.5, "is_new": True}


def test_a_line_break_in_a_field_does_not_make_a_second_line():
    stream = io.StringIO()
    LogJournal(stream).note("sources.rejected", problem='line 1\n{"event": "forged"}')
    assert len(lines(stream)) == 1


def test_only_lines_within_a_request_have_its_id():
    stream = io.StringIO()
    journal = LogJournal(stream)
    with within_request("r1"):
        journal.note("one")
    journal.note("two")
    assert [line.get("request_id") for line in lines(stream)] == ["r1", None]


def test_verdict_events_within_a_request_are_collected_instead_of_written():
    stream = io.StringIO()
    journal = LogJournal(stream)
    with within_request("r1") as told:
        journal.note("model.replied", finish="truncated", input_tokens=3)
        journal.note("model.replied", finish="stop", input_tokens=4)
        journal.note("judgement.finished", attempts=2)
        assert told == {"finish": "stop", "input_tokens": 7, "attempts": 2}
    journal.note("judgement.finished", attempts=1)
    [line] = lines(stream)
    assert (line["event"], line["attempts"]) == ("judgement.finished", 1)


def test_a_closed_stream_does_not_stop_the_work():
    closed, opened = io.StringIO(), io.StringIO()
    closed.close()
    Journals(LogJournal(closed), LogJournal(opened)).note("one")
    assert [line["event"] for line in lines(opened)] == ["one"]


def library_logger(journal: RecordingJournal) -> logging.Logger:
    logger = logging.Logger("somelibrary")  # noqa: LOG001 - one that other tests cannot see
    logger.addHandler(LibraryHandler(journal))
    return logger


def test_library_logs_are_noted_by_place_without_their_message():
    journal = RecordingJournal()
    logger = library_logger(journal)
    try:
        {}["private words"]
    except KeyError:
        logger.exception("failed on %s", "private words")
    logger.info("not worth a line")
    [(event, fields)] = journal.entries
    assert event == "library.log"
    assert fields["logger"] == "somelibrary"
    assert fields["error"] == "KeyError"
    assert fields["level"] == "error"
    assert str(fields["place"]).startswith("test_journal:")
    assert "private" not in str(fields)
