"""A multipart body -> the one file in it, and the fields around it."""

from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from multipart import (  # type: ignore[import-untyped]  # it comes without types
    MultipartError,
    MultipartParser,
    MultipartPart,
    parse_options_header,
)

from judge.entrypoints.api.problem_responses import RequestRefused
from judge.types.request_fields import BadFields, FieldError

MAX_PARTS = 100
MAX_FIELD_BYTES = 64 * 1024
"""Of a field beside the file; to split ten million commas into tags took 1.4 s."""

_LISTS = frozenset({"tags"})


@dataclass(frozen=True, slots=True)
class Upload:
    """The file as it was sent, and the fields; `tags` is a list."""

    name: str
    content: bytes
    fields: dict[str, Any] = field(default_factory=dict)


def parse_upload(content_type: str | None, body: bytes) -> Upload:
    """The file in *body*; raises RequestRefused for other types and BadFields without one file."""
    media_type, options = parse_options_header(content_type or "")
    if media_type != "multipart/form-data" or not options.get("boundary"):
        raise RequestRefused("unsupported-media-type")
    try:
        parts = list(
            MultipartParser(
                BytesIO(body),
                options["boundary"],
                part_limit=MAX_PARTS,
                spool_limit=len(body) + 1,
                memory_limit=len(body) + 1,
            )
        )
    except MultipartError as error:
        # Its other arguments repeat the input.
        raise BadFields([FieldError("body", f"is no multipart form: {error.args[0]}")]) from None
    files = [part for part in parts if part.filename]
    if len(files) != 1:
        raise BadFields([FieldError("file", f"must be there once, not {len(files)} times")])
    fields = _fields([part for part in parts if not part.filename])
    name = files[0].filename.replace("\\", "/").rpartition("/")[2]
    return Upload(name, files[0].raw, fields)


def _fields(parts: list[MultipartPart]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for part in parts:
        if part.name in _LISTS:
            tags = [tag.strip() for tag in _value(part).split(",") if tag.strip()]
            fields[part.name] = [*fields.get(part.name, []), *tags]
        elif part.name in fields:
            raise BadFields([FieldError(part.name, "must be there once")])
        else:
            fields[part.name] = _value(part)
    return fields


def _value(part: MultipartPart) -> str:
    if part.size > MAX_FIELD_BYTES:
        limit = MAX_FIELD_BYTES // 1024
        raise BadFields([FieldError(part.name, f"must have {limit} KiB at most")])
    content: bytes = part.raw
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise BadFields([FieldError(part.name, "must be text in UTF-8")]) from None
