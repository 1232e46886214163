"""Gemini's models through google-genai: one call, whole or as it is written.

`RemoteModel` holds the deadline and tries again; what comes back is read in `wire.py`.
"""

import time
from collections.abc import Mapping
from contextlib import aclosing
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import msgspec

from judge.adapters.gemini.client import GeminiClient
from judge.adapters.gemini.wire import (
    GeminiDraft,
    event_data,
    event_failure,
    refusal,
    request_body,
)
from judge.adapters.model_failure import ModelFailure
from judge.ports import OnText, ignore_text
from judge.types.replies import ModelReply, Prompt

if TYPE_CHECKING:
    from google.genai import Client

MAX_OUTPUT_TOKENS: Final = 8192
"""A reply at its limits is about 1,500 tokens; thinking is counted here too."""

NO_STREAM: Final = frozenset(
    {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}
)
"""What a proxy says that knows plain calls only: such a call is made instead."""


class GeminiService:
    """A ModelService over *client*, which its opener closes.

    *reply_schema* is the JSON schema of the reply that the model is asked to keep to; keep it
    loose, since bounds in it are answered with status 400.
    """

    def __init__(
        self, client: GeminiClient, *, model: str, reply_schema: Mapping[str, object]
    ) -> None:
        self.name = model
        self._client = client
        self._reply_schema = reply_schema

    async def ask(
        self, prompt: Prompt, *, has_more_room: bool, on_text: OnText
    ) -> ModelReply | ModelFailure:
        """See `ModelService.ask`; streamed when somebody listens."""
        client = await self._open()
        if isinstance(client, ModelFailure):
            return client
        room = MAX_OUTPUT_TOKENS * (2 if has_more_room else 1)
        if on_text is not ignore_text:
            outcome = await self._read(client, prompt, room, on_text)
            if not isinstance(outcome, ModelFailure) or outcome.status not in NO_STREAM:
                return outcome
        return await self._read(client, prompt, room, None)

    async def warm(self) -> ModelFailure | None:
        """Import the SDK and open the client, if that isn't done."""
        client = await self._open()
        return client if isinstance(client, ModelFailure) else None

    async def _read(
        self, client: "Client", prompt: Prompt, room: int, on_text: OnText | None
    ) -> ModelReply | ModelFailure:
        """A whole reply, or with *on_text* one that is shown while it is written."""
        from google.genai.errors import APIError  # noqa: PLC0415 - takes a second

        draft = GeminiDraft()
        # What the SDK's generate_content and its stream end in. Its types, which are made and read
        # on the way there, take 0.6 ms of CPU a call, and as much for each few chunks; its retries,
        # of which there are none, and the type of the response another 0.1.
        api = client._api_client  # noqa: SLF001
        method = "generateContent" if on_text is None else "streamGenerateContent?alt=sse"
        body = request_body(prompt, prompt.schema or self._reply_schema, room)
        try:
            request = api._build_request("post", f"{_path(self.name)}:{method}", {})  # noqa: SLF001
            request.data = msgspec.json.encode(body)  # the SDK's json takes ten times as long
            response = await api._async_request_once(request, stream=on_text is not None)  # noqa: SLF001
            if on_text is None:
                draft.add(response.response_stream[0])
            else:
                # Below its stream as well, which gives up at a comment as some proxies send them.
                stream: Any = response._aiter_response_stream()  # noqa: SLF001
                async with aclosing(stream) as lines:
                    async for line in lines:
                        if (data := event_data(line)) and draft.add(data):
                            on_text(draft.text)
        except APIError as error:
            headers: Any = getattr(error.response, "headers", {})
            return refusal(error.code, error.details, headers, time.time())
        except ValueError:  # no JSON, or another than of a response
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


def _path(model: str) -> str:
    """Where the service has *model*."""
    is_path = model.startswith(("models/", "tunedModels/"))
    return quote(model if is_path else f"models/{model}")
