"""What a call asks of the SDK, in a form that the SDK reads cheaply.

Imported by `model.py` when the SDK is needed: it takes a second.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from google.genai import types

T = TypeVar("T", bound=type)


def _quick(model: T) -> T:
    """*model* without a detour of google-genai 3.4: a call takes 0.63 ms of CPU instead of 1.06.

    Of some sixty names the SDK asks `name in model`, most of them twice, and takes the attribute
    when the answer is no. Pydantic knows no `in`: a list of all fields is made to say no each time.
    The SDK's minor version is pinned for this, and tests tell when it is of no use any more.
    """
    ways = {"__contains__": lambda _self, _name: False, "__deepcopy__": _shallow_copy}
    return type(model.__name__, (model,), {"__module__": __name__, **ways})  # type: ignore[return-value]


def _shallow_copy(model: Any, _memo: object = None) -> Any:
    """For the copy that the SDK makes at each call, to change a few fields of it."""
    return model.model_copy()


_Config = _quick(types.GenerateContentConfig)
_Content = _quick(types.Content)
_Part = _quick(types.Part)


def call_template(reply_schema: Mapping[str, object]) -> types.GenerateContentConfig:
    """What all calls have in common; see `call_config`."""
    return _Config(
        # No temperature: Google advises to leave Gemini 3 at its default.
        # No time-out: the caller's own ends the call, and one here costs a copy of all options.
        response_mime_type="application/json",
        response_json_schema=dict(reply_schema),
        automatic_continuation=False,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )


def call_config(
    template: types.GenerateContentConfig,
    *,
    instructions: str,
    max_output_tokens: int,
    is_streamed: bool,
) -> types.GenerateContentConfig:
    """*template* with what one call has of its own."""
    return template.model_copy(
        update={
            "system_instruction": user_text(instructions),
            "max_output_tokens": max_output_tokens,
            "should_return_http_response": not is_streamed,  # the SDK refuses it in a stream
        }
    )


def user_text(text: str) -> types.Content:
    """*text* as the SDK would wrap it; not validated, since the types are right already."""
    return _Content.model_construct(role="user", parts=[_Part.model_construct(text=text)])
