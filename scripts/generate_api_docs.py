"""Write docs/api.md: the HTTP API, from the service's OpenAPI document."""

import asyncio
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from judge.entrypoints.api.app import openapi_document
from judge.entrypoints.api.http_messages import MEDIA_TYPE
from judge.entrypoints.api.openapi import EVENT_STREAM
from judge.entrypoints.cli.golden.run import replay_config
from judge.golden.cases import load_case
from judge.golden.replay import run_case
from judge.problems import KINDS

Json = dict[str, Any]

TARGET = Path(__file__).parent.parent / "docs" / "api.md"

HEAD = """\
# HTTP interface

This page is written by `make docs` from the OpenAPI document, which a running server shows at
`/schema` and gives to tools at `/schema/openapi.json`. [examples/](../examples/README.md) has
clients in curl, Python and TypeScript.

## What holds everywhere

- **Counting.** These start at zero: the offsets `start` and `end` (in code points; `end` is
  exclusive), the index in a field's name (`personas.1.rationale` belongs to the second persona),
  and `position`, the index of a passage in its document. All else starts at one: the `number` of
  references and citations, the numbers in brackets, sentences, `attempts` and lines.
- **CORS.** Pages of other origins may call the interface, also that of `judge demo`, if
  `JUDGE_CORS_ORIGINS` names them ([configuration](configuration.md#who-may-ask-and-how-much)):
  `GET`, `POST` and `DELETE`, with the headers `Authorization`, `Content-Type` and `X-Request-ID`,
  without cookies. They may read `X-Request-ID`, `Retry-After`, `RateLimit` and `RateLimit-Policy`,
  also of errors. Pages of origins that it does not name cannot read any reply.
- Every reply has an `X-Request-ID`: the caller's if it sent a well-formed one, else a new one.
"""

EXAMPLE = Path(__file__).parent.parent / "tests" / "golden" / "work_grievance.json"
"""The golden case whose reply is shown in full."""

PROBLEMS = """\
## Problems

Errors are `application/problem+json` (RFC 9457). `type` ends in one of these names, and
`/problems/NAME` on the server explains it; `error` repeats `detail`.
"""


def main() -> None:
    """Write the page."""
    TARGET.write_text(render(), encoding="utf-8")


def render() -> str:
    """The page: operations by tag, then the problem types, then the schemas."""
    document = openapi_document()
    sections = [
        HEAD,
        *_operations(document["paths"]),
        PROBLEMS,
        _table(
            ("name", "status", "meaning", "what to do"),
            ((f"`{slug}`", kind.status, kind.title, kind.advice) for slug, kind in KINDS.items()),
        ),
        "## Schemas\n",
        *_schemas(document["components"]["schemas"]),
    ]
    return "\n".join(sections).rstrip() + "\n"


def whole_reply() -> Json:
    """The reply to a golden case, with placeholders for the values that differ each time."""
    outcome = asyncio.run(run_case(load_case(EXAMPLE), replay_config(EXAMPLE.parent)))
    versions = dict.fromkeys(outcome.body["versions"], "0123456789ab")
    return {**outcome.body, "id": "5f0c…", "versions": versions}


def _operations(paths: Json) -> Iterator[str]:
    subject = ""
    for path, item in paths.items():
        for method, operation in item.items():
            [tag] = operation["tags"]
            if tag != subject:
                subject = tag
                yield f"## {tag.capitalize()}\n"
            yield from _operation(f"{method.upper()} {path}", operation)


def _operation(title: str, operation: Json) -> Iterator[str]:
    yield f"### `{title}`\n"
    yield f"{operation['summary'].rstrip('.')}.\n"
    if "description" in operation:
        yield f"{operation['description']}\n"
    yield from _parameters(operation.get("parameters", []))
    if "requestBody" in operation:
        yield from _body(operation["requestBody"])
    yield _table(
        ("status", "body", "meaning"),
        (
            (status, _content(response.get("content", {})), response["description"])
            for status, response in sorted(operation["responses"].items())
        ),
    )
    if title == "POST /api/judge":
        shown = json.dumps(whole_reply(), indent=2, ensure_ascii=False)
        yield f"A whole reply:\n\n```json\n{shown}\n```\n"
    for response in operation["responses"].values():
        stream = response.get("content", {}).get(EVENT_STREAM, {})
        for example in stream.get("examples", {}).values():
            yield f"{example['summary']}:\n\n```text\n{example['value'].strip()}\n```\n"


def _parameters(parameters: Iterable[Json]) -> Iterator[str]:
    rows = [
        (
            f"`{one['name']}`",
            one["in"] + (", required" if one.get("required") else ""),
            _type(one["schema"]),
            one.get("description", ""),
        )
        for one in parameters
        if one["in"] != "header"
    ]
    if rows:
        yield _table(("parameter", "in", "type", "meaning"), rows)


def _body(body: Json) -> Iterator[str]:
    schemas = [media["schema"] for media in body["content"].values()]
    meaning = " ".join(schema.get("description", "") for schema in schemas)
    yield f"Body: {_content(body['content'])}. {meaning}".rstrip() + "\n"
    for schema in schemas:
        for example in schema.get("examples", []):
            yield f"```json\n{json.dumps(example, indent=2, ensure_ascii=False)}\n```\n"


def _content(content: Json) -> str:
    """The media types, and the schema of each."""
    parts = [
        "problem" if media_type == MEDIA_TYPE else f"`{media_type}` {_type(media['schema'])}"
        for media_type, media in content.items()
    ]
    return ", or ".join(parts) or "none"


def _schemas(schemas: Json) -> Iterator[str]:
    for name, schema in sorted(schemas.items()):
        yield f"### {name}\n"
        if "description" in schema:
            yield f"{schema['description']}\n"
        rows = list(_rows(schema, ""))
        yield _table(("field", "type", "always", "meaning"), rows) if rows else f"{_type(schema)}\n"


def _rows(schema: Json, path: str) -> Iterator[tuple[str, ...]]:
    """A row for each field of *schema*, which is at *path*, and for nested fields."""
    required = schema.get("required", [])
    for name, one in schema.get("properties", {}).items():
        place, inside, words = f"{path}{name}", one, _type(one)
        if one.get("type") == "array" and "properties" in one.get("items", {}):
            place, inside, words = f"{place}[]", one["items"], "list of objects"
        elif "properties" in one:
            words = "object"
        always = "yes" if name in required else "no"
        yield f"`{path}{name}`", words, always, one.get("description", "")
        yield from _rows(inside, f"{place}.")


def _type(schema: Json) -> str:
    """A schema in a few words."""
    match schema:
        case {"$ref": str(ref)}:
            name = ref.rpartition("/")[2]
            words = f"[{name}](#{name.lower()})"
        case {"anyOf": several} | {"oneOf": several} | {"allOf": several}:
            words = " or ".join(dict.fromkeys(_type(one) for one in several))
        case {"enum": values}:
            words = " or ".join("null" if value is None else f"`{value}`" for value in values)
        case {"const": value}:
            words = f"`{value}`"
        case {"type": "array"}:
            words = f"list of {_type(schema.get('items', {}))}"
        case {"type": list(kinds)}:
            words = " or ".join(kinds)
        case _:
            words = " ".join([schema.get("type", "any"), *_bounds(schema)])
    return words


def _bounds(schema: Json) -> Iterator[str]:
    for unit, least, most in (
        (" characters", schema.get("minLength"), schema.get("maxLength")),
        ("", schema.get("minimum"), schema.get("maximum")),
    ):
        if least is not None and most is not None:
            yield f"({least:g} to {most:g}{unit})"
        elif least is not None:
            yield f"({least:g}{unit} at least)"
        elif most is not None:
            yield f"({most:g}{unit} at most)"
    if "default" in schema and schema["default"] is not None:
        yield f"({json.dumps(schema['default'])} if left out)"


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")


if __name__ == "__main__":
    main()
