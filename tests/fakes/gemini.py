"""A fake Gemini REST service on loopback, whose behaviour and faults a test scripts.

In a test: `async with FakeGemini() as fake:`, then `fake.script("…", finish("SAFETY"))`; or
`with FakeGemini.in_thread() as fake:` beside a server in another process. Unscripted, it answers
each prompt with a valid verdict. All its texts are made up.
"""

import asyncio
import json
import re
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, TypeVar

from aiohttp import web

PERSONAS = ("Therapist", "Analyst", "Coach")
USAGE = {
    "promptTokenCount": 120,
    "candidatesTokenCount": 80,
    "thoughtsTokenCount": 40,
    "cachedContentTokenCount": 30,
}
JSON = "application/json; charset=UTF-8"
FakeT = TypeVar("FakeT", bound=AbstractAsyncContextManager[Any])

_STATUS_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


@dataclass(frozen=True)
class Reply:
    """A response, and how it is sent."""

    body: bytes = b""
    status: int = 200
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drop: Literal["", "before-headers", "after-headers"] = ""
    """Where the connection is cut; in a stream, `after-headers` is after its first half."""
    ends_early: bool = False
    """A stream ends properly after its first half."""
    loses_end: Literal["", "dropped", "open"] = ""
    """Whether a stream is cut after its last event, or does not end at all."""


@dataclass(frozen=True)
class ReceivedRequest:
    """One request as received."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


def as_json(value: object, **wire: Any) -> Reply:
    """*value* as the whole body."""
    return Reply(json.dumps(value).encode(), **wire)


def text(words: str, *, thought: str = "", reason: str = "STOP") -> Reply:
    """A normal reply of the model with *words* as its text."""
    parts: list[dict[str, object]] = [{"text": thought, "thought": True}] if thought else []
    parts.append({"text": words})
    return candidate({"content": {"role": "model", "parts": parts}, "finishReason": reason})


def candidate(value: Mapping[str, object]) -> Reply:
    """A reply with this one candidate."""
    return as_json(
        {"candidates": [{"index": 0, **value}], "usageMetadata": USAGE, "modelVersion": "fake"}
    )


def finish(reason: str, words: str = "") -> Reply:
    """The model stopped for *reason* (SAFETY, MAX_TOKENS, …), perhaps after some *words*."""
    return text(words, reason=reason) if words else candidate({"finishReason": reason})


def blocked(reason: str = "SAFETY") -> Reply:
    """The prompt was refused: no candidates, and a reason."""
    return as_json({"promptFeedback": {"blockReason": reason}, "usageMetadata": USAGE})


def no_candidates() -> Reply:
    """A reply that contains only the usage."""
    return as_json({"usageMetadata": USAGE})


def html(status: int = 200) -> Reply:
    """The HTML of a captive portal or a proxy."""
    page = b"<!doctype html><title>Sign in</title><p>Please sign in to the network."
    return Reply(page, status=status, content_type="text/html; charset=utf-8")


def failure(
    status: int,
    *,
    retry_after: str | None = None,
    retry_delay: str | None = None,
    reason: str = "",
    message: str = "made to fail",
) -> Reply:
    """Google's error JSON; *retry_after* goes in the header, *retry_delay* in the details."""
    details: list[dict[str, str]] = []
    if reason:
        details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason})
    if retry_delay:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        details.append({"@type": kind, "retryDelay": retry_delay})
    name = _STATUS_NAMES.get(status, "UNKNOWN")
    error = {"code": status, "message": message, "status": name, "details": details}
    headers = {"Retry-After": retry_after} if retry_after is not None else {}
    return as_json({"error": error}, status=status, headers=headers)


def dropped(*, after_headers: bool = False) -> Reply:
    """The connection is cut."""
    return Reply(b'{"candidates": [', drop="after-headers" if after_headers else "before-headers")


def dropped_midway(words: str) -> Reply:
    """A stream of *words* whose connection is cut."""
    return replace(text(words), drop="after-headers")


def ended_midway(words: str) -> Reply:
    """A stream of *words* that ends without a reason, as behind a proxy that lost its server."""
    return replace(text(words), ends_early=True)


def without_end(reply: Reply | str, loses_end: Literal["dropped", "open"]) -> Reply:
    """The same, with a stream that is cut after its last event or does not end."""
    return replace(_as_reply(reply), loses_end=loses_end)


def slow(reply: Reply | str, delay_s: float) -> Reply:
    """The same, *delay_s* later."""
    return replace(_as_reply(reply), delay_s=delay_s)


def _as_reply(value: Reply | str | Mapping[str, object]) -> Reply:
    if isinstance(value, Reply):
        return value
    return text(value if isinstance(value, str) else json.dumps(value))


def sentences_in(prompt: str) -> dict[int, dict[int, str]]:
    """Sentences of the `<REFERENCES>` block by numbers of reference and sentence."""
    block = re.search(r"^<REFERENCES>\n(.*?)\n</REFERENCES>$", prompt, re.DOTALL | re.MULTILINE)
    lines = re.findall(r"^\[(\d+)\] (.*)$", block[1], re.MULTILINE) if block else []
    return {int(number): _numbered(words) for number, words in lines}


def _numbered(words: str) -> dict[int, str]:
    """The text after each mark `{1} `, trailing white space included."""
    _, *parts = re.split(r"\{(\d+)\} ", words)
    return {int(at): sentence for at, sentence in zip(parts[::2], parts[1::2], strict=True)}


def references_in(prompt: str) -> dict[int, str]:
    """The texts of the `<REFERENCES>` block by number, without the marks of their sentences."""
    return {number: "".join(own.values()) for number, own in sentences_in(prompt).items()}


def verdict_for(prompt: str, personas: Sequence[str] = PERSONAS) -> dict[str, Any]:
    """A reply to *prompt* that keeps every rule; it cites `[1]`, and its first sentence, if any."""
    first = sentences_in(prompt).get(1, {})
    mark = " [1]" if first else ""
    return {
        "paraphrase": "Two people disagree about who has to act; one asks who is right.",
        "personas": [
            {
                "name": name,
                "verdict": "Partially",
                "rationale": f"You have a point, and so may the other side, says {name}{mark}.",
                "key_points": ["Say what you need.", "Ask for a date.", "Write it down."],
            }
            for name in personas
        ],
        "summary": f"You are not being unreasonable in asking for a plain answer{mark}.",
        "references_help": bool(first),
        "quotes": [{"number": 1, "sentences": list(first)[:1]}] if first else [],
    }


def retelling_for(prompt: str) -> dict[str, str]:
    """A retelling of the dispute in *prompt* that keeps its facts, though little else."""
    story, question = re.findall(r'^(?:What happened|The question): (".*")$', prompt, re.MULTILINE)
    return {
        "retelling": f"I am the other side. What they say of me: {json.loads(story)}",
        "query": f"Am I being unreasonable? They ask: {json.loads(question)}",
    }


def prompt_of(body: Mapping[str, Any]) -> str:
    """The user's turn of a generateContent request."""
    return "".join(part["text"] for turn in body["contents"] for part in turn["parts"])


EVENTS = 10
"""About how many events a stream has."""

MAX_RECEIVED = 1000
"""The most requests that are kept."""


@contextmanager
def served_in_thread(fake: FakeT) -> Iterator[FakeT]:
    """Open *fake* on an event loop of its own."""
    ready = threading.Event()
    loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def serve() -> None:
        async with fake:
            loops.append((asyncio.get_running_loop(), stop := asyncio.Event()))
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(5), "the fake did not start within 5 s"
    try:
        yield fake
    finally:
        [(loop, stop)] = loops
        loop.call_soon_threadsafe(stop.set)
        thread.join(5)


class FakeGemini:
    """The server; requests received are in `seen`, their bodies in `requests`."""

    def __init__(
        self,
        *,
        port: int = 0,
        delay_s: float = 0.0,
        personas: Sequence[str] = PERSONAS,
        streams: bool = True,
    ) -> None:
        self.port = port
        self.streams = streams
        self.delay_s = delay_s
        self.personas = personas
        self.seen: list[ReceivedRequest] = []
        self.arrived = asyncio.Event()
        self.abandoned = asyncio.Event()
        """Set when a client disconnected before its answer."""
        self._queue: deque[Reply] = deque()
        self._runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        """For JUDGE_GEMINI_BASE_URL."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The bodies of all requests, oldest first."""
        return [seen.body for seen in self.seen]

    @property
    def prompts(self) -> list[str]:
        """The user's turn of all requests, oldest first."""
        return [prompt_of(body) for body in self.requests]

    def script(self, *replies: Reply | str | Mapping[str, object]) -> Self:
        """Queue *replies*; a string or a mapping becomes the text of a normal reply."""
        self._queue.extend(_as_reply(reply) for reply in replies)
        return self

    def forget(self) -> None:
        """Drop the script and the requests received."""
        self._queue.clear()
        self.seen.clear()
        self.arrived.clear()
        self.abandoned.clear()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=4 * 1024 * 1024)
        app.router.add_post("/v1beta/models/{model}:generateContent", self._generate)
        app.router.add_get("/v1beta/models/{model}", self._describe)
        if self.streams:
            app.router.add_post("/v1beta/models/{model}:streamGenerateContent", self._generate)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=1024)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @classmethod
    @contextmanager
    def in_thread(cls, **options: Any) -> Iterator[Self]:
        """A server on an event loop of its own, for tests with another process."""
        with served_in_thread(cls(**options)) as fake:
            yield fake

    async def _describe(self, request: web.Request) -> web.StreamResponse:
        described = as_json({"name": f"models/{request.match_info['model']}"})
        return await _send(request, self._queue.popleft() if self._queue else described)

    async def _generate(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.seen.append(ReceivedRequest(request.path, dict(request.headers), body))
        del self.seen[:-MAX_RECEIVED]
        self.arrived.set()
        reply = self._next(request, body)
        try:
            await asyncio.sleep(reply.delay_s or self.delay_s)
            return await _send(request, reply)
        except (asyncio.CancelledError, ConnectionError):
            if not reply.drop:
                self.abandoned.set()
            raise

    def _next(self, request: web.Request, body: Mapping[str, Any]) -> Reply:
        if not request.headers.get("x-goog-api-key"):
            return failure(403, message="Method doesn't allow unregistered callers.")
        if self._queue:
            return self._queue.popleft()
        prompt = prompt_of(body)
        if "retelling" in json.dumps(body.get("generationConfig", {})):
            return _as_reply(retelling_for(prompt))
        return _as_reply(verdict_for(prompt, self.personas))


async def _send(request: web.Request, reply: Reply) -> web.StreamResponse:
    if reply.drop == "before-headers":
        return _cut(request)
    is_whole = reply.content_type == JSON and b'"candidates": [{' in reply.body
    if is_whole and request.path.endswith(":streamGenerateContent"):
        return await _send_events(request, reply)
    headers = {**reply.headers, "Content-Type": reply.content_type}
    if not reply.drop:
        return web.Response(body=reply.body, status=reply.status, headers=headers)
    response = web.StreamResponse(status=reply.status, headers=headers)
    await response.prepare(request)
    await response.write(reply.body)
    return _cut(request)


async def _send_events(request: web.Request, reply: Reply) -> web.StreamResponse:
    """The reply as a stream of events, each with some more of its text, the last with the rest."""
    events = list(_events(json.loads(reply.body)))
    is_cut = reply.drop or reply.ends_early
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for event in events[: len(events) // 2] if is_cut else events:
        await response.write(b"data: " + json.dumps(event).encode() + b"\r\n\r\n")
    if reply.drop or reply.loses_end == "dropped":
        return _cut(request)
    if reply.loses_end == "open":
        await asyncio.Event().wait()
    await response.write_eof()
    return response


def _events(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    [candidate] = body["candidates"]
    for part in candidate.pop("content", {"parts": []})["parts"]:
        words = part["text"]
        size = max(1, len(words) // EVENTS)
        for start in range(0, len(words), size):
            piece = {**part, "text": words[start : start + size]}
            yield {**body, "candidates": [{"index": 0, "content": {"parts": [piece]}}]}
    yield {**body, "candidates": [candidate]}


def _cut(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()  # never read
