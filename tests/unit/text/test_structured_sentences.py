"""Sentences of text with line breaks, headings and lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.english import is_heading, structured_sentences

LINES = st.text(alphabet="aB1 .!?[]#-*>|\n\r\t…é", max_size=80)


def sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in structured_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is here. Two is there.", ["One is here.", "Two is there."]),
        ("One goes\non here. Two", ["One goes\non here.", "Two"]),
        ("# Repairs\nThe landlord repairs.", ["# Repairs", "The landlord repairs."]),
        ("These:\n- one\n* two\n3. three", ["These:", "one", "two", "three"]),
        ("It is so.\n[1] Next.", ["It is so.\n[1]", "Next."]),
        ("| a | b |\n| c | d |", ["| a | b |", "| c | d |"]),
        ("\n \n", []),
    ],
)
def test_headings_list_items_and_paragraphs_end_a_sentence(text, expected):
    assert sentences(text) == expected


@given(LINES)
def test_every_character_except_spaces_and_markers_is_in_one_sentence(text: str) -> None:
    spans = structured_sentences(text)
    ends = [0, *(span.end for span in spans)]
    assert all(span.start >= end for span, end in zip(spans, ends, strict=False))
    outside = (
        "".join(text[end : span.start] for span, end in zip(spans, ends, strict=False))
        + text[ends[-1] :]
    )
    assert set(outside) <= set("-*0123456789. \n\r\t")


def test_heading_is_recognised_by_its_sign_and_a_space() -> None:
    assert is_heading("## Repairs")
    assert not is_heading("#1 of all")
