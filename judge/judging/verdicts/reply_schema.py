"""Parses the JSON of a reply to a ReplyBody, or to defects; builds the schema it must match."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, Field, StrictBool, StrictInt, ValidationError
from pydantic_core import ErrorDetails, from_json

from judge.library.dispute import fold
from judge.text.english import source_sentences, strip_invisible
from judge.types.replies import Defect, Persona, Prompt, VerdictWord

PARAPHRASE_LIMIT = 240
"""Characters, about 30 words; more than twice a limit is a hard defect, for every text."""
PROSE_LIMIT = 960
"""Characters of a summary or a rationale, about 120 words."""
KEY_POINT_LIMIT = 240
"""Characters of one key point, as for the paraphrase."""
HEADLINE_LIMIT = 100
"""Characters of a headline: a line or two on a phone."""
KEY_POINTS = 3
MAX_REPLY_LENGTH = 200_000
"""Characters; ten times what the limits add up to, so that nothing hostile is parsed."""
MAX_VALUE_LENGTH = 80
"""Characters of a defective value that are repeated to the model and the client."""
MAX_SHAPE_DEFECTS = 20
"""Invalid locations that are named; a model in a loop writes thousands."""
_EXPECTED = {
    "missing": "a value", "string_type": "a text", "bool_type": "true or false",
    "int_type": "a whole number", "tuple_type": "a list", "model_type": "an object",
    "literal_error": "{expected}", "too_short Value": "a text that is not empty",
    "too_long Value": "at most {max_length} characters",
    "too_short Tuple": "{min_length} entries", "too_long Tuple": "{max_length} entries",
}  # fmt: skip
"""The expectation named in a shape defect, by pydantic's error type."""
_OPENING_FENCE = re.compile(r"\A\s*\ufeff*(?:```[^{\n]*)?")
TEXT, INTEGER = {"type": "string"}, {"type": "integer"}
VERDICT = {"type": "string", "enum": list(get_args(VerdictWord))}


def strip_text(value: object) -> object:
    """*value*, if it is a string, without invisible characters and surrounding white space."""
    return strip_invisible(value).strip() if isinstance(value, str) else value


def empty_if_none(value: object) -> object:
    """*value*, or no entries where a model wrote null for a list without any."""
    return () if value is None else value


def one_line(value: object) -> str:
    """*value* on one line; empty if it is no text, as for a headline that was left out."""
    return " ".join(strip_invisible(value).split()) if isinstance(value, str) else ""


def named_texts(value: object) -> tuple[str, ...]:
    """The texts in *value*, if it is a list; what else a model may write there names nothing."""
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()


Text = Annotated[str, BeforeValidator(strip_text), Field(min_length=1)]
Paraphrase = Annotated[Text, Field(max_length=2 * PARAPHRASE_LIMIT)]
Prose = Annotated[Text, Field(max_length=2 * PROSE_LIMIT)]


class PersonaBody(BaseModel):
    """One persona's part of a reply."""

    name: Text
    verdict: VerdictWord | None = None
    headline: Annotated[str, BeforeValidator(one_line), Field(max_length=2 * HEADLINE_LIMIT)] = ""
    rationale: Prose
    key_points: Annotated[
        tuple[Annotated[Text, Field(max_length=2 * KEY_POINT_LIMIT)], ...],
        Field(min_length=KEY_POINTS, max_length=KEY_POINTS),
    ]


class QuoteBody(BaseModel):
    """The number of a reference, and those of its sentences that the reply says it relied on."""

    number: StrictInt
    sentences: Annotated[tuple[StrictInt, ...], BeforeValidator(empty_if_none)] = ()


Care = Annotated[tuple[str, ...], BeforeValidator(named_texts)]
QuoteBodies = Annotated[tuple[QuoteBody, ...], BeforeValidator(empty_if_none)]


class ReplyBody(BaseModel):
    """A complete reply; unknown fields are ignored."""

    paraphrase: Paraphrase
    care: Care = ()
    references_help: StrictBool = True
    quotes: QuoteBodies = ()
    personas: tuple[PersonaBody, ...]
    summary: Prose


def reply_schema(prompt: Prompt) -> dict[str, object]:
    """The JSON schema of a reply to *prompt*.

    It is loose on purpose: Gemini answers tight bounds with an opaque 400, so lengths, names and
    ranges are checked here instead. Models write in this order: what can be checked alone comes
    first, and quotes before the texts that cite them.
    """
    return object_schema(
        paraphrase=TEXT,
        **_care_schema(prompt),
        references_help={"type": "boolean"},
        quotes=array_schema(object_schema(number=INTEGER, sentences=array_schema(INTEGER))),
        personas=array_schema(
            object_schema(
                name=TEXT,
                verdict=VERDICT,
                headline=TEXT,
                rationale=TEXT,
                key_points=array_schema(TEXT),
            )
        ),
        summary=TEXT,
    )


def _care_schema(prompt: Prompt, **limits: int) -> dict[str, object]:
    """The schema of `care`, if there are rules that it may name."""
    names = list(prompt.care)
    schema = array_schema({"type": "string", "enum": names}) | limits
    return {"care": schema} if names else {}


def object_schema(**properties: object) -> dict[str, object]:
    """The schema of an object that requires all *properties*, given by their schemas."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def array_schema(items: object) -> dict[str, object]:
    """The schema of a list of *items*."""
    return {"type": "array", "items": items}


def exact_reply_schema(prompt: Prompt) -> dict[str, object]:
    """`reply_schema` with the names of personas and the numbers of references, and all limits.

    For servers with constrained decoding: small models keep many rules only when forced to, and
    some would write one text until their tokens are used up.
    """
    persona_schemas = [_exact_persona(persona.name) for persona in prompt.personas]
    return object_schema(
        paraphrase=_text(PARAPHRASE_LIMIT),
        **_care_schema(prompt, maxItems=len(prompt.care)),
        references_help={"type": "boolean"},
        quotes=_exact_quotes([len(source_sentences(r.text)) for r in prompt.references]),
        personas={"type": "array", "prefixItems": persona_schemas} | _exactly(len(persona_schemas)),
        summary=_text(PROSE_LIMIT),
    )


def _exact_persona(name: str) -> dict[str, object]:
    return object_schema(
        name={"type": "string", "enum": [name]},
        verdict=VERDICT,
        headline=_text(HEADLINE_LIMIT),
        rationale=_text(PROSE_LIMIT),
        key_points=array_schema(_text(KEY_POINT_LIMIT)) | _exactly(KEY_POINTS),
    )


def _exact_quotes(sentences: Sequence[int]) -> dict[str, object]:
    """The schema of `quotes`; *sentences* are counts per reference, the greatest bounds all."""
    if not sentences:
        return array_schema(object_schema()) | {"maxItems": 0}
    most = max(sentences)
    quote = object_schema(
        number=_up_to(len(sentences)), sentences=array_schema(_up_to(most)) | {"maxItems": most}
    )
    return array_schema(quote) | {"maxItems": len(sentences)}


def _up_to(most: int) -> dict[str, object]:
    return {"type": "integer", "enum": list(range(1, most + 1))}


def _text(limit: int) -> dict[str, object]:
    """A string up to the hard limit."""
    return {"type": "string", "maxLength": 2 * limit}


def _exactly(count: int) -> dict[str, object]:
    return {"minItems": count, "maxItems": count}


def parse_reply(
    text: str, personas: Sequence[Persona], *, needs_verdicts: bool
) -> tuple[ReplyBody | None, list[Defect]]:
    """The reply in *text* if its JSON and shape are right, else None and the hard defects."""
    document, defects = parse_object(text)
    if document is None:
        return None, defects
    try:
        body = ReplyBody.model_validate(document)
    except ValidationError as error:
        return None, _shape_defects(error)
    defects = _persona_defects(body, personas, needs_verdicts=needs_verdicts)
    return (None, defects) if defects else (body, [])


def parse_object(text: str) -> tuple[dict[str, Any] | None, list[Defect]]:
    """Parse *text* as a JSON object, or return None and a hard defect."""
    if len(text) > MAX_REPLY_LENGTH:
        found = f"{len(text)} characters"
        return None, [_hard("json", "reply", found, f"at most {MAX_REPLY_LENGTH} characters")]
    try:
        # Unlike the standard library's, this parser refuses lone surrogates and deep nesting.
        document = from_json(without_fence(text), allow_inf_nan=False)
    except (ValueError, TypeError) as error:  # a lone surrogate is a TypeError
        return None, [_hard("json", "reply", str(error), "one JSON object")]
    if not isinstance(document, dict):
        return None, [_hard("json", "reply", type(document).__name__, "one JSON object")]
    return document, []


def without_fence(text: str) -> str:
    """*text* without the code fence that models like to put around JSON."""
    text = text.strip().lstrip("\ufeff")
    is_fenced = text.startswith("```") and text.endswith("```")
    return without_opening_fence(text).removesuffix("```") if is_fenced else text


def without_opening_fence(text: str) -> str:
    """*text* without an opening code fence, for a reply that is still being written."""
    return _OPENING_FENCE.sub("", text, count=1)


def _shape_defects(error: ValidationError) -> list[Defect]:
    """One defect per invalid location; a list with an invalid item is not also "too short"."""
    details = error.errors(include_url=False)
    around = {detail["loc"][:size] for detail in details for size in range(len(detail["loc"]))}
    innermost = (detail for detail in details if detail["loc"] not in around)
    return [_shape_defect(detail) for detail in islice(innermost, MAX_SHAPE_DEFECTS)]


def _shape_defect(detail: ErrorDetails) -> Defect:
    field = ".".join(str(part) for part in detail["loc"]) or "reply"
    value = detail.get("input")
    found = repr(value) if isinstance(value, str | int | float | bool | None) else detail["type"]
    context = detail.get("ctx", {})
    kind = f"{detail['type']} {context.get('field_type', '')}".strip()
    expected = _EXPECTED[kind].format(**context) if kind in _EXPECTED else detail["msg"]
    return _hard("shape", field, found, expected)


def matches_persona(persona: Persona, body: PersonaBody, *, needs_verdict: bool) -> bool:
    """Whether *body* has the name of *persona* and, if one is required, a verdict."""
    is_named = fold(body.name) == fold(persona.name)
    return is_named and (body.verdict is not None or not needs_verdict)


def _persona_defects(
    body: ReplyBody, personas: Sequence[Persona], *, needs_verdicts: bool
) -> list[Defect]:
    expected = [persona.name for persona in personas]
    named = [persona.name for persona in body.personas]
    if [*map(fold, named)] != [*map(fold, expected)]:
        return [_hard("personas", "personas", ", ".join(named), f"in order: {', '.join(expected)}")]
    return [
        _hard("verdict", f"personas.{index}.verdict", "null", "Yes, No or Partially")
        for index, persona in enumerate(body.personas)
        if needs_verdicts and persona.verdict is None
    ]


def _hard(rule: str, field: str, value: str, expected: str) -> Defect:
    return Defect(rule, field, shorten(value), expected, is_hard=True)


def shorten(value: str) -> str:
    """*value*, cut to `MAX_VALUE_LENGTH` characters."""
    return value if len(value) <= MAX_VALUE_LENGTH else value[: MAX_VALUE_LENGTH - 1] + "…"
