"""Builds requests for chat completions, in the form that a server supports.

Servers support different fields: after a refusal the next form is tried.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from judge.types.replies import Prompt

MAX_OUTPUT_TOKENS: Final = 4096
"""The longest valid reply has about 1,500 tokens, besides thinking; some servers reserve this many
of a context of 16,000."""

ResponseFormat = Literal["exact", "json_schema", "json_object", "text"]
FORMATS: Final[tuple[ResponseFormat, ...]] = ("exact", "json_schema", "json_object", "text")
"""Strictest first. `exact` is `json_schema` with bounds and the names of personas in the schema,
which not every server supports."""


@dataclass(frozen=True, slots=True)
class RequestForm:
    """The fields of a request that a server is assumed to support."""

    response_format: ResponseFormat = FORMATS[0]
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    includes_usage: bool = True

    def after_refusal(self, message: str) -> "RequestForm | None":
        """The next form to try after a refusal with *message*; None when all were tried.

        Some models name the output limit differently; some servers lack `stream_options`.
        """
        if "max_completion_tokens" in message and self.limit_field == "max_tokens":
            return replace(self, limit_field="max_completion_tokens")
        if "stream_options" in message and self.includes_usage:
            return replace(self, includes_usage=False)
        weaker = FORMATS[FORMATS.index(self.response_format) + 1 :]
        return replace(self, response_format=weaker[0]) if weaker else None


def request_body(
    form: RequestForm, model: str, prompt: Prompt, schema: Mapping[str, object], *, factor: int
) -> dict[str, Any]:
    """The JSON body of a request in *form*, with *factor* times the usual output limit."""
    instructions = prompt.instructions
    if form.response_format in {"json_object", "text"}:  # else the server enforces the schema
        instructions += f"\n\nThe JSON schema of your answer is {json.dumps(schema)}"
    return {
        "model": model,
        "messages": [
            {"role": "system", "content": instructions},
            {"role": "user", "content": prompt.text},
        ],
        "stream": True,
        form.limit_field: MAX_OUTPUT_TOKENS * factor,
        **({"stream_options": {"include_usage": True}} if form.includes_usage else {}),
        **_response_format(form.response_format, schema),
    }


def _response_format(form: ResponseFormat, schema: Mapping[str, object]) -> dict[str, Any]:
    match form:
        case "exact" | "json_schema":
            strict = {"name": "reply", "strict": True, "schema": _closed(schema)}
            return {"response_format": {"type": "json_schema", "json_schema": strict}}
        case "json_object":
            return {"response_format": {"type": form}}
        case "text":
            return {}


def _closed(schema: Any) -> Any:
    """*schema* with `additionalProperties: false` in each object, as strict mode demands."""
    if isinstance(schema, Mapping):
        inner = {key: _closed(value) for key, value in schema.items()}
        return inner | ({"additionalProperties": False} if schema.get("type") == "object" else {})
    return [_closed(item) for item in schema] if isinstance(schema, list) else schema
