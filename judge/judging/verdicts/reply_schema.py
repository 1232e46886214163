"""Parses the JSON of a reply to a ReplyBody, or to defects; builds the schema it must match."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, get_args

from pydantic import BaseModel, BeforeValidator, Field, StrictBool, StrictInt, ValidationError
from pydantic_core import from_json

from judge.library.dispute import fold
from judge.text.english import source_sentences, strip_invisible, strip_text
from judge.types.replies import Defect, Persona, Prompt, VerdictWord
from judge.types.request_fields import OrNone, message_of

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
_OPENING_FENCE = re.compile(r"\A\s*\ufeff*(?:```[^{\n]*)?")
TEXT: dict[str, object] = {"type": "string"}
INTEGER: dict[str, object] = {"type": "integer"}
VERDICT = {"type": "string", "enum": list(get_args(VerdictWord))}


def one_line(value: object) -> str:
    """*value* on one line; empty if it is not text, as for a headline that was left out."""
    return " ".join(strip_invisible(value).split()) if isinstance(value, str) else ""


_STRIPPED = BeforeValidator(strip_text)
_EMPTY_IF_NONE = BeforeValidator(lambda value: () if value is None else value)
_TEXTS_ONLY = BeforeValidator(
    lambda value: [v for v in value if isinstance(v, str)] if isinstance(value, list) else ()
)
Text = Annotated[str, Field(min_length=1), _STRIPPED]
Paraphrase = Annotated[str, Field(min_length=1, max_length=2 * PARAPHRASE_LIMIT), _STRIPPED]
Prose = Annotated[str, Field(min_length=1, max_length=2 * PROSE_LIMIT), _STRIPPED]
KeyPoint = Annotated[str, Field(min_length=1, max_length=2 * KEY_POINT_LIMIT), _STRIPPED]


class PersonaBody(BaseModel):
    """One persona's part of a reply."""

    name: Text
    verdict: VerdictWord | None = None
    headline: Annotated[str, Field(max_length=2 * HEADLINE_LIMIT), BeforeValidator(one_line)] = ""
    rationale: Prose
    key_points: Annotated[tuple[KeyPoint, ...], Field(min_length=KEY_POINTS, max_length=KEY_POINTS)]


class QuoteBody(BaseModel):
    """The number of a reference, and those of its sentences that the reply says it relied on."""

    number: StrictInt
    sentences: Annotated[tuple[StrictInt, ...], _EMPTY_IF_NONE] = ()


Care = Annotated[tuple[str, ...], _TEXTS_ONLY]
QuoteBodies = Annotated[tuple[QuoteBody, ...], _EMPTY_IF_NONE]


class ReplyBody(BaseModel):
    """A complete reply; unknown fields are ignored."""

    paraphrase: Paraphrase
    care: Care = ()
    references_help: StrictBool = True
    quotes: QuoteBodies = ()
    personas: tuple[PersonaBody, ...]
    summary: Prose


class PartialBody(BaseModel):
    """The complete members of a reply; None for one that is missing or has the wrong shape."""

    paraphrase: OrNone[Paraphrase] = None
    care: Care = ()
    references_help: OrNone[StrictBool] = None
    quotes: Annotated[OrNone[QuoteBodies], _EMPTY_IF_NONE] = None
    personas: OrNone[tuple[OrNone[PersonaBody], ...]] = None
    summary: OrNone[Prose] = None


def reply_schema(prompt: Prompt, *, is_exact: bool = False) -> dict[str, object]:
    """The JSON schema of a reply to *prompt*.

    It is loose on purpose: Gemini answers tight bounds with an opaque 400, so lengths, names and
    ranges are checked here instead. One that *is_exact* has them all, for servers with constrained
    decoding: small models keep many rules only when forced to, and some would write one text until
    their tokens are used up. Models write in this order: what can be checked alone comes first, and
    quotes before the texts that cite them.
    """

    def bounded(schema: dict[str, object], **limits: object) -> dict[str, object]:
        return schema | limits if is_exact else schema

    def text(limit: int) -> dict[str, object]:
        return bounded(TEXT, maxLength=2 * limit)

    def number(most: int) -> dict[str, object]:
        return bounded(INTEGER, enum=list(range(1, most + 1)))

    def voice(name: dict[str, object]) -> dict[str, object]:
        points = array_schema(text(KEY_POINT_LIMIT))
        return object_schema(
            name=name,
            verdict=VERDICT,
            headline=text(HEADLINE_LIMIT),
            rationale=text(PROSE_LIMIT),
            key_points=bounded(points, minItems=KEY_POINTS, maxItems=KEY_POINTS),
        )

    care, count = list(prompt.care), len(prompt.references)
    cares = bounded(array_schema({"type": "string", "enum": care}), maxItems=len(care))
    voices = array_schema(voice(TEXT))
    if is_exact:
        each = [voice({"type": "string", "enum": [one.name]}) for one in prompt.personas]
        voices = {"type": "array", "prefixItems": each}
        voices |= {"minItems": len(each), "maxItems": len(each)}
    texts = [one.text for one in prompt.references if is_exact]
    most = max((len(source_sentences(text)) for text in texts), default=0)
    relied_on = bounded(array_schema(number(most)), maxItems=most)
    quote = object_schema(number=number(count), sentences=relied_on)
    if is_exact and not count:
        quote = object_schema()
    return object_schema(
        paraphrase=text(PARAPHRASE_LIMIT),
        **({"care": cares} if care else {}),
        references_help={"type": "boolean"},
        quotes=bounded(array_schema(quote), maxItems=count),
        personas=voices,
        summary=text(PROSE_LIMIT),
    )


exact_reply_schema = partial(reply_schema, is_exact=True)


def object_schema(**properties: object) -> dict[str, object]:
    """The schema of an object that requires all *properties*, given by their schemas."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def array_schema(items: object) -> dict[str, object]:
    """The schema of a list of *items*."""
    return {"type": "array", "items": items}


def parse_reply(
    text: str, personas: Sequence[Persona], *, needs_verdicts: bool
) -> tuple[ReplyBody | None, list[Defect]]:
    """The reply in *text* if its JSON and shape are right, else None and the hard defects."""
    if len(text) > MAX_REPLY_LENGTH:
        most = f"at most {MAX_REPLY_LENGTH} characters"
        return None, [hard("json", "reply", f"{len(text)} characters", most)]
    try:
        # Unlike the standard library's, this parser refuses lone surrogates and deep nesting.
        document = from_json(without_fence(text), allow_inf_nan=False)
    except (ValueError, TypeError) as error:  # a lone surrogate is a TypeError
        return None, [hard("json", "reply", str(error), "one JSON object")]
    if not isinstance(document, dict):
        return None, [hard("json", "reply", type(document).__name__, "one JSON object")]
    try:
        body = ReplyBody.model_validate(document)
    except ValidationError as error:
        return None, _shape_defects(error)
    defects = persona_defects(body.personas, personas, needs_verdicts=needs_verdicts)
    return (None, defects) if defects else (body, [])


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
    outer = {detail["loc"][:size] for detail in details for size in range(len(detail["loc"]))}
    innermost = [detail for detail in details if detail["loc"] not in outer]
    defects = []
    for detail in innermost[:MAX_SHAPE_DEFECTS]:
        value, field = detail["input"], ".".join(str(part) for part in detail["loc"]) or "reply"
        is_plain = isinstance(value, str | int | float | bool | None)
        found = repr(value) if is_plain else detail["type"]
        defects.append(hard("shape", field, found, f"a value that {message_of(detail)}"))
    return defects


def persona_defects(
    voices: Sequence[PersonaBody], personas: Sequence[Persona], *, needs_verdicts: bool
) -> list[Defect]:
    """What *voices* lack of the names of *personas*, in order, and of verdicts, if required."""
    expected = [persona.name for persona in personas]
    named = [voice.name for voice in voices]
    if [*map(fold, named)] != [*map(fold, expected)]:
        return [hard("personas", "personas", ", ".join(named), f"in order: {', '.join(expected)}")]
    return [
        hard("verdict", f"personas.{index}.verdict", "null", "Yes, No or Partially")
        for index, voice in enumerate(voices)
        if needs_verdicts and voice.verdict is None
    ]


def hard(rule: str, field: str, value: str, expected: str) -> Defect:
    """A defect that no reply shown may have; its *value* is shortened."""
    shortened = value if len(value) <= MAX_VALUE_LENGTH else value[: MAX_VALUE_LENGTH - 1] + "…"
    return Defect(rule, field, shortened, expected, is_hard=True)


def soft(rule: str, field: str, value: str, expected: str) -> Defect:
    """A defect with which a reply may be shown; its *value* is shortened."""
    return replace(hard(rule, field, value, expected), is_hard=False)
