"""Words are read once, however often they are looked up, and never too many are kept."""

import pytest

from judge.text.word_cache import MAX_WORD_LENGTH, MAX_WORDS, WordCache


def memory_and_asked() -> tuple[WordCache[str], list[str]]:
    asked: list[str] = []

    def read(word: str) -> str:
        asked.append(word)
        return word.upper()

    return WordCache(read), asked


def test_a_word_is_read_once():
    memory, asked = memory_and_asked()
    assert [memory["flat"], memory["flat"]] == ["FLAT", "FLAT"]
    assert asked == ["flat"]


@pytest.mark.parametrize(
    ("length", "kept"), [(MAX_WORD_LENGTH, True), (MAX_WORD_LENGTH + 1, False)]
)
def test_what_is_too_long_for_a_word_is_read_and_not_kept(length, kept):
    memory, _ = memory_and_asked()
    assert memory["x" * length] == "X" * length
    assert bool(memory) == kept


def test_a_full_memory_begins_anew():
    memory, _ = memory_and_asked()
    for number in range(MAX_WORDS + 1):
        assert memory[str(number)] == str(number)
    assert list(memory) == [str(MAX_WORDS)]
