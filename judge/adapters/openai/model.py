"""A model behind a server of chat completions: one call, shown as it is written.

`RemoteModel` holds the deadline and tries again; what comes back is read in `wire.py`.
"""

import json
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import httpx2

from judge.adapters.model_failure import ModelFailure
from judge.adapters.openai.client import bearer
from judge.adapters.openai.request import RequestForm, request_body
from judge.adapters.openai.wire import (
    CHECK,
    CONTENT_FILTER,
    DONE,
    ChatDraft,
    event_failure,
    is_blocked,
    refusal,
)
from judge.ports import OnText
from judge.types.replies import ModelReply, Prompt

REFUSED_FORM: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
"""What servers say to a field that they do not know."""

NO_SERVER: Final = (
    "nothing answers at JUDGE_OPENAI_BASE_URL: start the server (Ollama: `ollama serve`), or "
    "correct the address"
)

LONGEST_REPLY: Final = 400_000
"""Characters, twice what is parsed of a reply; past it nothing more is read."""

LONGEST_BODY: Final = 4_000_000
"""Bytes of what comes at once: such a reply with every character escaped, and some more."""


@dataclass(slots=True)
class OpenaiService:
    """A ModelService over *client*, which its opener closes.

    *name* is that of the model as configured, *served_name* what the server calls it.
    *exact_schema* gives the JSON schema that the server holds the reply to a prompt to,
    *loose_schema* is for servers that do not know all of it.
    """

    client: httpx2.AsyncClient
    name: str
    served_name: str
    api_key: str = field(repr=False)
    exact_schema: Callable[[Prompt], Mapping[str, object]]
    loose_schema: Mapping[str, object]
    _form: RequestForm = field(default_factory=RequestForm)

    async def ask(
        self, prompt: Prompt, *, has_more_room: bool, on_text: OnText
    ) -> ModelReply | ModelFailure:
        """See `ModelService.ask`; in the form that this server was found to know."""
        form: RequestForm | None = self._form
        first: ModelFailure | None = None
        while form:
            is_exact = form.response_format == "exact"
            schema = self.exact_schema(prompt) if is_exact else self.loose_schema
            body = request_body(
                form, self.served_name, prompt, prompt.schema or schema,
                factor=2 if has_more_room else 1,
            )  # fmt: skip
            outcome, words = await self._post(body, on_text)
            if not isinstance(outcome, ModelFailure):
                self._form = form
                return outcome.reply(self.name)
            if outcome.status not in REFUSED_FORM:
                return outcome
            first = first or outcome
            form = form.without_what(words)
        return first or ModelFailure("refused")

    async def warm(self) -> ModelFailure | None:
        """Nothing: the first call connects, and a local server loads the model then."""
        return None

    async def _post(
        self, body: Mapping[str, Any], on_text: OnText
    ) -> tuple[ChatDraft | ModelFailure, str]:
        """What one request brought, and of a failure the server's words."""
        draft = ChatDraft()
        try:
            async with self.client.stream(
                "POST", "chat/completions", json=body, headers=bearer(self.api_key)
            ) as response:
                if not response.is_success:
                    return _refused(response, await _whole(response))
                async with aclosing(_events(response)) as events:
                    async for data in events:
                        if draft.add(data):
                            on_text(draft.text)
                        if draft.error or len(draft.text) > LONGEST_REPLY:
                            break
        except httpx2.ConnectError:
            return ModelFailure("transport:ConnectError", hint=NO_SERVER), ""
        except ValueError:  # no JSON, or another than of a completion
            return ModelFailure("not-json", hint=CHECK), ""
        except Exception as error:  # noqa: BLE001 - a key no header can carry, and all of httpx2's
            return ModelFailure(f"transport:{type(error).__name__}"), ""
        if draft.error:
            return event_failure(draft.error, time.time()), ""
        return (ModelFailure("cut-short") if draft.is_cut_short else draft), ""


async def _events(response: httpx2.Response) -> AsyncGenerator[str | bytes, None]:
    """The data of each event, or the whole body where a server does not stream."""
    if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        yield await _whole(response)
        yield DONE
        return
    async for event in httpx2.EventSource(response):
        if event.data:
            yield event.data


async def _whole(response: httpx2.Response) -> bytes:
    """The body, or its first LONGEST_BODY bytes, which are then no JSON."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > LONGEST_BODY:
            break
    return bytes(body[:LONGEST_BODY])


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
