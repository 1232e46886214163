"""The rules that a reply must keep, in their order."""

import json
from typing import Any

import pytest

from judge.judging.prompts import render_prompt
from judge.judging.verdicts.check import ReplyCheck, check_reply
from judge.types.replies import ModelReply, Persona
from tests.unit.judging.verdicts.replies import (
    REQUEST,
    check,
    good_reply,
    persona,
    personas,
    reference,
    rules,
)

REPAIRS = (
    "Your landlord is always responsible for repairs to boilers, pipes and wiring. "
    "Gas appliances must be checked every year by an engineer."
)
DEPOSITS = "A deposit must be put in a protected scheme within 30 days of being paid."
REFERENCES = (reference(1, REPAIRS), reference(2, DEPOSITS))
RESPONSIBLE, CHECKED_YEARLY = (
    "Your landlord is always responsible for repairs to boilers, pipes and wiring.",
    "Gas appliances must be checked every year by an engineer.",
)


def pointing(*sentences: int, number: int = 1) -> list[dict[str, Any]]:
    return [{"number": number, "sentences": list(sentences)}]


def judged(references: tuple[Any, ...] = REFERENCES, **changes: Any) -> ReplyCheck:
    changes = {
        "summary": "The landlord is responsible for repairs to boilers [1].",
        "quotes": pointing(1),
    } | changes
    return check(good_reply(**changes), references)


def test_good_reply_has_no_defects_and_located_citations() -> None:
    checked = judged()
    assert checked.defects == ()
    assert checked.reply is not None
    assert checked.reply.evidence == "grounded"
    (citation,) = checked.reply.citations
    assert (citation.number, citation.field, citation.quote_status) == (1, "summary", "verified")
    assert checked.reply.summary[citation.start : citation.end] == "[1]"
    assert citation.quote == RESPONSIBLE
    assert citation.support is not None
    assert citation.support > 0.95
    assert not citation.contradicts


@pytest.mark.parametrize(
    ("configured", "written"),
    [
        ("Devil's advocate", "Devil’s Advocate"),
        ("Zoe\u0301", "Zo\u00e9"),
        ("Old  friend", "Old friend"),
    ],
)
def test_persona_name_may_be_written_in_other_characters(configured: str, written: str) -> None:
    prompt = render_prompt(REQUEST, REFERENCES, [Persona(configured, "Be fair.")])
    reply = ModelReply(json.dumps(good_reply(personas=[persona(written)])), "model")
    checked = check_reply(reply, prompt)
    assert checked.reply is not None
    assert [one.name for one in checked.reply.personas] == [configured]


def test_text_over_its_limit_is_cut_at_the_end_of_a_sentence_and_not_asked_again() -> None:
    told = "It is cold at home now, with two small children. "
    told += "You wrote to them on Monday and again on Friday. They say that it is on a list. "
    told += "Nobody came by since then, and the pipes are frozen. The neighbours lent a heater."
    points = ["a", "b", f"{'c' * 200} and {'d' * 40}"]
    said = f"{told} It is loud. It smells very bad."
    checked = judged(paraphrase=said, personas=personas(key_points=points))
    assert checked.reply is not None
    assert checked.reply.paraphrase == f"{told} It is loud."
    assert checked.reply.personas[1].key_points[2] == f"{'c' * 200} and…"
    assert [(d.rule, d.field, d.value, d.expected) for d in checked.defects] == [
        ("length", "paraphrase", f"{len(said)} characters", "at most 240 characters"),
        ("length", "personas.1.key_points.2", "245 characters", "at most 240 characters"),
    ]
    assert (checked.asked_again, checked.reply.evidence) == ((), "grounded")


def test_evidence_of_unhelpful_uncited_references_is_not_applicable() -> None:
    checked = judged(summary="Talk to them.", references_help=False, quotes=[])
    assert checked.defects == ()
    assert checked.reply is not None
    assert checked.reply.evidence == "not_applicable"
    assert checked.reply.citations == ()


@pytest.mark.parametrize("sentences", [(), (0,), (3,), (-1,), (10**9,)])
def test_citation_without_an_existing_sentence_has_no_quote(sentences: tuple[int, ...]) -> None:
    checked = judged(quotes=pointing(*sentences))
    assert checked.reply is not None
    (citation,) = checked.reply.citations
    assert (citation.quote, citation.quote_status) == (None, "none")
    assert citation.support is not None
    assert citation.support > 0.95, "support is measured over the whole reference"
    assert checked.reply.evidence == "unverified"
    (defect,) = checked.defects
    assert (defect.rule, defect.field, defect.is_hard) == ("quote", "quotes[1]", False)
    assert defect.value == "no such sentence"
    assert defect.expected == "at least one of the sentences 1 to 2 of reference 1"


def test_each_citation_quotes_the_best_of_several_sentences() -> None:
    checked = judged(
        summary="Repairs to boilers are theirs [1]. Engineers check gas appliances yearly [1].",
        quotes=pointing(1, 2),
    )
    assert checked.reply is not None
    assert [citation.quote for citation in checked.reply.citations] == [RESPONSIBLE, CHECKED_YEARLY]


def test_quote_leaves_out_the_ellipsis_between_passages() -> None:
    checked = judged((reference(1, f"{RESPONSIBLE} … {CHECKED_YEARLY}"),))
    assert checked.reply is not None
    assert checked.reply.citations[0].quote == RESPONSIBLE


def test_each_number_of_a_list_has_the_span_of_the_bracket() -> None:
    quotes = [*pointing(1), *pointing(1, number=2)]
    checked = judged(summary="Both are so [1, 2].", quotes=quotes)
    assert checked.reply is not None
    spans = [(c.number, checked.reply.summary[c.start : c.end]) for c in checked.reply.citations]
    assert spans == [(1, "[1, 2]"), (2, "[1, 2]")]


def test_citation_without_a_named_sentence_does_not_contradict() -> None:
    checked = judged(
        summary="Your landlord is never responsible for repairs to boilers [1].", quotes=[]
    )
    assert rules(checked) == [("quote", "quotes[1]", False)]
    assert checked.reply is not None
    assert not checked.reply.citations[0].contradicts


def test_hard_defects_hide_soft_ones_and_soft_ones_are_listed_together() -> None:
    long = "You want the boiler mended, " + "x" * 213
    assert {rule for rule, _, _ in rules(judged(paraphrase=long, summary="No [9]."))} == {
        "citation"
    }
    said = "It is as reference 9 says."
    soft = rules(judged(paraphrase=long, summary="No.", personas=personas(rationale=said)))
    assert {rule for rule, _, _ in soft} == {"length", "bare", "uncited"}


IN_RANGE = "a number from 1 to 2, as [1]"
WORDING: list[tuple[dict[str, Any], list[tuple[str, str, str, str, bool]]]] = [
    ({"summary": "Yes [9]."}, [("citation", "summary", "[9]", IN_RANGE, True)]),
    (
        {"summary": "Yes [1], [1a]."},
        [("unclear", "summary", "[1a]", "only numbers in brackets, as [1]", False)],
    ),
    (
        {"personas": personas(headline="It is theirs [7].")},
        [("citation", "personas.1.headline", "[7]", IN_RANGE, True)],
    ),
    ({"summary": "No."}, [("uncited", "summary", "no citation", "at least one [n]", False)]),
    (
        {"paraphrase": "p" * 299 + "."},
        [("length", "paraphrase", "300 characters", "at most 240 characters", False)],
    ),
    (
        {"paraphrase": "They wait [1]."},
        [("misplaced", "paraphrase", "[1]", "no citation in this text", True)],
    ),
    (
        {"summary": "Repairs to boilers are theirs [1], as source nine says."},
        [
            (
                "bare", "summary", "source nine",
                "no reference that is not there, and citations as [1]", False,
            )
        ],
    ),
    (
        {"summary": "Repairs to boilers are theirs: “within a day of your letter” [1]."},
        [
            (
                "misquoted", "summary", "“within a day of your letter”",
                "words of a reference or of the dispute in quotation marks", False,
            )
        ],
    ),
    (
        {"paraphrase": "You want it mended; see www.a.example/law."},
        [
            (
                "address", "paraphrase", "www.a.example/law",
                "no address or number that is in no reference and not in the dispute", False,
            )
        ],
    ),
    (
        {"quotes": []},
        [
            (
                "quote", "quotes[1]", "no such sentence",
                "at least one of the sentences 1 to 2 of reference 1", False,
            )
        ],
    ),
    (
        {"personas": []},
        [("personas", "personas", "", "in order: Therapist, Analyst, Coach", True)],
    ),
    (
        {"personas": personas(verdict=None)},
        [("verdict", "personas.1.verdict", "null", "Yes, No or Partially", True)],
    ),
    (
        {"paraphrase": "You, you, you, yes."},
        [("repetition", "paraphrase", "You, you, you, yes.", "a text that repeats nothing", False)],
    ),
    (
        {"personas": personas(rationale=persona("Therapist")["rationale"])},
        [
            (
                "repetition", "personas.1.rationale", "the same text as before",
                "a text that repeats nothing", False,
            )
        ],
    ),
    (
        {"personas": personas(key_points=["Write", "Wait", "write!"])},
        [
            (
                "repetition", "personas.1.key_points.2", "the same text as before",
                "a text that repeats nothing", False,
            )
        ],
    ),
    (
        {"summary": "The landlord is not responsible for repairs to boilers [1]."},
        [("contradicts", "summary", "[1]", "what reference 1 says, not its opposite", False)],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        "Sie haben recht. Sagen Sie ihm: „Bitte reparieren Sie die Heizung bis Freitag“ [1].",
        "Vous avez raison : il doit réparer « dans un délai raisonnable » la chaudière [1].",
        "Nie, właściciel musi naprawić kocioł „w rozsądnym terminie po zgłoszeniu” [1].",
    ],
)
def test_quotation_in_another_language_than_the_references_is_not_looked_up(said: str) -> None:
    assert judged(summary=said).defects == ()


@pytest.mark.parametrize(("changes", "told"), WORDING)
def test_defect_has_its_rule_field_value_and_expectation(
    changes: dict[str, Any], told: list[tuple[str, str, str, str, bool]]
) -> None:
    found = judged(**changes).defects
    assert [(d.rule, d.field, d.value, d.expected, d.is_hard) for d in found] == told
