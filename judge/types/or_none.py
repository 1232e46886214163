"""Values from outside that may be wrong without harm."""

from typing import Annotated, Any, TypeVar

from pydantic import ValidationError, ValidatorFunctionWrapHandler, WrapValidator

T = TypeVar("T")


def _none_if_wrong(value: object, handler: ValidatorFunctionWrapHandler) -> Any:
    try:
        return handler(value)
    except ValidationError:
        return None


OrNone = Annotated[T | None, WrapValidator(_none_if_wrong)]
"""In a pydantic model: None where the value has the wrong shape."""
