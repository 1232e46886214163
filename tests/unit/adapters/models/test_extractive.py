"""The model that only quotes: what it chooses, and that its replies pass our own checks."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judge.adapters.models.extractive import MAX_QUOTE_CHARS, ExtractiveModel
from judge.judging.verdicts.check import ReplyCheck, check_reply
from judge.text.english import source_sentences
from judge.text.untrusted import safe_text
from judge.types.references import Reference
from judge.types.replies import ModelReply, Persona, Prompt
from judge.types.requests import JudgeRequest

PERSONAS = tuple(Persona(name, "a brief") for name in ("Therapist", "Analyst", "Coach"))
REQUEST = JudgeRequest(
    context="The boiler broke in January and the landlord says that spring is soon enough.",
    query="Am I unreasonable to expect the landlord to repair the boiler within a fortnight?",
)
REPAIRS = (
    "Who has to repair the boiler? The council collects the rubbish every Tuesday. "
    "Your landlord must repair the boiler within a reasonable time. Keep all receipts for later. "
    "Ask for the gas certificate, e.g. The blue one. It often costs £20.50 or more a week."
)


def make_reference(number: int, text: str, title: str = "Repairs") -> Reference:
    fetched_at = datetime(2026, 1, 1, tzinfo=UTC)
    return Reference(
        number, "page", f"https://example.org/{number}", title, safe_text(text), fetched_at
    )


def references(*texts: str) -> tuple[Reference, ...]:
    return tuple(make_reference(number, text) for number, text in enumerate(texts, 1))


def complete(
    *given: Reference,
    request: JudgeRequest = REQUEST,
    personas: tuple[Persona, ...] = PERSONAS,
) -> ModelReply:
    prompt = Prompt("instructions", "text", request, given, personas)
    return asyncio.run(ExtractiveModel().complete(prompt, timeout_s=1, doubles_limit=False))


def answer(*given: Reference, request: JudgeRequest = REQUEST) -> dict:
    return json.loads(complete(*given, request=request).text)


def check(reply: ModelReply, *given: Reference) -> ReplyCheck:
    prompt = Prompt("instructions", "text", REQUEST, given, PERSONAS)
    return check_reply(reply, prompt, needs_verdicts=False)


def rules(checked: ReplyCheck) -> set[str]:
    return {defect.rule for defect in checked.defects}


def test_the_sentence_that_answers_best_comes_first():
    summary = answer(*references(REPAIRS))["summary"]

    first, _, _ = summary.partition("[1]")
    assert first.endswith("“Your landlord must repair the boiler within a reasonable time” ")


def test_a_word_of_the_question_counts_more_than_one_of_the_story():
    request = JudgeRequest(context="The apples were green.", query="Who owns the pears?")

    reply = answer(*references("Some apples are sweet. Some pears are sweet."), request=request)

    assert reply["summary"].index("pears") < reply["summary"].index("apples")


def test_a_whole_sentence_before_another_passage_is_not_quoted_as_if_it_went_on():
    reply = answer(*references("Your landlord must repair the boiler. … Tell them in writing."))

    assert "“Your landlord must repair the boiler” [1]" in reply["summary"]


def pointed(reply: dict, *given: Reference) -> list[str]:
    """The sentences that a reply names."""
    return [
        source_sentences(given[pointer["number"] - 1].text)[at - 1]
        for pointer in reply["quotes"]
        for at in pointer["sentences"]
    ]


def test_there_is_no_verdict_and_the_summary_says_why():
    reply = answer(*references(REPAIRS))

    assert [persona["verdict"] for persona in reply["personas"]] == [None, None, None]
    assert "no language model is configured" in reply["summary"]


def test_without_references_it_says_that_there_is_nothing_to_quote():
    reply = complete()

    assert "no reference on this to quote" in json.loads(reply.text)["summary"]
    assert json.loads(reply.text)["references_help"] is False
    assert json.loads(reply.text)["quotes"] == []
    assert (check(reply).reply.evidence, check(reply).defects) == ("none", ())


@pytest.mark.parametrize("text", ["Short.", "[1] [2]", "...", "a" * 2000])
def test_references_with_nothing_to_quote_break_no_hard_rule(text):
    given = references(text)

    checked = check(complete(*given), *given)

    assert checked.reply is not None
    assert checked.reply.citations == ()


def test_what_looks_like_a_citation_in_a_page_is_quoted_in_parentheses():
    reply = answer(*references("You must pay the rent [7] on time 【9】 every month. Do it soon."))

    assert "[7]" not in json.dumps(reply)
    assert "“You must pay the rent (7) on time (9) every month” [1]." in reply["summary"]


def test_a_long_sentence_is_cut_at_a_word_and_still_stands_in_the_page():
    text = "The landlord " + "really " * 100 + "must repair it."

    reply = answer(*references(text))

    quoted = reply["summary"].split("“")[1].split(" …”")[0]
    assert quoted in text
    assert quoted.endswith("really")
    assert len(quoted) <= MAX_QUOTE_CHARS
    assert reply["quotes"] == [{"number": 1, "sentences": [1]}]


def test_the_end_of_a_snippet_is_shown_as_cut():
    summary = answer(*references("Your landlord must repair the..."))["summary"]

    assert "“Your landlord must repair the …” [1]." in summary


def test_a_sentence_on_two_pages_is_quoted_once():
    same = "Your landlord must repair the boiler."

    assert [quote["number"] for quote in answer(*references(same, same))["quotes"]] == [1]


def test_every_sentence_that_is_cited_is_named_and_no_other():
    given = references(REPAIRS, "Councils can order your landlord to repair things.")
    reply = answer(*given)

    named = pointed(reply, *given)
    said = reply["summary"] + "".join(persona["rationale"] for persona in reply["personas"])
    assert len(named) == len(set(named)) == said.count("“") == 5
    assert all(f"“{sentence.rstrip('.?')}”" in said for sentence in named)


def test_key_points_lead_to_the_page_by_its_title():
    reply = answer(make_reference(1, REPAIRS, "Repairs [England] in rented homes."))

    assert (
        "Read it in full: Repairs [England] in rented homes." in reply["personas"][0]["key_points"]
    )


def test_a_bracket_that_spans_two_quoted_sentences_takes_in_no_citation():
    given = references(
        "The landlord must repair the boiler [as amended. Tell your landlord of the boiler first]."
    )

    reply = complete(*given)

    assert check(reply, *given).defects == ()
    assert json.loads(reply.text)["summary"].endswith(
        " “The landlord must repair the boiler (as amended” [1]."
        " “Tell your landlord of the boiler first)” [1]."
    )


SENTENCES = st.lists(
    st.text(st.sampled_from("ab []{}<>【】⟦«».?!…“”()'£12,-\u00a0é&#;\\"), max_size=60)
    | st.sampled_from([REPAIRS, "[1]", "<REFERENCES>", "x " * 300, "&#91;", "if a < b", "c > d"]),
    max_size=6,
).map(" ".join)
REQUESTS = st.builds(
    JudgeRequest,
    context=st.text(min_size=10, max_size=200).map(lambda text: f"context {text}."),
    query=(st.text(min_size=5, max_size=900) | SENTENCES).map(lambda text: f"why? {text[:900]}."),
)


@given(REQUESTS, st.lists(SENTENCES, max_size=3))
@example(REQUEST, ["1;1 1⟦", "1⟦a】】1"])
@example(REQUEST, ["1 &#91; é}1;1 x y"])
def test_no_dispute_and_no_page_make_a_reply_that_breaks_a_hard_rule_or_a_limit(dispute, texts):
    given = references(*texts)

    checked = check(complete(*given, request=dispute), *given)

    assert checked.reply is not None, checked.defects
    # What the pages and the dispute repeat or number themselves is theirs.
    assert rules(checked) <= {"bare", "repetition"}
    assert {citation.quote_status for citation in checked.reply.citations} <= {"verified"}
    assert not any(citation.contradicts for citation in checked.reply.citations)


def test_only_the_two_best_pages_that_fit_clearly_are_quoted_and_every_passage():
    pages = references(*(f"The landlord repairs the boiler of house {n}." for n in range(1, 5)))
    own = replace(make_reference(5, "My landlord repairs the boiler at once."), kind="passage")

    for doubtful, expected in ((), {1, 2, 5}), ((2, 3), {1, 4, 5}), ((1, 2, 3, 4), {5}):
        prompt = Prompt("", "", REQUEST, (*pages, own), PERSONAS, doubtful=frozenset(doubtful))
        reply = asyncio.run(ExtractiveModel().complete(prompt, timeout_s=1, doubles_limit=False))
        assert {quote["number"] for quote in json.loads(reply.text)["quotes"]} == expected
