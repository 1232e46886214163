"""The OpenAPI 3.1 document, put together from the types that the routes really read and send.

Written out rather than derived from the handlers, so that every reply of the contract is in it,
the problems above all. A test holds it against the routes and the replies.
"""

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

from pydantic import TypeAdapter

from judge.entrypoints.api.middleware.access import UNLIMITED, WALLED
from judge.entrypoints.api.openapi.code import (
    CODE_PROBLEMS,
    QUESTIONS,
    code_parameters,
    code_schemas,
)
from judge.entrypoints.api.openapi.field_meanings import with_meanings
from judge.entrypoints.api.openapi.search import Pieces, search_paths, search_schemas
from judge.entrypoints.api.problem_responses import KINDS, MEDIA_TYPE
from judge.entrypoints.api.routes.judge_stream import EVENT_STREAM
from judge.types.judgements import JudgeRequest, JudgeResult

Json = dict[str, Any]

REF = "#/components/schemas/{model}"

EXAMPLE_REQUEST = {
    "context": "My landlord has not repaired the boiler for three weeks, although I wrote twice.",
    "query": "Am I being unreasonable to ask for part of the rent back?",
}

EXAMPLE_STREAM = (
    'event: domain\ndata: {"domain":"tenancy","domain_scores":'
    '[{"domain":"tenancy","score":5.0,"matched":["landlord","boiler"]}]}\n\n'
    'event: attempt\ndata: {"number":1}\n\n'
    ": still here\n\n"
)

REFUSALS = ("invalid-request", "unknown-domain", "bad-scope", "too-large", "unsupported-media-type")
JUDGING_PROBLEMS = (
    *REFUSALS,
    "content-blocked",
    "internal-error",
    "invalid-reply",
    "model-unavailable",
    "budget-spent",
    "index-unavailable",
    "deadline-exceeded",
)
"""The kinds of problem that a judgement can end in."""


def openapi_document() -> Json:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Judge",
            "version": version("judge"),
            "summary": "Ask whether you are being unreasonable; the citations are verified.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "paths": _paths(),
        "components": {"schemas": with_meanings(_schemas()), "headers": _HEADERS},
    }


def _paths() -> Json:
    """The operations of each path, with the problems that await everybody there."""
    return {
        path: {
            method: _with_problems(operation, _common_problems(path))
            for method, operation in item.items()
        }
        for path, item in _operations().items()
    }


def _common_problems(path: str) -> list[str]:
    """What anybody may be told before *path* is reached, by the front and the doorkeeper."""
    needs_key = f"{path}/".startswith(WALLED)
    return [
        "invalid-request",
        "internal-error",
        *(["unauthorized"] if needs_key or path == "/metrics" else []),
        *(["forbidden"] if needs_key and path != "/api/domains" else []),
        *(["rate-limited"] if path not in UNLIMITED else []),
    ]


def _with_problems(operation: Json, slugs: Iterable[str]) -> Json:
    """*operation*, which may also end in *slugs*."""
    responses = operation["responses"]
    known = [
        slug
        for response in responses.values()
        for slug in response.get("content", {}).get(MEDIA_TYPE, {}).get("examples", ())
    ]
    merged = responses | _problems(dict.fromkeys([*known, *slugs]))
    return operation | {"responses": dict(sorted(merged.items()))}


def _operations() -> Json:
    return {
        "/api/judge": {"post": _judge()},
        "/api/judge/stream": {"post": _judge_stream()},
        "/api/domains": {
            "get": _get("listDomains", "What disputes can be about", _ref("Domains"), "judging")
        },
        **{path: {"get": _code(path)} for path in QUESTIONS},
        **search_paths(Pieces(_response, _problems, _ref, _REQUEST_ID_PARAMETER)),
        "/health/live": {
            "get": _get("live", "The process answers", _ref("Liveness"), "operations")
        },
        "/health/ready": {"get": _ready()},
        "/metrics": {
            "get": _get(
                "metrics",
                "Counts in Prometheus' text format",
                {"type": "string"},
                "operations",
                media_type="text/plain",
            )
        },
        "/problems/{slug}": {"get": _problem_page()},
    }


def _judge() -> Json:
    return {
        "operationId": "judge",
        "summary": "Judge one dispute",
        "description": (
            "Three personas say whether you are being unreasonable. Each number in square brackets "
            "refers to an entry of `references`; `citations` says how well it is borne out. "
            "Nothing of the dispute is stored."
        ),
        "tags": ["judging"],
        "parameters": [_REQUEST_ID_PARAMETER],
        "requestBody": _dispute(),
        "responses": {
            "200": _response("The verdict.", _ref("JudgeResult")),
            **_problems(JUDGING_PROBLEMS),
        },
    }


def _judge_stream() -> Json:
    events = _response("The events, from `domain` to `verdict` or `error`.", _TEXT, EVENT_STREAM)
    events["content"][EVENT_STREAM]["examples"] = {
        "beginning": {"summary": "The first events", "value": EXAMPLE_STREAM}
    }
    return {
        "operationId": "judgeStream",
        "summary": "Judge one dispute and tell each step",
        "description": (
            "As `POST /api/judge`, in server-sent events. Each has a name and, in one line of "
            "JSON, the member of `StreamEvents` with that name: `domain`; `references`, as soon as "
            "they are read; `attempt`, each time that the model is asked; `restart`, with the "
            "defects of a reply that is asked again; and last `verdict`, the body of the plain "
            "route, or `error`, the problem that it would have sent. A comment comes at least "
            "every 10 seconds. What is refused before the first event is an ordinary problem "
            "response. A client that leaves ends the call of the model."
        ),
        "tags": ["judging"],
        "parameters": [_REQUEST_ID_PARAMETER],
        "requestBody": _dispute(),
        "responses": {"200": events, **_problems((*REFUSALS, "budget-spent", "index-unavailable"))},
    }


def _code(path: str) -> Json:
    operation_id, question, answer = QUESTIONS[path]
    return {
        "operationId": operation_id,
        "summary": (question.__doc__ or "").rstrip("."),
        "description": "Only the repositories of JUDGE_CODE_ROOTS can be asked about, by name.",
        "tags": ["code"],
        "parameters": [*code_parameters(question), _REQUEST_ID_PARAMETER],
        "responses": {"200": _response("The answer.", _ref(answer)), **_problems(CODE_PROBLEMS)},
    }


def _dispute() -> Json:
    """The body of a request to judge."""
    return {
        "required": True,
        "description": "At most 64 KiB. Unknown fields are refused.",
        "content": {
            "application/json": {
                "schema": _ref("JudgeRequest"),
                "examples": {"boiler": {"summary": "A boiler", "value": EXAMPLE_REQUEST}},
            }
        },
    }


def _get(
    operation_id: str, summary: str, schema: Json, tag: str, media_type: str = "application/json"
) -> Json:
    """A route without parameters that always answers 200."""
    return {
        "operationId": operation_id,
        "summary": summary,
        "tags": [tag],
        "parameters": [_REQUEST_ID_PARAMETER],
        "responses": {
            "200": _response(f"{summary}.", schema, media_type),
            **_problems(["internal-error"]),
        },
    }


def _ready() -> Json:
    operation = _get("ready", "Whether to send requests here", _ref("Readiness"), "operations")
    operation["responses"]["503"] = _response(
        "Not now: there are no sources, or it is shutting down.", _ref("Readiness")
    )
    return operation


def _problem_page() -> Json:
    operation = _get(
        "explainProblem",
        "What a kind of problem means",
        {"type": "string"},
        "operations",
        media_type="text/html",
    )
    slugs: Json = {"type": "string", "enum": list(KINDS)}
    operation["parameters"] = [
        {"name": "slug", "in": "path", "required": True, "schema": slugs},
        _REQUEST_ID_PARAMETER,
    ]
    operation["responses"] |= _problems(["not-found"])
    return operation


def _problems(slugs: Iterable[str]) -> Json:
    """A response for each status of *slugs*, with an example of each kind."""
    by_status: dict[str, list[str]] = {}
    for slug in slugs:
        by_status.setdefault(str(KINDS[slug].status), []).append(slug)
    return {status: _problem_response(status, kinds) for status, kinds in by_status.items()}


def _problem_response(status: str, slugs: list[str]) -> Json:
    description = " ".join(f"`{slug}`: {KINDS[slug].title}." for slug in slugs)
    response = _response(description, _ref("Problem"), MEDIA_TYPE)
    response["content"][MEDIA_TYPE]["examples"] = {slug: _problem_example(slug) for slug in slugs}
    if status in {"429", "503"}:
        response["headers"]["Retry-After"] = {"$ref": "#/components/headers/Retry-After"}
    return response


def _problem_example(slug: str) -> Json:
    kind = KINDS[slug]
    example: Json = {
        "type": f"/problems/{slug}",
        "title": kind.title,
        "status": kind.status,
        "detail": kind.advice,
        "instance": "/api/judge",
        "error": kind.advice,
    }
    return {"summary": kind.title, "value": example | _MEMBER_EXAMPLES.get(slug, {})}


_MEMBER_EXAMPLES: Mapping[str, Json] = {
    "invalid-request": {
        "errors": [{"field": "query", "message": "must have at least 5 characters"}]
    },
    "unknown-domain": {"valid": ["tenancy", "workplace", "default"]},
    "bad-scope": {"valid": []},
    "ambiguous": {"candidates": ["shop.Cart.total", "shop.Bill.total"]},
    "content-blocked": {
        "help": [{"title": "Samaritans", "url": "https://www.samaritans.org/", "phone": "116 123"}]
    },
    "invalid-reply": {
        "defects": [
            {
                "rule": "citation-out-of-range",
                "field": "summary",
                "value": "[7]",
                "expected": "a number from 1 to 2",
                "hard": True,
            }
        ],
        "attempts": 2,
    },
}


def _response(description: str, schema: Json, media_type: str = "application/json") -> Json:
    return {
        "description": description,
        "headers": {"X-Request-ID": {"$ref": "#/components/headers/X-Request-ID"}},
        "content": {media_type: {"schema": schema}},
    }


def _ref(name: str) -> Json:
    return {"$ref": REF.format(model=name)}


def _schemas() -> Json:
    """The schemas of all bodies; those of our types come from the types themselves."""
    result = TypeAdapter(JudgeResult).json_schema(mode="serialization", ref_template=REF)
    nested = result.pop("$defs")
    return {
        **nested,
        **code_schemas(REF),
        **search_schemas(REF),
        "StreamEvents": _STREAM_EVENTS,
        "JudgeResult": result,
        "JudgeRequest": JudgeRequest.model_json_schema(ref_template=REF),
        "Problem": _PROBLEM,
        "Domains": _DOMAINS,
        "Liveness": _object({"status": {"const": "ok"}}),
        "Readiness": _READINESS,
    }


def _object(properties: Json, *, optional: Json | None = None) -> Json:
    return {
        "type": "object",
        "properties": properties | (optional or {}),
        "required": list(properties),
    }


def _list_of(schema: Json) -> Json:
    return {"type": "array", "items": schema}


_TEXT: Json = {"type": "string"}

_DEFECTS: Json = _list_of(
    _object(
        {
            "rule": _TEXT,
            "field": _TEXT,
            "value": _TEXT,
            "expected": _TEXT,
            "hard": {"type": "boolean"},
        }
    )
)

_STREAM_EVENTS: Json = {
    "description": "What `/api/judge/stream` sends: the data of each event, by its name.",
    "type": "object",
    "properties": {
        "domain": _object(
            {"domain": _TEXT, "domain_scores": _list_of(_ref("DomainScore"))},
        ),
        "references": _object({"references": _list_of(_ref("Reference"))}),
        "attempt": _object({"number": {"type": "integer", "minimum": 1}}),
        "restart": _object({"defects": _DEFECTS}),
        "verdict": _ref("JudgeResult"),
        "error": _ref("Problem"),
    },
}

_PROBLEM: Json = {
    "description": "Problem details (RFC 9457).",
    **_object(
        {
            "type": {"type": "string", "format": "uri-reference"},
            "title": _TEXT,
            "status": {"type": "integer"},
            "detail": _TEXT,
            "instance": {"type": "string", "format": "uri-reference"},
            "error": {"type": "string", "description": "Repeats `detail`."},
        },
        optional={
            "errors": _list_of(_object({"field": _TEXT, "message": _TEXT})),
            "valid": _list_of(_TEXT),
            "candidates": _list_of(_TEXT),
            "help": _list_of(_ref("HelpLine")),
            "defects": _DEFECTS,
            "attempts": {"type": "integer"},
            "request_id": _TEXT,
        },
    ),
}

_DOMAINS: Json = _object(
    {
        "domains": _list_of(
            _object(
                {
                    "name": _TEXT,
                    "title": _TEXT,
                    "sources": _list_of(_object({"url": _TEXT, "title": _TEXT})),
                }
            )
        )
    }
)

_READINESS: Json = _object(
    {
        "status": {"type": "string", "enum": ["ok", "draining", "unready"]},
        "degraded": _list_of(_TEXT),
    }
)

_HEADERS: Json = {
    "X-Request-ID": {
        "description": "The caller's id when it sent a sane one, else a new one.",
        "schema": _TEXT,
    },
    "Retry-After": {
        "description": "Seconds after which trying again makes sense.",
        "schema": {"type": "integer", "minimum": 1},
    },
}

_REQUEST_ID_PARAMETER: Json = {
    "name": "X-Request-ID",
    "in": "header",
    "description": "An id of yours for this request; it comes back and becomes the verdict's `id`.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,128}$"},
}
