"""The schema of a reply, and how a reply is parsed."""

import json
from dataclasses import replace
from typing import Any

import pytest

from judge.judging.prompts import DEFAULT_PERSONAS, render_prompt
from judge.judging.verdicts.check import check_reply
from judge.judging.verdicts.reply_schema import (
    MAX_REPLY_LENGTH,
    MAX_SHAPE_DEFECTS,
    exact_reply_schema,
    parse_reply,
    reply_schema,
)
from judge.types.replies import Defect, ModelReply, Persona
from tests.unit.judging.verdicts.replies import (
    REFERENCES,
    REQUEST,
    check,
    good_reply,
    personas,
    rules,
)

LONG = (
    "You may ask for it, then ask again, and keep paying the rent: the two are not one and same "
    "thing in the eyes"
)
LONG_WORD = "'" + "word" * 19 + "wo…"
PROMPT = render_prompt(REQUEST, REFERENCES, DEFAULT_PERSONAS)


def parsed(text: str) -> tuple[Any, list[Defect]]:
    return parse_reply(text, DEFAULT_PERSONAS, needs_verdicts=True)


def test_exact_schema_has_the_fields_of_the_loose_one_in_order() -> None:
    exact: Any = exact_reply_schema(PROMPT)
    loose: Any = reply_schema(PROMPT)
    assert list(exact["properties"]) == list(loose["properties"])
    [voice, *_] = exact["properties"]["personas"]["prefixItems"]
    assert list(voice["properties"]) == loose["properties"]["personas"]["items"]["required"]


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "[]", '"text"', "{", '{"paraphrase": "cut', "```json\n```json\n{}\n```\n```",
        "Here you are: {}", '{"a": NaN}', '{"summary": "\\ud800"}', '{"summary": "\\udc00 a"}',
        '{"\\ud83d": 1}', "\ud800", "[" * 5000, "{}{}", " " * (MAX_REPLY_LENGTH + 1),
        '{"summary": 1' + "0" * 5000 + "}", "<REFERENCES>\n[1] x\n</REFERENCES>",
    ],
)  # fmt: skip
def test_reply_that_is_not_one_json_object_is_a_hard_defect(text: str) -> None:
    checked = check(text)
    assert checked.reply is None
    assert rules(checked) == [("json", "reply", True)]


def test_reply_over_the_limit_is_not_parsed() -> None:
    body, defects = parsed("x" * (MAX_REPLY_LENGTH + 1))
    assert body is None
    assert defects == [
        Defect("json", "reply", "200001 characters", "at most 200000 characters", is_hard=True)
    ]
    assert parsed("x" * MAX_REPLY_LENGTH)[1][0].expected == "one JSON object"


@pytest.mark.parametrize(
    "changes",
    [{"quotes": [0] * 60_000}, {"personas": personas(key_points=[""] * 40_000)}],
    ids=["quotes", "points"],
)
def test_of_tens_of_thousands_of_wrong_entries_only_the_first_are_named(
    changes: dict[str, Any],
) -> None:
    defects = check(good_reply(**changes)).defects
    assert len(defects) == MAX_SHAPE_DEFECTS
    assert [defect.field.rpartition(".")[2] for defect in defects[:3]] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"paraphrase": " \u200b "}, "paraphrase", "''"),
        ({"paraphrase": "x" * 481}, "paraphrase", "'" + "x" * 78 + "…"),
        ({"summary": "x" * 1921}, "summary", "'" + "x" * 78 + "…"),
        ({"summary": None}, "summary", "None"),
        ({"summary": 10**40}, "summary", "1" + "0" * 40),
        ({"personas": "none"}, "personas", "'none'"),
        ({"personas": personas(headline="word" * 51)}, "personas.1.headline", LONG_WORD),
        ({"personas": personas(key_points=["a", "b"])}, "personas.1.key_points", "too_short"),
        ({"personas": personas(key_points=["a", "b", ""])}, "personas.1.key_points.2", "''"),
        ({"personas": personas(verdict="yes")}, "personas.1.verdict", "'yes'"),
        ({"references_help": 0}, "references_help", "0"),
        ({"quotes": [{"number": "1", "sentences": [1]}]}, "quotes.0.number", "'1'"),
        ({"quotes": [{"number": True, "sentences": [1]}]}, "quotes.0.number", "True"),
        ({"quotes": [{"number": 1, "sentences": [1.0]}]}, "quotes.0.sentences.0", "1.0"),
        ({"quotes": "always"}, "quotes", "'always'"),
    ],
)  # fmt: skip
def test_wrong_shape_is_a_hard_defect_with_its_field_and_value(
    changes: dict[str, Any], field: str, value: str
) -> None:
    checked = check(good_reply(**changes))
    assert checked.reply is None
    assert rules(checked) == [("shape", field, True)]
    assert checked.defects[0].value == value


def test_exact_schema_bounds_every_text_list_and_number() -> None:
    text = {"type": "string", "maxLength": 1920}
    point = {"type": "string", "maxLength": 480}
    voice = {
        "name": {"type": "string", "enum": ["Judge"]},
        "verdict": {"type": "string", "enum": ["Yes", "No", "Partially"]},
        "headline": {"type": "string", "maxLength": 200},
        "rationale": text,
        "key_points": {"type": "array", "items": point, "minItems": 3, "maxItems": 3},
    }
    place = {"type": "integer", "enum": [1, 2, 3]}
    pointer = {"number": place, "sentences": {"type": "array", "items": place, "maxItems": 3}}
    fields = {
        "paraphrase": {"type": "string", "maxLength": 480},
        "references_help": {"type": "boolean"},
        "quotes": {
            "type": "array",
            "items": {"type": "object", "properties": pointer, "required": list(pointer)},
            "maxItems": 3,
        },
        "personas": {
            "type": "array",
            "prefixItems": [{"type": "object", "properties": voice, "required": list(voice)}],
            "minItems": 1,
            "maxItems": 1,
        },
        "summary": text,
    }
    one = replace(PROMPT, personas=(Persona("Judge", "You weigh both sides."),))
    assert exact_reply_schema(one) == {
        "type": "object",
        "properties": fields,
        "required": list(fields),
    }


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Expect it,\n but pay the rent.", "Expect it, but pay the rent."),
        (None, "No, you are not being unreasonable."),
        (["No"], "No, you are not being unreasonable."),
        ("It is for them [1].", "It is for them [1]."),
    ],
)
def test_headline_is_one_line_whatever_the_model_writes(said: object, shown: str) -> None:
    checked = check(good_reply(personas=personas(headline=said)))
    assert checked.reply is not None
    assert checked.reply.personas[1].headline == shown
    assert checked.defects == ()


def test_long_headline_is_cut_at_a_sentence_or_else_a_word_and_not_asked_again() -> None:
    for said, shown in [
        (f"Expect the repair. {LONG}", "Expect the repair."),
        (f"{LONG} of law", LONG[:99] + "…"),
    ]:
        checked = check(good_reply(personas=personas(headline=said)))
        assert checked.reply is not None
        assert checked.reply.personas[1].headline == shown
        assert rules(checked) == [("length", "personas.1.headline", False)]
        assert checked.asked_again == ()


def test_care_is_an_enum_behind_the_paraphrase_and_absent_without_rules() -> None:
    careful = replace(PROMPT, care=("violence", "self-harm"))
    loose: Any = reply_schema(careful)
    exact: Any = exact_reply_schema(careful)
    assert loose["properties"]["care"]["items"]["enum"] == ["violence", "self-harm"]
    assert exact["properties"]["care"]["maxItems"] == 2
    assert list(exact["properties"])[:2] == list(loose["required"])[:2] == ["paraphrase", "care"]
    assert "care" not in str(reply_schema(PROMPT))


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        (["self-harm"], ("self-harm",)),
        (["self-harm", "violence", "violence", "ufo", 7, None], ("violence", "self-harm")),
        ([], ()), (None, ()), ("violence", ()), ({"violence": True}, ()),
    ],
)  # fmt: skip
def test_care_names_only_known_rules_and_costs_no_verdict(said: object, seen: object) -> None:
    prompt = replace(PROMPT, care=("violence", "self-harm"))
    checked = check_reply(ModelReply(json.dumps(good_reply(care=said)), "model"), prompt)
    assert checked.care == seen
    assert checked.reply is not None
