"""The OpenAPI 3.1 document: Litestar derives it from the routes; what it cannot say is added here.

A route says it in its `opt`: `query`, the model that its query string is parsed with; `bodies`, the
model or schema of each media type of its body; `text_too`, if its 200 can be plain text as well.
"""

import ast
import inspect
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import pairwise
from typing import Any, Final

from litestar import Litestar
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import License, Reference, Schema
from litestar.plugins import OpenAPISchemaPlugin
from litestar.serialization import decode_json, encode_json
from litestar.typing import FieldDefinition
from pydantic import BaseModel

from judge.entrypoints.api.http_messages import MEDIA_TYPE
from judge.problems import KINDS, ProblemDetails

Json = dict[str, Any]

EVENT_STREAM: Final = "text/event-stream"

KEYED = ("unauthorized", "forbidden", "rate-limited")
"""What the access middleware may answer before a route that needs a key is reached."""


def problems(*slugs: str) -> dict[int, ResponseSpec]:
    """A response for each status of *slugs*, and for what any request can end in."""
    titles: dict[int, list[str]] = {}
    for slug in ("invalid-request", *slugs, "internal-error"):
        titles.setdefault(KINDS[slug].status, []).append(f"`{slug}`: {KINDS[slug].title}.")
    return {
        status: ResponseSpec(
            ProblemDetails,
            description=" ".join(titles[status]),
            media_type=MEDIA_TYPE,
            generate_examples=False,
        )
        for status in sorted(titles)
    }


def derive_document(
    routes: Sequence[HTTPRouteHandler], dependencies: Mapping[str, Provide]
) -> Json:
    """The whole document; the app that it is derived from is never served."""
    app = Litestar(
        routes,
        openapi_config=OpenAPIConfig(
            title="Judge",
            version=version("judge"),
            summary="Ask whether you are being unreasonable; the citations are verified.",
            license=License(name="MIT", identifier="MIT"),
            operation_id_creator=lambda handler, _method, _path: _operation_id(handler),
            use_handler_docstrings=True,
            path="/unserved",
        ),
        plugins=[DocstringSchemaPlugin()],
        logging_config=None,
        dependencies=dependencies,
    )
    # Defaults in it are still tuples and dataclasses.
    document: Json = decode_json(encode_json(app.openapi_schema.to_schema()))
    handlers = {_operation_id(handler): handler for handler in routes}
    for operation in (each for item in document["paths"].values() for each in item.values()):
        handler = handlers[operation["operationId"]]
        _complete(operation, handler)
        for body in handler.opt.get("bodies", {}).values():
            if not isinstance(body, dict):
                document["components"]["schemas"][body.__name__] = schema = body.model_json_schema()
                for field in schema["properties"].values():
                    field.pop("default", None)
    return document


def _complete(operation: Json, handler: HTTPRouteHandler) -> None:
    """Add to the *operation* of *handler* what Litestar cannot express."""
    # Under `python -OO` there are no docstrings.
    summary, _, description = operation.pop("description", "").partition("\n\n")
    operation["summary"] = summary.rstrip(".") or operation["summary"]
    if description:
        operation["description"] = " ".join(description.split())
    # Litestar lists them in the order of a set.
    parameters = sorted(operation.get("parameters", []), key=lambda each: str(each["name"]))
    for parameter in parameters:
        # A parameter with slashes in it would be a URI, which the id of a document need not be.
        parameter["schema"].pop("format", None)
    if query := handler.opt.get("query"):
        parameters += _query_parameters(query)
    operation["parameters"] = parameters
    if bodies := handler.opt.get("bodies"):
        content = {media_type: {"schema": _schema(body)} for media_type, body in bodies.items()}
        operation["requestBody"] = {"required": True, "content": content}
    operation["responses"] = dict(sorted(operation["responses"].items()))
    for status, response in operation["responses"].items():
        content = response.get("content", {})
        if status in {"429", "503"} and MEDIA_TYPE in content:
            about = "Seconds after which trying again makes sense."
            schema = {"type": "integer", "minimum": 1}
            response["headers"] = {"Retry-After": {"description": about, "schema": schema}}
        if events := content.get(EVENT_STREAM):
            # The body is text; only its `data` lines are JSON.
            events["schema"] = {"type": "string", "contentSchema": events["schema"]}
    if handler.opt.get("text_too"):
        operation["responses"]["200"]["content"]["text/plain"] = {"schema": {"type": "string"}}


def _query_parameters(model: type[BaseModel]) -> list[Json]:
    """One parameter for each field of *model* that an address can hold."""
    schemas = model.model_json_schema()["properties"]
    return [
        {
            "name": field.serialization_alias or name,
            "in": "query",
            "required": field.is_required(),
            "description": field.description or "",
            "schema": {k: v for k, v in schemas[name].items() if k not in {"title", "description"}},
        }
        for name, field in model.model_fields.items()
        if "$ref" not in str(schemas[name])
    ]


def _schema(body: type[BaseModel] | Json) -> Json:
    return body if isinstance(body, dict) else {"$ref": f"#/components/schemas/{body.__name__}"}


def _operation_id(handler: HTTPRouteHandler) -> str:
    """The handler's own `operation_id`, or its name in camel case."""
    if isinstance(handler.operation_id, str):
        return handler.operation_id
    first, *others = handler.handler_name.split("_")
    return first + "".join(map(str.capitalize, others))


class DocstringSchemaPlugin(OpenAPISchemaPlugin):
    """Adds docstrings and "no other fields" to the schemas that the other plugins derive."""

    @staticmethod
    def is_plugin_supported_field(field_definition: FieldDefinition) -> bool:
        """Whether this is a class with fields of our own."""
        return (
            field_definition.is_dataclass_type
            or field_definition.is_typeddict_type
            or field_definition.is_subclass_of(BaseModel)
        )

    def to_openapi_schema(self, field_definition: FieldDefinition, schema_creator: Any) -> Schema:
        """The schema of a class; it goes into the components."""
        plugin = next(
            other
            for other in schema_creator.plugins
            if other is not self and schema_creator.plugin_supports_field(other, field_definition)
        )
        schema: Schema = plugin.to_openapi_schema(field_definition, schema_creator)
        described = field_definition.type_
        schema.description = inspect.cleandoc(described.__doc__ or "") or None
        for name, text in attribute_docstrings(described).items():
            field = (schema.properties or {}).get(name)
            if isinstance(field, Schema | Reference):
                field.description = text
        if getattr(described, "model_config", {}).get("extra") == "forbid":
            schema.additional_properties = False
            # Generators of clients make a field with a default one that must be sent.
            for field in (schema.properties or {}).values():
                if isinstance(field, Schema):
                    field.default = None
        return schema


def attribute_docstrings(described: type) -> dict[str, str]:
    """The docstrings of the annotated attributes of *described*, by name."""
    [definition] = ast.parse(inspect.getsource(described)).body
    assert isinstance(definition, ast.ClassDef)
    return {
        attribute.target.id: " ".join(text.split())
        for attribute, following in pairwise(definition.body)
        if isinstance(attribute, ast.AnnAssign) and isinstance(attribute.target, ast.Name)
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        if isinstance(text := following.value.value, str)
    }
