"""What servers of models were seen to send, from the shared cases: read, or refused in words."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from judge.adapters.models.gemini import GeminiClient, GeminiService
from judge.adapters.models.openai import open_client
from judge.adapters.models.remote import RemoteModel
from judge.errors import ContentBlocked, ModelUnavailable
from judge.judging.verdicts.reply_schema import reply_schema
from judge.types.replies import ModelReply, Prompt
from judge.types.requests import JudgeRequest
from tests.fakes.chat_server import model_at
from tests.fakes.journal import RecordingJournal

LIVE = Path(__file__).parents[3] / "shared" / "cases" / "live"
INSTRUCTIONS = "You are a fair judge."
PROMPT = Prompt(
    INSTRUCTIONS,
    "Is it me?",
    JudgeRequest(context="The flat is cold for three weeks.", query="Is it me?"),
)

pytestmark = pytest.mark.skipif(not LIVE.exists(), reason="needs the shared cases")


def cases(name: str) -> list[dict[str, Any]]:
    path = LIVE / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def reply_text() -> str:
    return json.dumps(json.loads((LIVE / "reply.json").read_text()))


def filled(value: Any) -> Any:
    """*value* with the reply in place of its placeholder in each text."""
    if isinstance(value, str):
        return value.replace("@REPLY@", reply_text())
    if isinstance(value, list):
        return [filled(item) for item in value]
    return {k: filled(v) for k, v in value.items()} if isinstance(value, dict) else value


def fits(when: str | None, body: Mapping[str, Any]) -> bool:
    """Whether an answer is for a request with this *body*."""
    match when:
        case None:
            return True
        case "system":
            return any(message["role"] == "system" for message in body["messages"])
        case "stream":
            return body.get("stream") is True
        case "json_schema":
            return body.get("response_format", {}).get("type") == "json_schema"
        case str() if when.startswith("max_tokens>"):
            room = body.get("max_tokens") or body.get("max_completion_tokens") or 0
            return room > int(when.removeprefix("max_tokens>"))
        case _:
            return when in body


class Scripted:
    """A server that sends what a case says, and keeps the requests."""

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        self.answers = answers
        self.requests: list[dict[str, Any]] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        found = next(one for one in self.answers if fits(one.get("when"), body))
        if found.get("good"):
            choice = {"delta": {"content": reply_text()}, "finish_reason": "stop"}
            if not body.get("stream"):
                choice = {"message": {"content": reply_text()}, "finish_reason": "stop"}
                return web.json_response({"choices": [choice]})
            found = {"type": "text/event-stream", "events": [{"choices": [choice]}, "[DONE]"]}
        if "status" in found:
            text = filled(found["body"])
            text = text if isinstance(text, str) else json.dumps(text)
            return web.Response(text=text, status=found["status"], content_type=found["type"])
        return await self._stream(request, found)

    async def _stream(self, request: web.Request, found: dict[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": found.get("type") or "x/x"})
        await response.prepare(request)
        for event in filled(found["events"]):
            data = event if isinstance(event, str) else json.dumps(event)
            await response.write(f"data: {data}\n\n".encode())
        await asyncio.sleep(found.get("hold_s", 0))
        return response


@asynccontextmanager
async def served(handler: Any, *paths: str) -> AsyncIterator[str]:
    app = web.Application()
    for path in paths:
        app.router.add_post(path, handler)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def complete(model: RemoteModel, told: list[str]) -> ModelReply:
    return await model.complete(PROMPT, timeout_s=20, doubles_limit=False, on_text=told.append)


@pytest.mark.parametrize("case", cases("chat.jsonl"), ids=lambda case: case["name"])
async def test_chat_completions_are_read_as_they_are_sent(case):
    server, journal, told = Scripted(case["answers"]), RecordingJournal(), []
    right = case["right"]
    async with served(server.answer, "/v1/chat/completions") as url, open_client(url) as client:
        model = model_at(f"{url}/v1", client, journal)
        started = time.monotonic()
        if right["status"] == 503:
            with pytest.raises(ModelUnavailable) as caught:
                await complete(model, told)
            assert len(server.requests) == right["calls"]
            (fields,) = journal.fields_of("model.unavailable")
            for words in right["hint"]:
                assert any(word.lower() in str(fields["hint"]).lower() for word in words)
            assert not any(word in str(caught.value) for word in right["public_lacks"])
            return
        reply = await complete(model, told)
        took_s = time.monotonic() - started

    assert json.loads(reply.text.removeprefix("```json").strip("`\n ")) == json.loads(reply_text())
    assert all(text.lstrip("`json\n").startswith("{") for text in told if text)
    assert len(server.requests) <= right.get("max_calls", 1)
    assert took_s < right.get("within_s", 20) + 5
    if right.get("instructions_kept"):
        assert INSTRUCTIONS in server.requests[-1]["messages"][-1]["content"]


@pytest.mark.parametrize("case", cases("gemini.jsonl"), ids=lambda case: case["name"])
async def test_gemini_s_errors_are_told_apart(case):
    sent = 0

    async def answer(request: web.Request) -> web.Response:
        nonlocal sent
        sent += 1
        if sent > case["sends"].get("times", case.get("times", 99)):
            parts = [{"text": reply_text()}]
            candidate = {"content": {"parts": parts}, "finishReason": "STOP"}
            return web.json_response({"candidates": [candidate]})
        return web.json_response(case["sends"]["body"], status=case["sends"]["status"])

    journal, right = RecordingJournal(), case["right"]
    async with served(answer, "/v1beta/models/{model}") as url:
        client = GeminiClient("AQ.secret", url)
        service = GeminiService(
            client, journal, name="gemini-3.8-flash", reply_schema=reply_schema, thinking="low"
        )
        model = RemoteModel(service, journal, jitter=lambda: -1.0)
        call = model.complete(PROMPT, timeout_s=20, doubles_limit=False)
        if right["class"] == "retry":
            assert (await call).text == reply_text()
            assert sent > 1
        elif right["class"] == "blocked":
            with pytest.raises(ContentBlocked):
                await call
            assert sent == 1
        else:
            with pytest.raises(ModelUnavailable) as caught:
                await call
            (fields,) = journal.fields_of("model.unavailable")
            for words in right["hint"]:
                assert any(word.lower() in str(fields["hint"]).lower() for word in words)
            assert not any(word in str(caught.value) for word in right.get("public_lacks", ()))
            assert sent == 1
        await client.aclose()
    assert "AQ.secret" not in str(journal.entries)
