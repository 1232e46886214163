"""The output formats of `judge search`, byte for byte."""

import json
from pathlib import Path

from judge.entrypoints.cli.search import (
    Results,
    SearchFailed,
    failure_json,
    failure_text,
    results_json,
    results_text,
)
from judge.types.search import Hit
from tests.fakes.passages import passage

GOLDEN = Path(__file__).parents[1] / "fixtures" / "search"
INTRO = "https://robots.example/ch01-intro"
NODES = "https://robots.example/ch02-nodes"

FOUND = Results(
    query="How do nodes talk?",
    collection="textbook",
    hits=(
        Hit(
            passage(
                "Nodes publish what they know,\nand subscribe to what they need.",
                document="ch02",
                collection="textbook",
                title="Chapter 2: Nodes",
                path=NODES,
                chapter="module-1",
                section="Nodes and topics",
            ),
            0.58449,
        ),
        Hit(
            passage(
                "ROS 2 is a set of libraries.\n",
                document="ch01",
                collection="textbook",
                position=3,
                title="Chapter 1: Introduction",
                path=INTRO,
            ),
            0.5,
        ),
        Hit(
            passage("A “quoted” word.", document="ch01", collection="textbook", path=INTRO),
            0.25,
        ),
    ),
)
NOTHING = Results(query="quantum computing recipes", collection="textbook", hits=())
FAILURE = SearchFailed(
    "CONNECTION_ERROR", "Cannot connect to Qdrant at https://index.example", "Connection refused"
)


def test_output_is_unchanged_to_the_byte():
    for made, name in (
        (results_text(FOUND), "results.txt"),
        (results_text(NOTHING), "nothing.txt"),
        (failure_text(FAILURE), "error.txt"),
        (results_json(FOUND), "results.json"),
        (results_json(NOTHING), "nothing.json"),
        (failure_json(FAILURE), "error.json"),
    ):
        assert made == (GOLDEN / name).read_text()


def test_a_hint_and_warnings_are_in_json_when_there_are_any():
    told = Results("q", "c", (), warnings=("cut",), hint="wider")
    body = json.loads(results_json(told))
    assert (body["hint"], body["warnings"]) == ("wider", ["cut"])


def test_results_have_no_control_sequences():
    nasty = "a\x1b[31mb\x07c\rd\te\x9b2Jf\u202eg\n  h"
    hits = (Hit(passage(nasty, path=nasty, section=nasty), 1.0),)
    shown = results_text(Results(nasty, nasty, hits))
    assert "ab cd\u0009e" not in shown.splitlines()[3]
    assert set(shown) >= {"a", "\t"}
    assert not set(shown) & set("\x1b\x07\r\x9b\u202e")
    assert "\n  h\n" in shown
    assert "\x1b" not in results_json(Results(nasty, nasty, hits))
