import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.index_tokens import identifier_parts


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
    ],
)
def test_names_written_as_one_word_give_their_parts(text, further):
    assert identifier_parts(text) == further


@given(st.lists(st.text(alphabet="abAB01é?_\ud800", max_size=12)))
def test_words_give_the_same_alone_and_among_others(words):
    alone = [part for word in words for part in identifier_parts(word).split()]

    assert identifier_parts(" ".join(words)) == " ".join(dict.fromkeys(alone))
