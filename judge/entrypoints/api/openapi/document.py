"""The OpenAPI 3.1 document: Litestar derives it from the routes; what it cannot say is added here.

A test holds the document against the routes and the replies.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from operator import itemgetter
from typing import Any, Final

from litestar import Litestar
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import License
from litestar.serialization import decode_json, encode_json
from pydantic import BaseModel

from judge.entrypoints.api.openapi.docstrings import DocstringSchemaPlugin
from judge.entrypoints.api.problem_responses import MEDIA_TYPE

Json = dict[str, Any]

QUERY: Final = "query"
"""The key in a route's `opt` for the model that its query string is parsed with."""

BODIES: Final = "bodies"
"""The key in a route's `opt` for the model or schema of each media type that its body may have."""

TEXT_TOO: Final = "text_too"
"""The key in a route's `opt` if its 200 can be plain text as well."""

EVENT_STREAM: Final = "text/event-stream"

HEADERS: Final = {
    "X-Request-ID": {
        "description": "The caller's id when it sent a sane one, else a new one.",
        "schema": {"type": "string"},
    },
    "Retry-After": {
        "description": "Seconds after which trying again makes sense.",
        "schema": {"type": "integer", "minimum": 1},
    },
}

# Added by hand: Litestar would refuse a malformed value of its own parameters; ours is replaced.
REQUEST_ID_PARAMETER: Final = {
    "name": "X-Request-ID",
    "in": "header",
    "description": "An id of yours for this request; it comes back and becomes the verdict's `id`. "
    "One that is not 1 to 128 letters, digits, dots, dashes and underscores is replaced.",
    "schema": {"type": "string"},
}


def derive_document(
    routes: Sequence[HTTPRouteHandler], dependencies: Mapping[str, Provide]
) -> Json:
    """The whole document.

    The app that it is derived from is never served: Litestar's own pages about a document answer
    404 in HTML.
    """
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
    schemas = document["components"]["schemas"]
    document["components"]["headers"] = HEADERS
    handlers = {_operation_id(handler): handler for handler in routes}
    for operation in (each for item in document["paths"].values() for each in item.values()):
        handler = handlers[operation["operationId"]]
        _complete(operation, handler)
        for body in handler.opt.get(BODIES, {}).values():
            if not isinstance(body, dict):
                schemas[body.__name__] = body.model_json_schema()
    return document


def query_parameters(model: type[BaseModel]) -> list[Json]:
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


def _complete(operation: Json, handler: HTTPRouteHandler) -> None:
    """Add to the *operation* of *handler* what Litestar cannot express."""
    # Under `python -OO` there are no docstrings.
    summary, _, description = operation.pop("description", "").partition("\n\n")
    operation["summary"] = summary.rstrip(".") or operation["summary"]
    if description:
        operation["description"] = " ".join(description.split())
    query = handler.opt.get(QUERY)
    # Litestar lists them in the order of a set.
    in_path = sorted(operation.get("parameters", []), key=itemgetter("name"))
    for parameter in in_path:
        # A parameter with slashes in it would be a URI, which the id of a document need not be.
        parameter["schema"].pop("format", None)
    operation["parameters"] = [
        *in_path,
        *(query_parameters(query) if query else ()),
        REQUEST_ID_PARAMETER,
    ]
    if bodies := handler.opt.get(BODIES):
        content = {media_type: {"schema": _ref(body)} for media_type, body in bodies.items()}
        operation["requestBody"] = {"required": True, "content": content}
    operation["responses"] = dict(sorted(operation["responses"].items()))
    for status, response in operation["responses"].items():
        _complete_response(status, response)
    if handler.opt.get(TEXT_TOO):
        operation["responses"]["200"]["content"]["text/plain"] = {"schema": {"type": "string"}}


def _complete_response(status: str, response: Json) -> None:
    content = response.get("content", {})
    has_retry_after = status in {"429", "503"} and MEDIA_TYPE in content
    response["headers"] = {
        name: {"$ref": f"#/components/headers/{name}"}
        for name in ("X-Request-ID", *(["Retry-After"] if has_retry_after else []))
    }
    for media in content.values():
        for example in media.get("examples", {}).values():
            del example["id"]
    if EVENT_STREAM in content:
        # The body is text; only its `data` lines are JSON.
        events = content[EVENT_STREAM]["schema"]
        content[EVENT_STREAM]["schema"] = {"type": "string", "contentSchema": events}


def _ref(body: type[BaseModel] | Json) -> Json:
    if isinstance(body, dict):
        return body
    return {"$ref": f"#/components/schemas/{body.__name__}"}


def _operation_id(handler: HTTPRouteHandler) -> str:
    """The handler's own `operation_id`, or its name in camel case."""
    if isinstance(handler.operation_id, str):
        return handler.operation_id
    first, *others = handler.handler_name.split("_")
    return first + "".join(map(str.capitalize, others))
