"""A fake server of chat completions on loopback, whose behaviour and faults a test scripts.

In a test: `async with ChatServer() as fake:`, then `fake.script(ChatReply(finish="length"))`; or
`with ChatServer.in_thread() as fake:` beside a command. Unscripted, it answers each prompt with a
valid verdict. All its texts are made up.
"""

import asyncio
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import httpx
from aiohttp import web

from judge.adapters.models.openai import OpenaiService
from judge.adapters.models.remote import RemoteModel
from judge.judging.verdicts.reply_schema import exact_reply_schema, reply_schema
from judge.ports import Journal
from tests.fakes.gemini import served_in_thread, verdict_for

USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 120,
    "completion_tokens_details": {"reasoning_tokens": 40},
}


@dataclass(frozen=True)
class ChatReply:
    """A response: its `body` if it has one, else `words` as a stream of events."""

    words: str = ""
    finish: str | None = "stop"
    thought: str = ""
    refusal: str = ""
    usage: Mapping[str, Any] | None = field(default_factory=lambda: USAGE)
    is_streamed: bool = True
    body: bytes | None = None
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut: Literal["", "at-once", "midway", "silently", "before-done", "never"] = ""
    """Where the connection is lost; `silently`: the stream ends properly after half the reply;
    `never`: it does not end at all after its last event."""


def model_at(
    url: str, client: httpx.AsyncClient, journal: Journal, *, name: str = "tiny", key: str = ""
) -> RemoteModel:
    """The model *name* of the server at *url*, which is asked again without a wait."""
    service = OpenaiService(
        client,
        journal,
        url,
        name=f"openai:{name}",
        served_name=name,
        api_key=key,
        exact_schema=exact_reply_schema,
        loose_schema=reply_schema,
    )
    return RemoteModel(service, journal, jitter=lambda: -1.0)


def broken(status: int, error: object = "made to fail", **wire: Any) -> ChatReply:
    """An error with a JSON body."""
    return ChatReply(body=json.dumps({"error": error}).encode(), status=status, **wire)


def page(status: int = 200) -> ChatReply:
    """The HTML of a captive portal or a proxy."""
    return ChatReply(body=b"<!doctype html><p>Sign in.", status=status, content_type="text/html")


class ChatServer:
    """The server; `requests` has the bodies of the requests received, `headers` their headers."""

    def __init__(
        self,
        *,
        port: int = 0,
        models: Sequence[str] = ("tiny",),
        refuses: Sequence[str] = (),
    ) -> None:
        self.port = port
        self.models = models
        self.refuses = refuses
        """A request that contains one of these words is refused, such as `json_schema`."""
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.abandoned = asyncio.Event()
        """Set when a client disconnected before its answer."""
        self._queue: deque[ChatReply] = deque()
        self._runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        """For JUDGE_OPENAI_BASE_URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def script(self, *replies: ChatReply | str) -> Self:
        """Queue *replies*; a string becomes the text of a normal reply."""
        self._queue.extend(
            ChatReply(reply) if isinstance(reply, str) else reply for reply in replies
        )
        return self

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=4 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", self._list)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @classmethod
    @contextmanager
    def in_thread(cls, **options: Any) -> Iterator[Self]:
        """A server on an event loop of its own, for synchronous tests."""
        with served_in_thread(cls(**options)) as fake:
            yield fake

    async def _list(self, request: web.Request) -> web.Response:
        self.headers.append(dict(request.headers))
        listed = [{"id": name, "object": "model"} for name in self.models]
        return web.json_response({"object": "list", "data": listed or None})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        reply = self._next(body)
        try:
            await asyncio.sleep(reply.delay_s)
            return await _send(request, reply, body)
        except (asyncio.CancelledError, ConnectionError):
            if not reply.cut:
                self.abandoned.set()
            raise

    def _next(self, body: Mapping[str, Any]) -> ChatReply:
        for word in self.refuses:
            if word in json.dumps(body):
                return broken(400, {"message": f"{word!r} is not known here"})
        if self._queue:
            return self._queue.popleft()
        if body["model"] not in self.models:
            return broken(404, {"message": f"model {body['model']!r} not found"})
        verdict = json.dumps(verdict_for(body["messages"][-1]["content"]))
        return ChatReply(verdict)


async def _send(
    request: web.Request, reply: ChatReply, body: Mapping[str, Any]
) -> web.StreamResponse:
    if reply.cut == "at-once":
        return _cut(request)
    headers = {**reply.headers, "Content-Type": reply.content_type}
    if reply.body is not None:
        return web.Response(body=reply.body, status=reply.status, headers=headers)
    if not reply.is_streamed:
        message = {"role": "assistant", "content": reply.words, "refusal": reply.refusal or None}
        choice = {"index": 0, "message": message, "finish_reason": reply.finish}
        return web.json_response({"choices": [choice], "usage": reply.usage})
    response = web.StreamResponse(headers={**headers, "Content-Type": "text/event-stream"})
    await response.prepare(request)
    events = [json.dumps(event, ensure_ascii=False) for event in _events(reply, body)]
    is_halved = reply.cut in {"midway", "silently"}
    for event in events[: len(events) // 2] if is_halved else events:
        await response.write(f": still here\ndata: {event}\n\n".encode())
    if reply.cut in {"midway", "before-done"}:
        return _cut(request)
    if reply.cut != "silently":
        await response.write(b"data: [DONE]\n\n")
    if reply.cut == "never":
        await asyncio.Event().wait()
    await response.write_eof()
    return response


def _events(reply: ChatReply, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The events: role, thoughts, words token by token, finish reason, and usage."""
    yield _event({"role": "assistant", "content": ""})
    if reply.thought:
        yield _event({"content": "", "reasoning": reply.thought})
    if reply.refusal:
        yield _event({"refusal": reply.refusal})
    for token in re.findall(r"\s*\w{1,6}|\s*\W", reply.words):
        yield _event({"content": token})
    yield _event({}, reply.finish)
    if reply.usage and body.get("stream_options", {}).get("include_usage"):
        yield {"choices": [], "usage": reply.usage}


def _event(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "usage": None}


def _cut(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()  # never read
