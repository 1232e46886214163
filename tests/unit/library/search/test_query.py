import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.library.search.query import parse_query


def test_plain_words_are_lowered_and_lose_stop_words_but_no_repeats():
    query = parse_query("How does ROS 2 handle the node, and Node communication?")

    assert query.words == ("ros", "2", "handle", "node", "node", "communication")


def test_contraction_of_a_stop_word_is_a_stop_word():
    assert parse_query("what's wrong? I'm sure it's the user's").words == ("wrong", "sure", "user")


@pytest.mark.parametrize(
    "text",
    [
        '"Section 21 notice"',
        "“Section 21 notice”",
        'find +"Section 21 notice" now',
        'find "Section 21 notice" -gas',
    ],
)
def test_query_that_is_a_phrase_or_has_operators_is_a_command(text):
    query = parse_query(text)

    assert query.phrases == ("section 21 notice",)
    assert query.words == (
        ("find", "now") if "now" in text else ("find",) if "find" in text else ()
    )


@pytest.mark.parametrize("text", ['find "Section 21 notice" now', "find “Section 21 notice” now"])
def test_quoted_words_among_others_are_not_required(text):
    query = parse_query(text)

    assert query.phrases == ()
    assert query.words == ("find", "section", "21", "notice", "now")


def test_signs_in_a_long_text_are_not_operators():
    story = "the tar command takes the option -x and others such as -v for each file "
    query = parse_query(story + 'that it is to "take out" of the archive')

    assert (query.phrases, query.excluded) == ((), ())
    assert "v" in query.words


@pytest.mark.parametrize(
    ("text", "ranked"),
    [
        ("e-mail", ("email", "mail")),
        ("Wi\u2011Fi in the U.K.", ("wifi", "fi", "uk")),
        ("co-operate or sub-let", ("cooperate", "operate", "sublet")),
        ("£1,200, a week", ("1200", "week")),
        ("1.250,00 € or 1'250 CHF", ("1250", "00", "1250", "chf")),
        ("below -18 °C", ("below", "18", "c")),
        ("gas-safe and well-known 30-day", ("gas", "safe", "well", "known", "30", "day")),
        ("iso27001", ("iso27001", "iso", "27001")),
        ("10kg 2pm", ("10kg", "2pm", "10", "kg", "2", "pm")),
        ("3rd floor 21st", ("3rd", "floor", "21st")),
        ("git commit -m message", ("git", "commit", "m", "message")),
    ],
)
def test_what_others_write_as_one_word_or_two_is_searched_by_both(text, ranked):
    assert parse_query(text).words == ranked
    assert parse_query(text).excluded == ()


@pytest.mark.parametrize(
    ("text", "ranked"),
    [
        ("l'appartement", ("appartement",)),
        ("s’abonner à l’école", ("abonner", "à", "école")),
        ("O'Neill's lease", ("neill", "lease")),
        ("the tenants' deposit isn't", ("tenants", "deposit")),
        ("dell'articolo", ("articolo",)),
    ],
)
def test_longest_part_of_a_word_with_an_apostrophe_is_searched(text, ranked):
    assert parse_query(text).words == ranked


@pytest.mark.parametrize(
    ("text", "ranked"),
    [
        ("租金什么时候付？", ("租金", "付")),
        ("可以养宠物吗", ("养宠物",)),
        ("什么", ("什么",)),
        ("家賃はいくらですか", ("家賃は",)),
        ("월세는 언제 납부", ("월세는", "납부")),
        ("いつもの鍵", ("いつもの鍵",)),
    ],
)
def test_what_asks_in_scripts_without_spaces_is_a_stop_word(text, ranked):
    assert parse_query(text).words == ranked


def test_minus_excludes_a_word_or_a_phrase():
    query = parse_query('boiler -gas -"hot water" -2023 well-known')

    assert set(query.excluded) == {"gas", "hot water", "2023"}
    assert query.words == ("boiler", "well", "known")


@pytest.mark.parametrize("text", ['say "hello', "hello -", '- "hello', 'hello ""'])
def test_unclosed_quote_lone_dash_and_empty_quote_are_plain_text(text):
    query = parse_query(text)

    assert "hello" in query.words
    assert query.phrases == query.excluded == ()


def test_camel_case_name_is_also_searched_by_its_parts():
    assert parse_query("call getUserId").words == ("call", "getuserid", "user", "id")
    assert parse_query("GitHub").words == ("github",)


@pytest.mark.parametrize("text", ["", "   ", "-gas", "?!", '"..."'])
def test_query_without_words_is_empty(text):
    assert parse_query(text).is_empty


@given(st.text())
def test_any_text_is_a_query_whose_words_are_single_tokens(text):
    query = parse_query(text)

    assert query.text == text
    assert all(word and not word.isspace() and "_" not in word for word in query.words)
    assert all(phrase.strip() == phrase != "" for phrase in query.phrases + query.excluded)
