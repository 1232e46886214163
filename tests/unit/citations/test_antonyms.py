"""Antonyms of WordNet: the packaged file, and their effect on support and contradiction."""

import runpy
from importlib.resources import files
from pathlib import Path

from judge.citations.support import support

SCRIPT = Path(__file__).parents[3] / "scripts" / "generate_antonyms.py"
WORDNET = {
    "data.noun": "  1 Copyright by somebody.  \n00000003 00 n 01 depth 0 001 + 00000001 a 0101 | x",
    "data.verb": "",
    "data.adv": "",
    "data.adj": "00000001 00 a 01 deep 0 002 ! 00000002 a 0101 + 00000003 n 0101 | far down\n"
    "00000002 00 a 01 shallow 0 001 ! 00000001 a 0101 | x\n"
    "00000004 00 a 01 sound 0 001 ! 00000005 a 0101 | x\n"
    "00000005 00 a 01 odd 0 001 ! 00000004 a 0101 | x",
    "index.sense": "deep%3:00:00:: 00000001 1 9\nshallow%3:00:00:: 00000002 1 2\n"
    "depth%1:00:00:: 00000003 2 1\nsound%3:00:00:: 00000004 3 0\nodd%3:00:00:: 00000005 1 4",
}


def contradicts(claim: str, sentences: list[str]) -> bool:
    return support(claim, sentences).contradicts


def test_antonyms_of_common_senses_and_what_is_derived_of_them_are_written(tmp_path: Path) -> None:
    for name, text in WORDNET.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    *notice, antonyms = runpy.run_path(str(SCRIPT))["render"](tmp_path).splitlines()
    assert antonyms == "deep | shallow; depth | shallow;"
    assert "# Copyright by somebody." in notice


def test_antonyms_have_the_notice_of_their_licence() -> None:
    text = files("judge").joinpath("vocabulary/antonyms.txt").read_text(encoding="utf-8")
    assert "Copyright 2011 by Princeton University" in text
    assert "THIS SOFTWARE AND DATABASE IS PROVIDED" in text


def test_replacing_a_word_by_its_antonym_reverses_a_sentence() -> None:
    source = ["Pupils stand in the hall during the talk."]
    said, turned = "During the talk the pupils stand.", "Pupils sit in the hall during the talk."
    assert contradicts(turned, source)
    assert not contradicts(said, source)


def test_an_antonym_beside_other_words_costs_support_and_is_not_flagged() -> None:
    source = ["A shallow pool is safer."]
    said, turned = "Less can happen in little water.", "Deep water is what you want."
    assert support(turned, source).score < support(said, source).score
    assert not contradicts(turned, source)
