"""What is asked of a server of chat completions, and the forms that a request can take.

Servers differ in what they know: the form that is refused is given up for the next.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from judge.types.replies import Prompt

MAX_OUTPUT_TOKENS: Final = 4096
"""A reply at its limits is about 1,500 tokens, beside thinking; some servers count this against a
context of 16,000."""

ResponseFormat = Literal["exact", "json_schema", "json_object", "text"]
FORMATS: Final[tuple[ResponseFormat, ...]] = ("exact", "json_schema", "json_object", "text")
"""From the strictest on; the first two by a schema with bounds and names, which not every server
knows, and by one without."""


@dataclass(frozen=True, slots=True)
class RequestForm:
    """What a server is taken to know."""

    response_format: ResponseFormat = FORMATS[0]
    room: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    tells_usage: bool = True

    def without_what(self, refusal: str) -> "RequestForm | None":
        """The next form to try after a *refusal* in the server's words; None when all were tried.

        Some models call the room otherwise; some servers know no `stream_options`.
        """
        if "max_completion_tokens" in refusal and self.room == "max_tokens":
            return replace(self, room="max_completion_tokens")
        if "stream_options" in refusal and self.tells_usage:
            return replace(self, tells_usage=False)
        weaker = FORMATS[FORMATS.index(self.response_format) + 1 :]
        return replace(self, response_format=weaker[0]) if weaker else None


def request_body(
    form: RequestForm, model: str, prompt: Prompt, schema: Mapping[str, object], *, factor: int
) -> dict[str, Any]:
    """The body of a request in *form* with *factor* times the usual room."""
    instructions = prompt.instructions
    if form.response_format in {"json_object", "text"}:  # else the server holds the model to it
        instructions += f"\n\nThe JSON schema of your answer is {json.dumps(schema)}"
    return {
        "model": model,
        "messages": [
            {"role": "system", "content": instructions},
            {"role": "user", "content": prompt.text},
        ],
        "stream": True,
        form.room: MAX_OUTPUT_TOKENS * factor,
        **({"stream_options": {"include_usage": True}} if form.tells_usage else {}),
        **_response_format(form.response_format, schema),
    }


def _response_format(form: ResponseFormat, schema: Mapping[str, object]) -> dict[str, Any]:
    match form:
        case "exact" | "json_schema":
            named = {"name": "reply", "strict": True, "schema": _closed(schema)}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case "json_object":
            return {"response_format": {"type": form}}
        case "text":
            return {}


def _closed(schema: Any) -> Any:
    """*schema* with no other properties than those named, without which it cannot be strict."""
    if isinstance(schema, Mapping):
        inner = {key: _closed(value) for key, value in schema.items()}
        return inner | ({"additionalProperties": False} if schema.get("type") == "object" else {})
    return [_closed(one) for one in schema] if isinstance(schema, list) else schema
