"""How a source is split into numbered sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.english import sentences, source_sentences

TEXTS = st.text(max_size=120) | st.lists(
    st.sampled_from(
        ["Pay the rent", "e.g.", "No.", "4", ".", "!", "?", "…", "...", " … ", " ", "  ", "\n",
         "[1]", "”", "(", ")", "–", "•", "Mr.", "é", "£20.50", "“No.”"]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("Pay the rent. Keep a copy.", ("Pay the rent.", "Keep a copy.")),
        ("Pay it, e.g. The rent. Keep No. 4 too!", ("Pay it, e.g. The rent.", "Keep No. 4 too!")),
        ("Pay the rent. … Keep a copy.", ("Pay the rent. …", "Keep a copy.")),
        ("Pay the rent. — … . Keep it.", ("Pay the rent. — … .", "Keep it.")),
        ("… !", ("… !",)),
        ("Pay it. [1] says so. [2] [3] do too.", ("Pay it.", "[1] says so. [2]", "[3] do too.")),
        ("“Why?” he asked. “Now!” And now.", ("“Why?” he asked.", "“Now!”", "And now.")),
        ("Pay the rent. … keep a copy.", ("Pay the rent. …", "keep a copy.")),
    ],
)
def test_text_is_split_into_its_sentences(text: str, expected: tuple[str, ...]) -> None:
    assert source_sentences(text) == expected


@given(TEXTS)
def test_sentences_cover_the_text_in_order_and_are_not_empty(text: str) -> None:
    at = 0
    for span in sentences(text):
        assert not text[at : span.start].strip()
        assert at <= span.start < span.end
        assert text[span.start : span.end].strip() == text[span.start : span.end]
        at = span.end
    assert not text[at:].strip()
