import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.identifiers import identifier_parts


@pytest.mark.parametrize(
    ("text", "further"),
    [
        ("getUserId()", "get User Id"),
        ("get_user_id", ""),
        ("parseHTMLPage", "parse HTML Page"),
        ("HTTPServer", "HTTP Server"),
        ("MAX_SIZE", ""),
        ("self._fooBar", "foo Bar"),
        ("my_fooBar", "foo Bar"),
        ("ROS2", "ROS 2"),
        ("utf8", "utf 8"),
        ("plain words, Capital Ones and x1", ""),
        ("__init__", ""),
        ("", ""),
        ("why?isThis", "is This"),
        ("调用getUserId", "get User Id"),
        ("größeWert", "größe Wert"),
        ("naïveBayes — fooBar", "naïve Bayes foo Bar"),
        ("x" * 50 + "Bar", "x" * 40 + " Bar"),
    ],
)
def test_names_written_as_one_word_give_their_parts(text, further):
    assert identifier_parts(text) == further


def test_repeated_identifiers_give_their_words_once():
    assert identifier_parts("getUser getUser getName") == "get User Name"


@pytest.mark.parametrize("length", [4094, 4095, 4096, 4097, 100_000])
def test_identifier_far_into_a_text_gives_its_parts(length):
    assert identifier_parts("x" * (length - 1) + " fooBar") == "foo Bar"


@given(st.lists(st.text(alphabet="abAB01é?_\ud800", max_size=12)))
def test_words_give_the_same_alone_and_among_others(words):
    alone = [part for word in words for part in identifier_parts(word).split()]

    assert identifier_parts(" ".join(words)) == " ".join(dict.fromkeys(alone))


BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z]{2})(?=[0-9])")


@given(st.text(alphabet="abcABC012_ ", max_size=35))
def test_borders_are_where_a_pattern_finds_them(text):
    split = [BORDER.split(word) for word in re.findall("[a-zA-Z0-9]+", text)]
    wanted = [part for parts in split if len(parts) > 1 for part in parts]

    assert identifier_parts(text) == " ".join(dict.fromkeys(wanted))


@given(st.text())
def test_any_text_gives_only_pieces_of_itself(text):
    bare = text.replace("_", "")

    assert all(word in bare for word in identifier_parts(text).split(" ") if word)


@given(st.text(alphabet="abAB_01 ", max_size=2000))
def test_dense_borders_give_only_pieces_of_the_text(text):
    bare = text.replace("_", "")

    assert all(word in bare for word in identifier_parts(text).split(" ") if word)
