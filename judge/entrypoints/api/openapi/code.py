"""The part of the OpenAPI document about `/api/code/…`, from the types that the routes use."""

from typing import Any

from pydantic import BaseModel, TypeAdapter

from judge.codegraph.models import LineageResult, SearchResult, WhereUsedResult
from judge.entrypoints.code_requests import CodeSearch, LineageRequest, WhereUsed

Json = dict[str, Any]

CODE_PROBLEMS = (
    "invalid-request",
    "unauthorized",
    "forbidden",
    "not-found",
    "ambiguous",
    "internal-error",
)
"""The kinds of problem that a question about code can end in."""

RESULTS = {
    "CodeSearchResult": SearchResult,
    "WhereUsedResult": WhereUsedResult,
    "LineageResult": LineageResult,
}
"""What is answered, by the name of its schema."""

QUESTIONS: dict[str, tuple[str, type[BaseModel], str]] = {
    "/api/code/search": ("searchCode", CodeSearch, "CodeSearchResult"),
    "/api/code/where-used": ("whereUsed", WhereUsed, "WhereUsedResult"),
    "/api/code/lineage": ("lineage", LineageRequest, "LineageResult"),
}
"""The operation, the question and the answer of each path."""


def code_parameters(question: type[BaseModel]) -> list[Json]:
    """The query string of *question*: one parameter for each field."""
    schema = question.model_json_schema()
    required = schema.get("required", [])
    return [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "description": field.pop("description"),
            "schema": {key: value for key, value in field.items() if key != "title"},
        }
        for name, field in schema["properties"].items()
    ]


def code_schemas(ref_template: str) -> Json:
    """The schemas of all answers, with what they hold."""
    schemas: Json = {}
    for name, result in RESULTS.items():
        schema = TypeAdapter[Any](result).json_schema(
            mode="serialization", ref_template=ref_template
        )
        schemas |= schema.pop("$defs")
        schemas[name] = schema
    return schemas
