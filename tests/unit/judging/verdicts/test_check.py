"""The rules a reply must pass, in their order."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judging.prompts.personas import DEFAULT_PERSONAS
from judge.judging.verdicts.check import Checked, check_reply
from judge.judging.verdicts.reply_schema import LONGEST_REPLY, reply_schema
from judge.types.judgements import ModelReply, Reference

REPAIRS = "Your landlord is always responsible for repairs to boilers, pipes and wiring."
DEPOSITS = "A deposit must be put in a protected scheme within 30 days of being paid."


def reference(number: int, text: str) -> Reference:
    when = datetime(2026, 1, 15, tzinfo=UTC)
    return Reference(number, "page", f"https://a.example/{number}", "A", text, when, stale=False)


REFERENCES = (reference(1, REPAIRS), reference(2, DEPOSITS))


def reply(**changes: Any) -> dict[str, Any]:
    return {
        "paraphrase": "You want the boiler mended.",
        "personas": [persona("Therapist"), persona("Analyst"), persona("Coach")],
        "summary": "The landlord is responsible for repairs to boilers [1].",
        "quotes": [{"number": 1, "quote": "always responsible for repairs to boilers"}],
    } | changes


def persona(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "verdict": "No",
        "rationale": "You asked politely.",
        "key_points": ["one", "two", "three"],
    } | changes


def personas(**changes: Any) -> list[dict[str, Any]]:
    return [persona("Therapist"), persona("Analyst", **changes), persona("Coach")]


def check(
    document: Mapping[str, Any] | str,
    references: tuple[Reference, ...] = REFERENCES,
    **options: Any,
) -> Checked:
    text = document if isinstance(document, str) else json.dumps(document)
    return check_reply(
        ModelReply(text, "m"), personas=DEFAULT_PERSONAS, references=references, **options
    )


def rules(checked: Checked) -> list[tuple[str, str, bool]]:
    return [(defect.rule, defect.field, defect.is_hard) for defect in checked.defects]


def test_a_good_reply_has_no_defect_and_its_citations_are_located() -> None:
    checked = check(reply())
    assert checked.defects == ()
    assert checked.reply is not None
    assert checked.reply.evidence == "grounded"
    (citation,) = checked.reply.citations
    assert (citation.number, citation.field, citation.quote_status) == (1, "summary", "verified")
    assert checked.reply.summary[citation.start : citation.end] == "[1]"
    assert citation.quote == "always responsible for repairs to boilers"
    assert citation.support == 1.0


@pytest.mark.parametrize(
    "fenced", ["```json\n{}\n```", "```\n{}```", "\ufeff{}", "\n  {}\n", "```JSON\r\n{}\r\n```\n"]
)
def test_one_fence_of_code_is_taken_off(fenced: str) -> None:
    assert check(fenced.replace("{}", json.dumps(reply()))).defects == ()


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "[]", '"text"', "{", '{"paraphrase": "cut', "```json\n```json\n{}\n```\n```",
        "Here you are: {}", '{"a": NaN}', '{"summary": "\\ud800"}', "[" * 5000, "{}{}",
        " " * (LONGEST_REPLY + 1), "<REFERENCES>\n[1] x\n</REFERENCES>",
    ],
)  # fmt: skip
def test_what_is_not_one_json_object_is_a_hard_defect(text: str) -> None:
    checked = check(text)
    assert checked.reply is None
    assert rules(checked) == [("json", "reply", True)]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"paraphrase": ""}, "paraphrase"),
        ({"paraphrase": " \u200b "}, "paraphrase"),
        ({"paraphrase": "x" * 481}, "paraphrase"),
        ({"summary": "x" * 1921}, "summary"),
        ({"summary": None}, "summary"),
        ({"personas": "none"}, "personas"),
        ({"personas": personas(rationale="x" * 1921)}, "personas.1.rationale"),
        ({"personas": personas(key_points=["a", "b"])}, "personas.1.key_points"),
        ({"personas": personas(key_points=["a", "b", "c", "d"])}, "personas.1.key_points"),
        ({"personas": personas(key_points=["a", "b", ""])}, "personas.1.key_points.2"),
        ({"personas": personas(verdict="Maybe")}, "personas.1.verdict"),
        ({"personas": personas(verdict="yes")}, "personas.1.verdict"),
        ({"quotes": [{"number": "one", "quote": "x"}]}, "quotes.0.number"),
        ({"quotes": "always"}, "quotes"),
    ],
)
def test_a_wrong_shape_is_a_hard_defect_that_names_the_field(
    changes: dict[str, Any], field: str
) -> None:
    checked = check(reply(**changes))
    assert checked.reply is None
    assert rules(checked) == [("shape", field, True)]


def test_a_missing_field_is_named() -> None:
    document = reply()
    del document["summary"]
    assert rules(check(document)) == [("shape", "summary", True)]


@pytest.mark.parametrize(
    "names", [["Analyst", "Therapist", "Coach"], ["Therapist", "Analyst"], ["A", "B", "C"], []]
)
def test_the_personas_must_be_the_three_in_order(names: list[str]) -> None:
    checked = check(reply(personas=[persona(name) for name in names]))
    assert rules(checked) == [("personas", "personas", True)]


def test_a_null_verdict_is_a_defect_only_for_a_model_that_judges() -> None:
    document = reply(personas=personas(verdict=None))
    assert rules(check(document)) == [("verdict", "personas.1.verdict", True)]
    assert check(document, needs_verdicts=False).defects == ()


def test_unknown_fields_are_left_behind() -> None:
    assert check(reply(confidence=0.9, personas=personas(mood="bad"))).defects == ()


@pytest.mark.parametrize(
    "mark", ["[0]", "[-1]", "[3]", "[2024]", "[1, 3]", "[1-3]", "【9】", "[^1]"]
)
@pytest.mark.parametrize("field", ["summary", "personas.1.rationale"])
def test_a_citation_of_what_is_not_there_is_a_hard_defect(mark: str, field: str) -> None:
    text = f"They are responsible [1] and so on {mark}."
    changes = {"summary": text} if field == "summary" else {"personas": personas(rationale=text)}
    checked = check(reply(**changes))
    assert checked.reply is None
    assert rules(checked) == [("citation", field, True)]
    assert checked.defects[0].value == mark
    assert "1 to 2" in checked.defects[0].expected


def test_without_references_any_citation_is_a_hard_defect() -> None:
    assert rules(check(reply(), ())) == [("citation", "summary", True)]


def test_without_references_there_is_no_evidence_to_look_for() -> None:
    checked = check(reply(summary="Talk to them.", quotes=None), ())
    assert checked.defects == ()
    assert checked.reply is not None
    assert checked.reply.evidence == "none"


def test_a_text_over_its_limit_is_a_soft_defect() -> None:
    long = "You want the boiler mended. " * 9
    checked = check(reply(paraphrase=long, personas=personas(key_points=["a", "b", "c " * 121])))
    assert checked.reply is not None
    assert rules(checked) == [
        ("length", "paraphrase", False),
        ("length", "personas.1.key_points.2", False),
    ]


def test_a_text_at_its_limit_is_fine() -> None:
    assert check(reply(paraphrase="é" * 240)).defects == ()


def test_a_summary_that_cites_nothing_is_missing_evidence() -> None:
    checked = check(reply(summary="The landlord must repair it."))
    assert checked.reply is not None
    assert checked.reply.evidence == "missing"
    assert rules(checked) == [("uncited", "summary", False)]


def test_an_invented_quote_is_unverified_and_left_out() -> None:
    checked = check(reply(quotes=[{"number": 1, "quote": "must pay you fifty pounds a day"}]))
    assert checked.reply is not None
    assert checked.reply.evidence == "unverified"
    assert [(c.quote, c.quote_status) for c in checked.reply.citations] == [(None, "unverified")]
    assert rules(checked) == [("quote", "quotes[1]", False)]


def test_a_citation_without_a_quote_says_none() -> None:
    checked = check(reply(quotes=[]))
    assert checked.reply is not None
    assert checked.reply.citations[0].quote_status == "none"
    assert checked.reply.evidence == "unverified"


def test_the_best_of_several_quotes_counts() -> None:
    quotes = [
        {"number": 1, "quote": "an invented thing altogether here"},
        {"number": 1, "quote": "responsible for repairs to boilers"},
    ]
    checked = check(reply(quotes=quotes))
    assert checked.reply is not None
    assert checked.reply.citations[0].quote_status == "verified"


def test_of_several_good_quotes_each_citation_gets_the_one_it_says() -> None:
    quotes = [
        {"number": 1, "quote": "always responsible for repairs"},
        {"number": 1, "quote": "boilers, pipes and wiring"},
    ]
    checked = check(
        reply(summary="Repairs are theirs [1]. Wiring and pipes too [1].", quotes=quotes)
    )
    assert checked.reply is not None
    assert [citation.quote for citation in checked.reply.citations] == [
        "always responsible for repairs",
        "boilers, pipes and wiring",
    ]


def test_a_quote_of_another_reference_does_not_count() -> None:
    checked = check(reply(quotes=[{"number": 1, "quote": "within 30 days of being paid"}]))
    assert rules(checked) == [("quote", "quotes[1]", False)]


def test_a_quote_for_what_is_not_cited_is_ignored() -> None:
    quotes = [*reply()["quotes"], {"number": 10**9, "quote": "x"}, {"number": 2, "quote": "y"}]
    assert check(reply(quotes=quotes)).defects == ()


def test_a_list_gives_each_number_the_span_of_its_bracket() -> None:
    quotes = [*reply()["quotes"], {"number": 2, "quote": "put in a protected scheme"}]
    checked = check(reply(summary="Both are so [1, 2].", quotes=quotes))
    assert checked.reply is not None
    spans = [(c.number, checked.reply.summary[c.start : c.end]) for c in checked.reply.citations]
    assert spans == [(1, "[1, 2]"), (2, "[1, 2]")]


def test_a_hidden_character_cannot_hide_a_citation() -> None:
    assert rules(check(reply(summary="So it is [1] [\u200b9].")))[0][0] == "citation"


@pytest.mark.parametrize("finish", ["truncated", "empty", "recitation", "other"])
def test_a_reply_that_was_not_finished_is_a_hard_defect(finish: Any) -> None:
    checked = check_reply(
        ModelReply(json.dumps(reply()), "m", finish=finish),
        personas=DEFAULT_PERSONAS,
        references=REFERENCES,
    )
    assert rules(checked) == [("unfinished", "reply", True)]


def test_the_schema_asks_for_every_field_of_a_reply() -> None:
    schema = reply_schema()
    assert schema["required"] == ["paraphrase", "personas", "summary", "quotes"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(sorted(reply())), JSON))
def test_whatever_the_reply_no_verdict_leaves_with_a_wrong_citation(changes: Any) -> None:
    checked = check(reply(**changes))
    assert (checked.reply is None) == any(defect.is_hard for defect in checked.defects)
    if checked.reply is not None:
        assert all(1 <= citation.number <= 2 for citation in checked.reply.citations)
