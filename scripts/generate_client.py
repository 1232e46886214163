"""Generate the types of the TypeScript client, and the scripts that browsers run.

`client/src/api.ts` comes from the OpenAPI document; `client.js`, `wording.js` and `widget.js` of
the playground are the client's sources without their types.
"""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import playwright

from judge.entrypoints.api.app import openapi_document

Json = dict[str, Any]

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "client" / "src"
SERVED = ROOT / "judge" / "entrypoints" / "playground"

NODE = Path(playwright.__file__).parent / "driver" / "node"
"""Playwright's Node can strip types; the one of Debian may be too old."""

STRIP = """
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
process.stdout.write(stripTypeScriptTypes(readFileSync(0, "utf8")));
"""

HEAD = """\
// What the service takes and sends. Written by `make docs` from its OpenAPI document.
"""
NOTE = "// @ts-nocheck Written by `make docs` from client/src/{}, where its types are checked.\n"


def main() -> None:
    """Write all generated files."""
    for path, text in rendered().items():
        path.write_text(text, encoding="utf-8")


def rendered() -> Mapping[Path, str]:
    """The content of each generated file."""
    names = ("client.ts", "wording.ts", "widget.ts")
    client, wording, widget = (script(SOURCES / name) for name in names)
    return {
        SOURCES / "api.ts": types(openapi_document()),
        SERVED / "client.js": NOTE.format("client.ts") + client,
        SERVED / "wording.js": NOTE.format("wording.ts") + wording,
        SERVED / "widget.js": NOTE.format(" and ".join(names)) + bundle(client, wording, widget),
    }


def types(document: Json) -> str:
    """The schemas of *document* as TypeScript.

    A field with a default is optional in a request and always present in a reply.
    """
    schemas = document["components"]["schemas"]
    in_requests = _reachable(schemas, list(_requests(document)))
    parts = [
        _declaration(name, schemas[name], is_request=name in in_requests)
        for name in sorted(schemas)
    ]
    return "\n".join([HEAD, *parts])


def script(source: Path) -> str:
    """*source* as JavaScript: without types and the blank lines that they leave."""
    done = subprocess.run(
        [NODE, "--no-warnings", "--input-type=module", "--eval", STRIP],
        input=source.read_text(encoding="utf-8"),
        capture_output=True,
        text=True,
        check=True,
    )
    without_ends = re.sub(
        r"[ ;]+$", lambda end: ";" if ";" in end[0] else "", done.stdout, flags=re.MULTILINE
    )
    return re.sub(r"\n{3,}", "\n\n", without_ends).lstrip()


def bundle(*scripts: str) -> str:
    """All in one classic script without global names."""
    code = re.sub(r"^(export |import .*\n)", "", "".join(scripts), flags=re.MULTILINE)
    return f"(() => {{\n{code}}})();\n"


def _requests(document: Json) -> Iterator[Json]:
    """The schemas of all request bodies."""
    for item in document["paths"].values():
        for operation in item.values():
            for media in operation.get("requestBody", {}).get("content", {}).values():
                yield media["schema"]


def _reachable(schemas: Json, starts: list[Json]) -> set[str]:
    """The names of the schemas that *starts* refer to, directly and indirectly."""
    reached: set[str] = set()
    waiting = list(starts)
    while waiting:
        names = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(waiting.pop()))) - reached
        reached |= names
        waiting += [schemas[name] for name in names]
    return reached


def _declaration(name: str, schema: Json, *, is_request: bool) -> str:
    if "properties" not in schema:
        return f"{_comment(schema)}export type {name} = {_type(schema)};\n"
    fields = "".join(_fields(schema, is_request=is_request))
    return f"{_comment(schema)}export interface {name} {{\n{fields}}}\n"


def _fields(schema: Json, *, is_request: bool) -> Iterator[str]:
    required = schema.get("required", [])
    for name, one in schema["properties"].items():
        is_present = name in required or (not is_request and "default" in one)
        yield f"{_comment(one, '  ')}  {name}{'' if is_present else '?'}: {_type(one)};\n"


def _comment(schema: Json, indent: str = "") -> str:
    text = schema.get("description", "").replace("*/", "* /")
    lines = text.splitlines()
    if len(lines) < 2:
        return f"{indent}/** {text} */\n" if text else ""
    body = "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines)
    return f"{indent}/**\n{body}{indent} */\n"


def _type(schema: Json) -> str:
    """The TypeScript type of a schema."""
    match schema:
        case {"$ref": str(ref)}:
            words = ref.rpartition("/")[2]
        case {"anyOf": several} | {"oneOf": several} | {"allOf": several}:
            words = " | ".join(dict.fromkeys(_type(one) for one in several))
        case {"enum": values}:
            words = " | ".join(json.dumps(value) for value in values)
        case {"const": value}:
            words = json.dumps(value)
        case {"type": list(kinds)}:
            words = " | ".join(_type({**schema, "type": kind}) for kind in kinds)
        case {"type": "array"}:
            words = f"Array<{_type(schema.get('items', {}))}>"
        case {"properties": _}:
            words = "{ " + " ".join("".join(_fields(schema, is_request=False)).split()) + " }"
        case {"type": "object"}:
            words = f"Record<string, {_type(schema.get('additionalProperties') or {})}>"
        case _:
            words = schema.get("type", "unknown").replace("integer", "number")
    return words


if __name__ == "__main__":
    main()
