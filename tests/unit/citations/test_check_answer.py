"""Checks the citations of any answer against its sources."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judge.citations.check import (
    MAX_CITATIONS,
    AnswerSource,
    CheckedAnswer,
    CheckedMark,
    MarkForm,
    check_answer,
)
from judge.citations.claims import makes_claim
from judge.errors import InvalidRequest

BOILER = "Your landlord must keep the boiler and the heating in working order."
NOTICE = "Your landlord must give you at least 24 hours' notice before visiting."
DEPOSIT = "The deposit must be returned within ten days of the end of the tenancy."
SOURCES = (AnswerSource(f"# Repairs\n\n{BOILER}\n\n- {NOTICE}", "Guide"), AnswerSource(DEPOSIT))
COUNCIL = "The council can fine any landlord who ignores repairs."

TEXTS = st.text(max_size=200) | st.lists(
    st.sampled_from(
        (BOILER, NOTICE, DEPOSIT, COUNCIL, "[1]", " [2, 1] ", "[9]", "[1a]", '<cite i="2"/>',
         "<cite>", "【1】", "\n", "- ", "# ", "Is it?", "[", "<", "not ", "é😀 ", ". ")
    ),
    max_size=12,
).map("".join)  # fmt: skip
FORMS = st.sampled_from([None, "brackets", "cite"])


def check(answer: str, marks: MarkForm | None = None) -> CheckedAnswer:
    return check_answer(answer, SOURCES, marks)


def uncited(answer: str) -> list[str]:
    return [answer[claim.start : claim.end] for claim in check(answer).uncited]


def test_citation_has_its_supporting_sentence_and_score() -> None:
    answer = f"😀 {BOILER[:-1]} [1]."
    [mark] = check(answer).marks
    start = answer.index("[1]")
    assert mark == CheckedMark(1, start, start + 3, True, BOILER, 1.0, False)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (f"{BOILER} [1] {DEPOSIT} [2]", "supported"),
        (f"Hi! You are right to be upset. {BOILER} [1] Write to them. Is it fair?", "supported"),
        (f"{DEPOSIT} [1][2]", "supported"),
        (f"{BOILER} [1] {DEPOSIT} [1]", "partly"),
        (f"{BOILER} [1] {COUNCIL}", "partly"),
        (f"{BOILER[:-1]} [1], and {DEPOSIT[:-1]} [2].", "supported"),
        (f"{BOILER[:-1]} [1], and {COUNCIL[:-1]} [2].", "partly"),
        (f"{BOILER[:-1]} [1], but the deposit must be returned within thirty days [2].", "partly"),
        ("They [2], the landlords, must keep the boiler in working order [1].", "supported"),
        (f"{BOILER} [1] The deposit must not be returned within ten days [2].", "partly"),
        (f"{DEPOSIT} [1]", "unsupported"),
        ("The deposit must not be returned within ten days of the end of the tenancy [2].",
         "unsupported"),
        (BOILER, "unsupported"),
        ("Yes [1].", "unsupported"),
        ("", "unsupported"),
        (f"{BOILER} [1] {DEPOSIT} [3]", "broken"),
        (f"{BOILER} [0]", "broken"),
        (f"{BOILER} [1a]", "unsupported"),
        (f"{BOILER} <cite i='x'/>", "broken"),
    ],
)  # fmt: skip
def test_the_verdict_is_of_the_whole(answer: str, verdict: str) -> None:
    assert check(answer).verdict == verdict


@pytest.mark.parametrize(
    "answer",
    [
        f"{BOILER}\n\n[1]",
        f"{BOILER} \n\n- [1]\n- [2]\n",
        f"| duty | source |\n|---|---|\n| {BOILER} | [1] |",
        f"{BOILER}\n\n<cite i='1'/>",
        f"{BOILER[:-1]} [1](https://example.org/a_(b)/terms?page=2).",
        f'{BOILER[:-1]} [[1]](https://example.org/ "The council").',
        f"{BOILER[:-1]} [1](#ref-1).",
        f'<cite i="1">{BOILER[:-1]}</cite>.',
        f'{BOILER[:-1]} <cite i="1"></CITE >.',
    ],
)
def test_claim_has_the_words_beside_the_citation_without_urls_and_tags(answer: str) -> None:
    found = check(answer)
    assert found.marks[0].sentence == BOILER
    assert (found.marks[0].support or 0.0) > 0.99
    assert (found.uncited, found.verdict) == ((), "supported")


@pytest.mark.parametrize(
    "listed",
    [
        "References:\n[1] https://a.example/repairs\n[2] https://a.example/deposits",
        "## Sources\n\n1. [1] Repairs in rented homes. All about them.\n2. [2] [Deposits](/x)\n",
        '**Sources**\n- <cite i="1"/> Keeping a rented home in repair\n',
        '[1]: https://a.example/repairs "Repairs in rented homes"\n[2]: <https://a.example>\n\n',
        "[^1]: Repairs in rented homes, GOV.UK, 2024.\n[^2]: What councils may do, 2023.",
        "Sources used:\n1. All about repairs in rented homes https://a.example/1\n2. [2] Councils",
        "References\n1. GOV.UK – Repairs in rented homes [1]\n2. What councils may do [2]",
        "### Footnotes\n[1] Repairs in rented homes and gardens\n[2] What councils may do",
    ],
)
def test_a_list_of_sources_at_the_end_makes_no_claims(listed: str) -> None:
    found = check(f"{BOILER[:-1]} [1].\n\n{listed}")
    assert (found.verdict, found.uncited) == ("supported", ())
    assert found.marks[0].support == 1.0
    assert len(found.marks) > 1
    assert {mark.support for mark in found.marks[1:]} == {None}


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (f"{BOILER[:-1]} [1].\n\nSources\n[3] Nobody knows", "broken"),
        (f"{BOILER[:-1]} [1].\n\n[2] {COUNCIL}", "partly"),
        (f"{BOILER[:-1]} [1].\n\nSources\n[2] Deposits\n\n{COUNCIL}", "partly"),
        (f"{BOILER[:-1]} [1].\n\n[1]: {COUNCIL}", "partly"),
    ],
)
def test_text_that_resembles_a_list_of_sources_is_checked(answer: str, verdict: str) -> None:
    assert check(answer).verdict == verdict


@pytest.mark.parametrize(
    "text",
    [
        "```python\ncouncil = fine(landlord, repairs)\n```",
        "~~~\nThe council can fine any landlord.\n~~~",
        "```\nThe council can fine any landlord.",
        "| what councils | can fine landlords |\n| :-- | --: |",
        "What councils do to bad landlords\r\n---\r\n",
        "What councils do to bad landlords\n=====",
        "**What councils do to bad landlords**",
        "__What councils do to bad landlords__",
        "---\n*This is not legal advice from a solicitor.*",
        "**Next step:** write to the council about your landlord.",
    ],
)
def test_code_headings_disclaimers_and_labelled_advice_make_no_claim(text: str) -> None:
    assert uncited(f"{BOILER} [1]\n\n{text}") == []
    assert uncited(f"{text}\n\n") == []


@pytest.mark.parametrize(
    "text",
    [
        f"```\ncode\n```\n{COUNCIL}",
        f"```The``` {COUNCIL}",
        f"{COUNCIL}\n---",
        f"**{COUNCIL}**",
        f"**Fines:** {COUNCIL}",
        f"{COUNCIL}\n- -",
        f"{COUNCIL}\n\n| a | b |\n|---|---|",
    ],
)
def test_a_claim_beside_code_and_in_bold_type_is_one(text: str) -> None:
    assert [COUNCIL in claim for claim in uncited(text)] == [True]


def test_only_the_given_citation_format_is_recognised() -> None:
    assert check(f'{BOILER} <cite i="1"/> See a[0].', "cite").verdict == "supported"
    assert check(f'{BOILER} <cite i="1"/> See a[0].').verdict == "broken"
    assert check(f'{BOILER} <cite i="1"/>', "brackets").marks == ()
    assert check(f"{BOILER} [1]", "cite").marks == ()


@pytest.mark.parametrize(
    "sentence",
    [
        COUNCIL,
        "You must give 24 hours' notice before visiting.",
        "You have the right to cancel within 14 days.",
        "You can claim for unfair dismissal within three months.",
        "Rents rose by ten percent in London.",
        "The law gives tenants six months.",
    ],
)
def test_a_fact_about_the_world_is_a_claim(sentence: str) -> None:
    assert makes_claim(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "# Repairs in rented homes",
        "Does the landlord have to repair the boiler?",
        "Hello and welcome to this long letter!",
        "Thanks for sharing the whole story of the boiler.",
        "I think the landlord treats tenants badly.",
        "You're right to be upset about the broken boiler.",
        "I'm sure that it's quite fair to ask your landlord for repairs.",
        "Write to the landlord and keep copies of letters.",
        "Landlords of rented homes have these duties:",
        "(Does the landlord “have to repair the boiler?”)",
        "*Does the landlord have to repair the boiler?*_",
        "Yes, they must.",
        "",
        "…",
    ],
)
def test_sentence_without_a_fact_is_not_a_claim(sentence: str) -> None:
    assert not makes_claim(sentence)


def test_too_many_citations_are_refused() -> None:
    sources = [AnswerSource(BOILER)] * 50
    fits = "Boilers must work [1-20]. " * (MAX_CITATIONS // 20)
    assert check_answer(fits, sources).verdict != "broken"
    with pytest.raises(InvalidRequest) as refused:
        check_answer(f"{fits} Boilers must work [1].", sources)
    assert str(refused.value) == (
        "The answer has 501 citations, and at most 500 can be checked at once. Check it in parts."
    )


@given(TEXTS, FORMS)
@example('<cite i="1"/>', None)
@example("[1.\n2]", None)
def test_any_text_is_checked_deterministically_with_valid_positions(
    answer: str, marks: MarkForm | None
) -> None:
    found = check(answer, marks)
    assert found == check(answer, marks)
    places = [(one.start, one.end) for one in (*found.marks, *found.uncited)]
    assert all(0 <= start < end <= len(answer) for start, end in places)
    for mark in found.marks:
        assert mark.in_range == (mark.number in {1, 2})
        assert mark.support is None or 0.0 <= mark.support <= 1.0
        assert mark.sentence is None or mark.sentence in SOURCES[(mark.number or 0) - 1].text
        assert answer[mark.start] in "[【<" or not mark.in_range
    assert (found.verdict == "broken") == any(not mark.in_range for mark in found.marks)


def test_a_source_without_a_full_stop_is_read_in_parts() -> None:
    endless = "and so on, " * 10_000
    source = AnswerSource(f"{endless}{BOILER.removesuffix('.')}, {endless}")
    [mark] = check_answer(f"{BOILER} [1]", [source]).marks
    assert mark.support is not None
    assert mark.support > 0.5
    assert mark.sentence is not None
    assert len(mark.sentence) <= 2000


@pytest.mark.parametrize("space", ["\n", "  ", "\u00a0", "\t"])
def test_a_source_may_be_wrapped_anywhere(space: str) -> None:
    said = "The fine is no more than $5 billion, within 14 days of 6 April 2024."
    wrapped = AnswerSource(said.replace(" ", space))
    [mark] = check_answer(f"{said[:-1]} [1].", [wrapped]).marks
    assert (mark.support, mark.contradicts) == (1.0, False)


@pytest.mark.parametrize(
    "written",
    [
        "They _cannot_ be dismissed with no more than **14** days of notice",
        "They cannot be dismissed with *no* more than 14 __days__ of notice",
        "They cannot be [dismissed](https://a.example/x_(1)) with no more than 14 days of notice",
        "They can\u00adnot be dismissed with\x02 no more than 14 days of notice",
    ],
)
def test_emphasis_links_and_invisible_characters_change_no_words(written: str) -> None:
    said = "They cannot be dismissed with no more than 14 days of notice."
    texts = [(f"{written} [1].", said), (f"{said[:-1]} [1].", f"{written}.")]
    for answer, source in texts[: 1 if "https" in written else 2]:
        [mark] = check_answer(answer, [AnswerSource(source)]).marks
        assert (mark.support, mark.contradicts) == (1.0, False)
        assert answer[mark.start : mark.end] == "[1]"
