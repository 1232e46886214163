"""Judge's server with the tools, prompts and resources of the official conformance suite.

All else is Judge's own: HTTP server, origins, limits, feature table, argument checks, mapping of
errors, progress, completions.
"""

import asyncio
import base64
import sys
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http import EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    EmptyResult,
    GetPromptResult,
    ImageContent,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel

from judge.entrypoints.api.server import serve
from judge.entrypoints.mcp.features import (
    Features,
    PromptSpec,
    ResourceSpec,
    ToolSpec,
)
from judge.entrypoints.mcp.server import build_server
from judge.entrypoints.mcp.streamable_http import viewer
from judge.errors import InvalidRequest
from judge.settings import load_settings

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGA"
    "hKmMIQAAAABJRU5ErkJggg=="
)
WAV = base64.b64encode(
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0"
).decode()
RETRY_MS = 100


class Nothing(BaseModel):
    """No arguments."""


class PromptText(BaseModel):
    """The prompt for the client's model."""

    prompt: str


class Message(BaseModel):
    """The question to the user."""

    message: str


class Dialect(BaseModel):
    """Tool with JSON Schema 2020-12 features."""

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        text = {"type": "string"}
        address = {"type": "object", "properties": {"street": text, "city": text}}
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": address},
            "properties": {"name": text, "address": {"$ref": "#/$defs/address"}},
            "additionalProperties": False,
        }


def said(*content: Any) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=one) if isinstance(one, str) else one for one in content]
    )


def returning(*content: Any):
    async def handler(services, asked, call):
        return said(*content)

    return handler


def embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(resource=contents)


IMAGE = ImageContent(data=PNG, mime_type="image/png")


async def log(services, asked, call):
    for step in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await call.context.session.send_log_message(
            "info", step, related_request_id=call.context.request_id
        )
        await asyncio.sleep(0.05)
    return said("logged")


async def fail(services, asked, call):
    raise InvalidRequest("This tool intentionally returns an error for testing")


async def progress(services, asked, call):
    for done in (0, 50, 100):
        await call.context.session.report_progress(done, 100)
        await asyncio.sleep(0.05)
    return said("done")


async def sample(services, asked, call):
    message = SamplingMessage(role="user", content=TextContent(text=asked.prompt))
    reply = await call.context.session.create_message(
        [message], max_tokens=100, related_request_id=call.context.request_id
    )
    return said(f"LLM response: {reply.content.text}")


def eliciting(properties: dict[str, Any], text: str = "", required: tuple[str, ...] = ()):
    async def handler(services, asked, call):
        schema = {"type": "object", "properties": properties, "required": list(required)}
        reply = await call.context.session.elicit_form(
            text or asked.message, schema, related_request_id=call.context.request_id
        )
        return said(f"Elicitation completed: action={reply.action}, content={reply.content}")

    return handler


async def reconnect(services, asked, call):
    # The library does so only for clients of 2025-11-25; the suite claims to be older.
    if call.context.close_sse_stream:
        await call.context.close_sse_stream()
    return said("Reconnection test completed successfully")


TEXT = {"type": "string"}
OPTIONS = ["option1", "option2", "option3"]
PERSON = {"username": TEXT, "email": TEXT}
DEFAULTS = {
    "name": {**TEXT, "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {**TEXT, "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}


def titled(*titles: str) -> list[dict[str, str]]:
    return [{"const": f"value{n}", "title": title} for n, title in enumerate(titles, start=1)]


ENUMS = {
    "untitledSingle": {**TEXT, "enum": OPTIONS},
    "titledSingle": {**TEXT, "oneOf": titled("First Option", "Second Option", "Third Option")},
    "legacyEnum": {
        **TEXT,
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {**TEXT, "enum": OPTIONS}},
    "titledMulti": {
        "type": "array",
        "items": {"anyOf": titled("First Choice", "Second Choice", "Third Choice")},
    },
}


def tool(name: str, handler: Any, arguments: type[BaseModel] = Nothing) -> ToolSpec:
    return ToolSpec(name, name, arguments, None, handler)


MIXED = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
TOOLS = (
    tool("test_simple_text", returning("This is a simple text response for testing.")),
    tool("test_image_content", returning(IMAGE)),
    tool("test_audio_content", returning(AudioContent(data=WAV, mime_type="audio/wav"))),
    tool(
        "test_embedded_resource",
        returning(
            embedded(
                "test://embedded-resource", "text/plain", "This is an embedded resource content."
            )
        ),
    ),
    tool(
        "test_multiple_content_types",
        returning("Multiple content types test:", IMAGE, MIXED),
    ),
    tool("test_tool_with_logging", log),
    tool("test_error_handling", fail),
    tool("test_tool_with_progress", progress),
    tool("test_sampling", sample, PromptText),
    tool("test_elicitation", eliciting(PERSON, required=("username", "email")), Message),
    tool("test_elicitation_sep1034_defaults", eliciting(DEFAULTS, "Review the values")),
    tool("test_elicitation_sep1330_enums", eliciting(ENUMS, "Choose")),
    tool("test_reconnection", reconnect),
    tool("json_schema_2020_12_tool", returning("ok"), Dialect),
)


def told(*contents: Any) -> GetPromptResult:
    return GetPromptResult(
        messages=[
            PromptMessage(
                role="user", content=TextContent(text=one) if isinstance(one, str) else one
            )
            for one in contents
        ]
    )


def prompt(name: str, render: Any, *arguments: str, **completions: Any) -> PromptSpec:
    async def rendered(services, given):
        return told(*render(given))

    taken = [PromptArgument(name=one, description=one, required=True) for one in arguments]
    return PromptSpec(Prompt(name=name, description=name, arguments=taken), rendered, completions)


async def complete(services, typed):
    return [city for city in ("paris", "park", "party") if city.startswith(typed)]


PROMPTS = (
    prompt("test_simple_prompt", lambda _: ["This is a simple prompt for testing."]),
    prompt(
        "test_prompt_with_arguments",
        lambda given: [f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"],
        "arg1",
        "arg2",
        arg1=complete,
    ),
    prompt(
        "test_prompt_with_embedded_resource",
        lambda given: [
            embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing."),
            "Please process the embedded resource above.",
        ],
        "resourceUri",
    ),
    prompt("test_prompt_with_image", lambda _: [IMAGE, "Please analyze the image above."]),
)


def resource(name: str, mime_type: str, content: Any) -> ResourceSpec:
    uri = f"test://{name}"

    async def read(services, parts):
        return ReadResourceResult(contents=[content(uri=uri, mime_type=mime_type)])

    definition = Resource(uri=uri, name=name, description=name, mime_type=mime_type)
    return ResourceSpec(definition, read)


def text(value: str):
    return lambda **head: TextResourceContents(**head, text=value)


async def read_template(services, parts):
    return {"id": parts["id"], "templateTest": True, "data": f"Data for ID: {parts['id']}"}


FEATURES = Features(
    TOOLS,
    PROMPTS,
    (
        resource(
            "static-text", "text/plain", text("This is the content of the static text resource.")
        ),
        resource(
            "static-binary", "image/png", lambda **head: BlobResourceContents(**head, blob=PNG)
        ),
        resource("watched-resource", "text/plain", text("watched")),
        ResourceSpec(
            ResourceTemplate(
                uri_template="test://template/{id}/data",
                name="template",
                mime_type="application/json",
            ),
            read_template,
        ),
    ),
)


class Events(EventStore):
    """An event store in memory, so that a client that reconnects gets what it missed."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    async def store_event(self, stream_id, message):
        self.events.append((stream_id, message))
        return str(len(self.events))

    async def replay_events_after(self, last_event_id, send_callback):
        seen = int(last_event_id)
        stream_id = self.events[seen - 1][0]
        for number, (its_stream, message) in enumerate(self.events[seen:], start=seen + 1):
            if its_stream == stream_id and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream_id


async def accept(context, params):
    return EmptyResult()


@asynccontextmanager
async def open_conformance(services, *, has_sessions: bool):
    """Judge's MCP server with the features of the suite.

    With sessions, which Judge itself does not use, the server can call the client and resume.
    """
    server = build_server(services, viewer, FEATURES)
    server.add_request_handler("logging/setLevel", SetLevelRequestParams, accept)
    server.add_request_handler("resources/subscribe", SubscribeRequestParams, accept)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, accept)
    events = Events() if has_sessions else None
    manager = StreamableHTTPSessionManager(
        server, event_store=events, stateless=not has_sessions, retry_interval=RETRY_MS
    )
    async with manager.run():
        yield manager.handle_request


def main() -> None:
    has_sessions = sys.argv[1] == "sessions"
    serve(
        load_settings(),
        host="127.0.0.1",
        port=0,
        workers=1,
        open_mcp=lambda services: open_conformance(services, has_sessions=has_sessions),
    )


if __name__ == "__main__":
    main()
