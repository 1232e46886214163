"""Judge's server with the tools, prompts and resources of the official conformance suite.

All else is Judge's own: HTTP server, origins, limits, transport.
"""

import asyncio
import base64
from contextlib import asynccontextmanager

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import (
    AudioContent,
    CallToolResult,
    Completion,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)

from judge.entrypoints.api.server import serve
from judge.entrypoints.mcp.server import build_server
from judge.entrypoints.mcp.transports import viewer
from judge.settings import load_settings

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGA"
    "hKmMIQAAAABJRU5ErkJggg=="
)
WAV = base64.b64encode(
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0"
).decode()
IMAGE = ImageContent(data=PNG, mime_type="image/png")


def embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(resource=contents)


MIXED = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
CONTENTS = {
    "test_simple_text": ["This is a simple text response for testing."],
    "test_image_content": [IMAGE],
    "test_audio_content": [AudioContent(data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": ["Multiple content types test:", IMAGE, MIXED],
}


def returning(contents):
    async def tool() -> CallToolResult:
        return CallToolResult(
            content=[TextContent(text=one) if isinstance(one, str) else one for one in contents]
        )

    return tool


def add_tools(server) -> None:
    for name, contents in CONTENTS.items():
        server.add_tool(returning(contents), name, description=name)

    @server.tool()
    async def test_error_handling() -> str:
        """Fails."""
        raise ToolError("This tool intentionally returns an error for testing")

    @server.tool()
    async def test_tool_with_progress(context: Context) -> str:
        """Reports progress."""
        for done in (0, 50, 100):
            await context.report_progress(done, 100)
            await asyncio.sleep(0.05)
        return "done"


def add_prompts_and_resources(server) -> None:
    @server.prompt()
    async def test_simple_prompt() -> str:
        """A prompt."""
        return "This is a simple prompt for testing."

    @server.prompt()
    async def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """A prompt."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt()
    async def test_prompt_with_embedded_resource(resourceUri: str) -> list:  # noqa: N803
        """A prompt."""
        content = embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
        return [UserMessage(content), UserMessage("Please process the embedded resource above.")]

    @server.prompt()
    async def test_prompt_with_image() -> list:
        """A prompt."""
        return [UserMessage(IMAGE), UserMessage("Please analyze the image above.")]

    @server.completion()
    async def complete(ref, argument, context) -> Completion:
        cities = ("paris", "park", "party")
        return Completion(values=[city for city in cities if city.startswith(argument.value)])

    @server.resource("test://static-text", mime_type="text/plain")
    async def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    async def static_binary() -> bytes:
        return base64.b64decode(PNG)

    @server.resource("test://template/{id}/data", mime_type="application/json")
    async def template(id: str) -> str:  # noqa: A002
        return f'{{"id": "{id}", "templateTest": true, "data": "Data for ID: {id}"}}'


@asynccontextmanager
async def open_conformance(services):
    """Judge's MCP server with the features of the suite."""
    server = build_server(services, viewer)
    add_tools(server)
    add_prompts_and_resources(server)
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, transport_security=unchecked)
    async with server.session_manager.run():
        yield server.session_manager.handle_request


if __name__ == "__main__":
    serve(load_settings(), host="127.0.0.1", port=0, workers=1, open_mcp=open_conformance)
