"""Calls Gemini's models through google-genai, with or without streaming.

`RemoteModel` adds deadline and retry; `wire.py` parses the responses.
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import aclosing
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import msgspec

from judge.adapters.models.failure import ModelFailure
from judge.adapters.models.gemini_client import GeminiClient
from judge.adapters.models.gemini_wire import (
    GeminiDraft,
    event_data,
    event_failure,
    refusal,
    request_body,
)
from judge.adapters.models.remote import END_S
from judge.ports import OnText, ignore_text
from judge.types.replies import ModelReply, Prompt

if TYPE_CHECKING:
    from google.genai import Client

MAX_OUTPUT_TOKENS: Final = 8192
"""A reply at its limits is about 1,500 tokens; thinking is counted here too."""

NO_STREAM: Final = frozenset(
    {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}
)
"""What a proxy without streaming answers: a plain call is made instead."""


class GeminiService:
    """A ModelService over *client*, which the caller closes.

    *reply_schema* is the JSON schema of the reply. It must set no bounds, since the service answers
    bounds with status 400.
    """

    def __init__(
        self, client: GeminiClient, *, model: str, reply_schema: Mapping[str, object]
    ) -> None:
        self.name = model
        self._client = client
        self._reply_schema = reply_schema

    async def ask(
        self, prompt: Prompt, *, doubles_limit: bool, on_text: OnText
    ) -> ModelReply | ModelFailure:
        """See `ModelService.ask`; streams when there is an *on_text*."""
        client = await self._open()
        if isinstance(client, ModelFailure):
            return client
        max_tokens = MAX_OUTPUT_TOKENS * (2 if doubles_limit else 1)
        if on_text is not ignore_text:
            outcome = await self._call(client, prompt, max_tokens, on_text)
            if not isinstance(outcome, ModelFailure) or outcome.status not in NO_STREAM:
                return outcome
        return await self._call(client, prompt, max_tokens, None)

    async def warm(self) -> ModelFailure | None:
        """Import the SDK and open the client, if that isn't done."""
        client = await self._open()
        return client if isinstance(client, ModelFailure) else None

    async def _call(
        self, client: "Client", prompt: Prompt, max_tokens: int, on_text: OnText | None
    ) -> ModelReply | ModelFailure:
        """The outcome of one call, which streams if there is an *on_text*."""
        from google.genai.errors import APIError  # noqa: PLC0415 - takes a second

        draft = GeminiDraft()
        # The SDK's internals below generate_content: building and parsing its types would take
        # 0.6 ms of CPU a call, and as much for each few chunks; its retries, of which there are
        # none, and its response type another 0.1.
        api = client._api_client  # noqa: SLF001
        method = "generateContent" if on_text is None else "streamGenerateContent?alt=sse"
        body = request_body(prompt, prompt.schema or self._reply_schema, max_tokens)
        try:
            request = api._build_request("post", f"{_path(self.name)}:{method}", {})  # noqa: SLF001
            request.data = msgspec.json.encode(body)  # the SDK's encoder takes ten times as long
            response = await api._async_request_once(request, stream=on_text is not None)  # noqa: SLF001
            if on_text is None:
                draft.add(response.response_stream[0])
            else:
                await _read_stream(response, draft, on_text)
        except APIError as error:
            headers: Any = getattr(error.response, "headers", {})
            return refusal(error.code, error.details, headers, time.time())
        except ValueError:  # not JSON, or not a response
            return ModelFailure("not-json")
        except Exception as error:  # noqa: BLE001 - the SDK lets its transports' errors through
            return ModelFailure(f"transport:{type(error).__name__}")
        if draft.error:
            return event_failure(draft.error, time.time())
        if on_text is not None and draft.is_cut_short:
            return ModelFailure("cut-short")
        return draft.reply(self.name)

    async def _open(self) -> "Client | ModelFailure":
        try:
            return await self._client.open()
        except Exception as error:  # noqa: BLE001 - certificates, a broken install
            hint = (
                "google-genai could not be started: check its installation, SSL_CERT_FILE and the "
                "proxy variables, which may name a proxy of http:// or https://"
            )
            return ModelFailure(f"client:{type(error).__name__}", may_retry=False, hint=hint)


async def _read_stream(response: Any, draft: GeminiDraft, on_text: OnText) -> None:
    """Add the events of *response* to *draft*; once that is complete, only for END_S more."""
    # Not the SDK's own stream, which fails at comments, as some proxies send them.
    stream = response._aiter_response_stream()  # noqa: SLF001
    try:
        async with asyncio.timeout(None) as end, aclosing(stream) as lines:
            async for line in lines:
                if (data := event_data(line)) and draft.add(data):
                    on_text(draft.text)
                if end.when() is None and draft.is_complete:
                    end.reschedule(asyncio.get_running_loop().time() + END_S)
    except Exception:
        if not draft.is_complete:  # else only the end of the stream was lost
            raise


def _path(model: str) -> str:
    """The URL path of *model*."""
    is_path = model.startswith(("models/", "tunedModels/"))
    return quote(model if is_path else f"models/{model}")
