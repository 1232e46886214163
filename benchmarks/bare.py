"""The baseline of `overhead.py`: a Litestar handler that only makes the same model call."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from google import genai
from google.genai import types
from litestar import Litestar, post
from litestar.datastructures import State

from judge.judging.prompts import DEFAULT_PERSONAS, render_prompt
from judge.judging.verdicts.reply_schema import reply_schema
from judge.types.requests import JudgeRequest

REQUEST = JudgeRequest(context="My landlord will not mend the boiler.", query="Am I wrong?")
PROMPT = render_prompt(REQUEST, (), DEFAULT_PERSONAS)


def app() -> Litestar:
    return Litestar([judge], lifespan=[client], openapi_config=None, logging_config=None)


@asynccontextmanager
async def client(app: Litestar) -> AsyncIterator[None]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        options = types.HttpOptions(
            base_url=os.environ["JUDGE_GEMINI_BASE_URL"],
            api_version="v1beta",
            aiohttp_client=session,
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        app.state.gemini = genai.Client(api_key="benchmark", http_options=options)
        yield


@post("/api/judge", status_code=200)
async def judge(data: dict[str, Any], state: State) -> dict[str, Any]:
    reply = await state.gemini.aio.models.generate_content(
        model="gemini-3.8-flash",
        contents=f"{PROMPT.text}{data['context']}{data['query']}",
        config=types.GenerateContentConfig(
            system_instruction=PROMPT.instructions,
            response_mime_type="application/json",
            response_json_schema=reply_schema(),
        ),
    )
    return {"text": reply.text}
