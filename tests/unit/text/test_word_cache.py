"""Words are analysed once and cached, in a bounded cache."""

import pytest

from judge.text.word_cache import MAX_WORD_LENGTH, MAX_WORDS, WordCache


def memory_and_asked() -> tuple[WordCache[str], list[str]]:
    asked: list[str] = []

    def read(word: str) -> str:
        asked.append(word)
        return word.upper()

    return WordCache(read), asked


def test_word_is_analysed_once():
    memory, asked = memory_and_asked()
    assert [memory["flat"], memory["flat"]] == ["FLAT", "FLAT"]
    assert asked == ["flat"]


@pytest.mark.parametrize(
    ("length", "kept"), [(MAX_WORD_LENGTH, True), (MAX_WORD_LENGTH + 1, False)]
)
def test_overlong_word_is_analysed_but_not_cached(length, kept):
    memory, _ = memory_and_asked()
    assert memory["x" * length] == "X" * length
    assert bool(memory) == kept


def test_full_cache_is_cleared():
    memory, _ = memory_and_asked()
    for number in range(MAX_WORDS + 1):
        assert memory[str(number)] == str(number)
    assert list(memory) == [str(MAX_WORDS)]
