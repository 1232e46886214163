"""Validates input with pydantic models; errors are worded the same at every entrypoint."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import ErrorDetails

from judge.errors import InvalidRequest

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

MAX_ERRORS = 20
"""Errors listed in one response; nobody reads more."""

MESSAGES: Mapping[str, str] = {
    "missing": "is missing; add it",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "string_type": "must be a text",
    "string_unicode": "must be text in UTF-8",
    "literal_error": "must be {expected}",
    "unexpected_keyword_argument": "is not known here",
    "json_invalid": "is not valid JSON: {error}",
    "finite_number": "must be a finite number",
    "int_parsing_size": "must be a smaller number",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "value_error": "{error}",  # our own validators word it themselves
    **dict.fromkeys(("tuple_type", "list_type"), "must be a list"),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "must be a whole number"),
    **dict.fromkeys(("float_parsing", "float_type"), "must be a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "must be true or false"),
    **dict.fromkeys(
        ("model_type", "dict_type", "mapping_type", "dataclass_type"), "must be a JSON object"
    ),
}
"""What is wrong with a field, for each error type of pydantic that it can have."""


class StrictModel(BaseModel):
    """Input from outside: immutable, and unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _none_if_wrong(value: object, validate: ValidatorFunctionWrapHandler) -> Any:
    try:
        return validate(value)
    except ValidationError:
        return None


OrNone = Annotated[T | None, WrapValidator(_none_if_wrong)]
"""In a pydantic model: None where the value has the wrong shape."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field, in words."""

    field: str
    message: str


class BadFields(InvalidRequest):
    """The request has invalid fields, each named in *errors*."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__(" ".join(f"{error.field} {error.message}." for error in errors))
        self.errors = tuple(errors)


def parse_fields(model: type[Model], fields: Mapping[str, Any]) -> Model:
    """*fields* validated as *model*; raises BadFields that names each invalid one."""
    try:
        return _without_nul(model.model_validate(dict(fields)))
    except ValidationError as error:
        raise bad_fields_of(error, model) from None


def parse_json(model: type[Model], text: str | bytes) -> Model:
    """The JSON *text* validated as *model*, with no number in quotation marks; raises BadFields."""
    try:
        return _without_nul(model.model_validate_json(text, strict=True))
    except ValidationError as error:
        raise bad_fields_of(error, model) from None


def bad_fields_of(error: ValidationError, model: type[BaseModel] | None = None) -> BadFields:
    """*error* as BadFields, without any input; with *model* it lists the fields that are known."""
    details = error.errors(include_url=False, include_input=False)
    return BadFields([_field_error(detail, model) for detail in details[:MAX_ERRORS]])


def _without_nul(parsed: Model) -> Model:
    """*parsed*; raises BadFields when a text in it contains NUL, which few programs expect."""
    if with_nul := list(_places_with_nul(parsed)):
        raise BadFields([FieldError(name, "must not hold NUL characters") for name in with_nul])
    return parsed


def _places_with_nul(value: object, *place: object) -> Iterator[str]:
    if isinstance(value, str) and "\x00" in value:
        yield ".".join(map(str, place))
    parts = enumerate(value) if isinstance(value, list | tuple) else value
    if isinstance(parts, enumerate | BaseModel):
        for name, part in parts:
            yield from _places_with_nul(part, *place, name)


def _field_error(detail: ErrorDetails, model: type[BaseModel] | None) -> FieldError:
    # Pydantic adds `[key]` to the place of a key that is wrong itself.
    name = ".".join(str(part) for part in detail["loc"] if part != "[key]")[:100] or "body"
    if detail["type"] == "extra_forbidden":
        known = ", ".join(known_fields(model, detail["loc"][:-1]))
        return FieldError(name, f"is not known here{known and f'; known are {known}'}")
    return FieldError(name, message_of(detail))


def message_of(detail: ErrorDetails) -> str:
    """What is wrong with a field, without its name: "must be a text"."""
    context = detail.get("ctx", {})
    if context.get("min_length") == 1:
        return "must not be empty"
    message = MESSAGES.get(detail["type"], "is not of a kind that can be used here")
    return message.format(**context)


def known_fields(model: Any, place: Sequence[str | int]) -> list[str]:
    """The names of the fields of the model nested at *place*; none if it cannot be determined."""
    for part in place:
        field = getattr(model, "model_fields", {}).get(part)
        model = field.annotation if field else _inner(model)
        model = _inner(model) if NoneType in get_args(model) else model
    fields = getattr(model, "model_fields", {})
    return [field.alias or name for name, field in fields.items()]


def _inner(model: Any) -> Any:
    """X in `dict[str, X]`, `list[X]`, `tuple[X, ...]` and `X | None`; None in others."""
    return next((arg for arg in reversed(get_args(model)) if arg not in {NoneType, ...}), None)
