"""Calls a model behind a server of chat completions, with streaming.

`RemoteModel` adds deadline and retry; `wire.py` parses the responses.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import httpx2

from judge.adapters.models.failure import ModelFailure
from judge.adapters.models.openai_client import bearer
from judge.adapters.models.openai_request import RequestForm, request_body
from judge.adapters.models.openai_wire import (
    CHECK_SETTINGS,
    CONTENT_FILTER,
    DONE,
    ChatDraft,
    event_failure,
    is_blocked,
    refusal,
)
from judge.adapters.models.remote import END_S
from judge.ports import OnText
from judge.types.replies import ModelReply, Prompt

UNSUPPORTED_FIELD: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
"""What servers answer to a field that they do not support."""

NO_SERVER: Final = (
    "nothing answers at JUDGE_OPENAI_BASE_URL: start the server (Ollama: `ollama serve`), or "
    "correct the address"
)

MAX_REPLY_CHARS: Final = 400_000
"""Twice what is parsed of a reply; reading stops there."""

MAX_BODY_BYTES: Final = 4_000_000
"""Without streaming: a reply of MAX_REPLY_CHARS with every character escaped, and some more."""


@dataclass(slots=True)
class OpenaiService:
    """A ModelService over *client*, which the caller closes.

    *name* is the model's name as configured, *served_name* the server's name for it.
    *exact_schema* gives the JSON schema of the reply to a prompt; *loose_schema* is for servers
    that do not support all of it.
    """

    client: httpx2.AsyncClient
    name: str
    served_name: str
    api_key: str = field(repr=False)
    exact_schema: Callable[[Prompt], Mapping[str, object]]
    loose_schema: Mapping[str, object]
    _form: RequestForm = field(default_factory=RequestForm)

    async def ask(
        self, prompt: Prompt, *, doubles_limit: bool, on_text: OnText
    ) -> ModelReply | ModelFailure:
        """See `ModelService.ask`; remembers the form that the server supports."""
        form, first_failure = self._form, None
        while True:
            is_exact = form.response_format == "exact" and not prompt.schema
            schema = self.exact_schema(prompt) if is_exact else prompt.schema or self.loose_schema
            factor = 2 if doubles_limit else 1
            body = request_body(form, self.served_name, prompt, schema, factor=factor)
            outcome, message = await self._post(body, on_text)
            if not isinstance(outcome, ModelFailure):
                self._form = form
                return outcome.reply(self.name)
            if outcome.status not in UNSUPPORTED_FIELD:
                return outcome
            first_failure = first_failure or outcome
            weaker = form.after_refusal(message)
            if weaker is None:
                return first_failure
            form = weaker

    async def warm(self) -> ModelFailure | None:
        """Does nothing: the first call connects, and a local server loads the model then."""
        return None

    async def _post(
        self, body: Mapping[str, Any], on_text: OnText
    ) -> tuple[ChatDraft | ModelFailure, str]:
        """The draft or failure of one request, and the server's message if it refused."""
        draft = ChatDraft()
        try:
            async with self.client.stream(
                "POST", "chat/completions", json=body, headers=bearer(self.api_key)
            ) as response:
                if not response.is_success:
                    return _refused(response, await _read_body(response))
                async with aclosing(_events(response)) as events:
                    async for data in events:
                        if draft.add(data):
                            on_text(draft.text)
                        if draft.error or len(draft.text) > MAX_REPLY_CHARS:
                            break
        except httpx2.ConnectError:
            return ModelFailure("transport:ConnectError", hint=NO_SERVER), ""
        except ValueError:  # not JSON, or not a completion
            return ModelFailure("not-json", hint=CHECK_SETTINGS), ""
        except Exception as error:  # noqa: BLE001 - httpx2's, or a key that no header can hold
            if not draft.is_ended:  # else only the end of the stream was lost
                return ModelFailure(f"transport:{type(error).__name__}"), ""
        if draft.error:
            return event_failure(draft.error, time.time()), ""
        return (ModelFailure("cut-short") if draft.is_cut_short else draft), ""


async def _events(response: httpx2.Response) -> AsyncGenerator[str | bytes, None]:
    """The data of each event; the whole body and DONE if the server does not stream."""
    if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        yield await _read_body(response)
        yield DONE
        return
    response.encoding = "utf-8"  # of every event stream, whatever its header says
    events = aiter(httpx2.EventSource(response))
    async for event in events:
        if event.data.strip() == DONE:
            yield DONE
            break
        if event.data:
            yield event.data
    with suppress(Exception):  # of a reply that is complete
        async with asyncio.timeout(END_S):
            async for _ in events:
                pass


async def _read_body(response: httpx2.Response) -> bytes:
    """The body, cut after MAX_BODY_BYTES, which makes it invalid JSON."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            break
    return bytes(body[:MAX_BODY_BYTES])


def _refused(response: httpx2.Response, body: bytes) -> tuple[ChatDraft | ModelFailure, str]:
    try:
        error = json.loads(body)
    except ValueError:
        error = None
    if is_blocked(error):
        return ChatDraft(finish=CONTENT_FILTER), ""
    retry_after = response.headers.get("Retry-After", "")
    failure = refusal(response.status_code, error, retry_after, time.time())
    return failure, body.decode(errors="replace")
