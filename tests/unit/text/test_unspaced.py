from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from judge.text.english import strip_accents
from judge.text.index_tokens import searchable

CHINESE = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=2)


@given(st.text("abc ÄÖé,.!\n'’_-0ñж"))
def test_spaced_text_only_loses_its_accents(text):
    assert searchable(text) == strip_accents(text)


@given(st.text(), CHINESE, st.text())
def test_every_pair_of_adjacent_characters_is_a_word(before, run, after):
    found = searchable(f"{before} {run} {after}").split()

    assert {"".join(pair) for pair in pairwise(run)} <= set(found)


def test_decomposed_characters_are_composed():
    assert searchable("가나다").split() == ["가나", "나다"]
    assert searchable("ガス").split() == searchable("カ\u3099ス").split() == ["ガス"]
