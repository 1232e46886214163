"""Fields of a request, validated by a pydantic model and refused in our words everywhere."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from judge.entrypoints.problems import BadFields, FieldError

Model = TypeVar("Model", bound=BaseModel)

MAX_ERRORS = 20
"""Errors in one answer; nobody reads more."""

MESSAGES: Mapping[str, str] = {
    "missing": "is missing; add it",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_type": "must be a text",
    "tuple_type": "must be a list",
    "literal_error": "must be {expected}",
    "model_type": "must be a JSON object",
    "json_invalid": "is not valid JSON: {error}",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "finite_number": "must be a finite number",
    "int_parsing_size": "must be a smaller number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}
"""Our message for each of pydantic's types of error that a request can have."""


def parse_fields(model: type[Model], fields: Mapping[str, Any]) -> Model:
    """*fields* as *model* has them; raises BadFields that names each one that is wrong."""
    try:
        return _without_nul(model.model_validate(dict(fields)))
    except ValidationError as error:
        raise _bad_fields(error, model) from None


def parse_json(model: type[Model], text: bytes | str) -> Model:
    """*text*, which may be any, as *model* has it; raises BadFields as parse_fields does."""
    try:
        return _without_nul(model.model_validate_json(text))
    except ValidationError as error:
        raise _bad_fields(error, model) from None


def _bad_fields(error: ValidationError, model: type[BaseModel]) -> BadFields:
    """*error* in our words, which never repeat what was sent but the fields' names."""
    details = error.errors(include_url=False, include_input=False)
    return BadFields([_field_error(detail, model) for detail in details[:MAX_ERRORS]])


def _without_nul(parsed: Model) -> Model:
    """*parsed*; raises BadFields when a text in it holds NUL, which few programs expect."""
    with_nul = [name for name, value in parsed if isinstance(value, str) and "\x00" in value]
    if with_nul:
        raise BadFields([FieldError(name, "must not hold NUL characters") for name in with_nul])
    return parsed


def _field_error(detail: ErrorDetails, model: type[BaseModel]) -> FieldError:
    name = ".".join(str(part) for part in detail["loc"])[:100] or "body"
    if detail["type"] == "extra_forbidden":
        return FieldError(name, f"is not known here; known are {', '.join(model.model_fields)}")
    message = MESSAGES.get(detail["type"], "is not of a kind that can be used here")
    return FieldError(name, message.format(**detail.get("ctx", {})))
