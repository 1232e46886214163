"""Messages about wrong fields: what is wrong with each, never what was sent."""

from datetime import date
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from judge.entrypoints.code_requests import CodeSearch, LineageRequest, WhereUsed
from judge.entrypoints.mcp.tools import DisputeQuery, DocumentQuery, PassageQuery
from judge.golden.cases import GoldenCase
from judge.golden.results import Prices
from judge.types.request_fields import (
    MAX_ERRORS,
    BadFields,
    FieldError,
    StrictModel,
    parse_fields,
    parse_json,
)
from judge.types.requests import JudgeRequest

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
MODELS = [
    CodeSearch,
    WhereUsed,
    LineageRequest,
    DocumentQuery,
    PassageQuery,
    DisputeQuery,
    GoldenCase,
    Prices,
]


class Number(BaseModel):
    """A model with one field, for the tests."""

    model_config = ConfigDict(extra="forbid")
    limit: Annotated[int, Field(ge=1, le=50)] = 10


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "must be at least 1"),
        (51, "must be at most 50"),
        ("ten", "must be a whole number"),
        (1.5, "must be a whole number"),
        (None, "must be a whole number"),
        ("9" * 5000, "must be a smaller number"),
        (float("inf"), "must be a finite number"),
    ],
)
def test_wrong_number_has_a_message(value, message):
    with pytest.raises(BadFields) as caught:
        parse_fields(Number, {"limit": value})
    assert [(e.field, e.message) for e in caught.value.errors] == [("limit", message)]


@pytest.mark.parametrize("value", ['"10"', "true", "1.5"])
def test_in_json_a_number_is_a_number(value):
    with pytest.raises(BadFields, match="limit must be a whole number"):
        parse_json(Number, f'{{"limit": {value}}}')


def test_unknown_field_is_refused_with_the_known_ones():
    with pytest.raises(BadFields, match="size is not known here; known are limit"):
        parse_fields(Number, {"size": 1})


def test_nul_in_a_nested_field_is_refused():
    case = r'{"input": {"context": "0123456789\u0000", "query": "Is it?"}}'
    with pytest.raises(BadFields, match=r"input\.context must not hold NUL characters"):
        parse_json(GoldenCase, case)


def test_number_of_errors_is_bounded():
    with pytest.raises(BadFields) as caught:
        parse_fields(Number, {f"f{number}": 1 for number in range(100)})
    assert len(caught.value.errors) == MAX_ERRORS


def test_unforeseen_error_is_refused():
    class Dated(StrictModel):
        day: date

    with pytest.raises(BadFields, match="day is not of a kind that can be used here"):
        parse_fields(Dated, {"day": "soon"})


def test_lone_surrogate_is_refused():
    with pytest.raises(BadFields, match="query must be text in UTF-8"):
        parse_fields(CodeSearch, {"query": "lone \ud800 surrogate"})


@given(st.sampled_from(MODELS), st.data())
def test_any_fields_are_parsed_or_refused_with_a_message(model, data):
    names = st.sampled_from([*model.model_fields, "other"])
    fields = data.draw(st.dictionaries(names, JSON))
    assert all(told.message for told in errors_of(model, fields))


def errors_of(model, fields) -> tuple[FieldError, ...]:
    try:
        parse_fields(model, fields)
    except BadFields as error:
        return error.errors
    return ()


@pytest.mark.parametrize(
    "hidden", ["\u200b" * 20, "\u3164" * 20, "\u2800 \u2060" * 9, "\ufeff" * 20, "\U000e0041" * 20]
)
def test_characters_that_show_nothing_do_not_count(hidden: str):
    for fields in (
        {"context": hidden, "query": "Is it fair?"},
        {"context": "A row about tea.", "query": f"{hidden}no{hidden}"},
    ):
        with pytest.raises(BadFields, match="must have at least"):
            parse_fields(JudgeRequest, fields)
    long = parse_fields(JudgeRequest, {"context": "é" * 8000 + hidden, "query": "Is it fair?"})
    assert long.context == "é" * 8000
