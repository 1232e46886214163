"""The OpenAPI document is valid, complete, and agrees with real replies."""

import re

import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from judge.entrypoints.api.app import ROUTES, openapi_document

DOCUMENT = openapi_document()
UNDOCUMENTED = {
    "/",
    "/playground/{name:str}",
    "/widget.js",
    "/schema",
    "/schema/schema.js",
    "/schema/schema.css",
    "/schema/openapi.json",
}


def test_the_document_is_valid():
    OpenAPIV31SpecValidator(DOCUMENT).validate()


def test_every_route_is_documented_and_every_documented_route_exists():
    routes = {
        (re.sub(r":\w+}", "}", path), method.lower())
        for handler in ROUTES
        for path in handler.paths
        for method in handler.http_methods
        if path not in UNDOCUMENTED
    }
    documented = {(path, method) for path, item in DOCUMENT["paths"].items() for method in item}
    assert routes == documented


def test_examples_match_their_schemas():
    for item in DOCUMENT["paths"].values():
        for operation in item.values():
            contents = [operation["requestBody"]] if "requestBody" in operation else []
            for described in [*contents, *operation["responses"].values()]:
                for media in described.get("content", {}).values():
                    whole = {**media["schema"], "components": DOCUMENT["components"]}
                    values = [one["value"] for one in media.get("examples", {}).values()]
                    for value in [*values, *media["schema"].get("examples", [])]:
                        jsonschema.Draft202012Validator(whole).validate(value)


def test_the_request_is_described_from_its_model():
    schema = DOCUMENT["components"]["schemas"]["JudgeRequest"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["context"]["maxLength"] == 8000
    assert schema["required"] == ["context", "query"]
    for name in ("JudgeRequest", "SearchRequest", "CheckRequest", "NewDocument"):
        fields = DOCUMENT["components"]["schemas"][name]["properties"]
        assert [field for field, one in fields.items() if "default" in one] == []


@pytest.mark.parametrize(
    ("path", "required", "names"),
    [
        ("/api/code/search", "query", ["repo", "query", "limit", "regex", "ignore_case", "ranked"]),
        ("/api/search", "q", ["q", "context", "limit", "offset", "include_metadata", "format"]),
    ],
)
def test_a_query_string_is_described_from_its_model(path, required, names):
    parameters = DOCUMENT["paths"][path]["get"]["parameters"]
    assert [one["name"] for one in parameters if one["in"] == "query"] == names
    assert [one["name"] for one in parameters if one.get("required")] == [required]


def test_refusals_for_a_while_document_when_to_try_again():
    for item in DOCUMENT["paths"].values():
        for operation in item.values():
            for status, response in operation["responses"].items():
                assert ("Retry-After" in response.get("headers", {})) == (
                    status == "429" or (status == "503" and "Readiness" not in str(response))
                )


# In the tests below the client checks each reply against the document.
