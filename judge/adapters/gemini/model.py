"""The language model through google-genai, with our own deadline and retry.

`complete` is called by the pipeline; what comes back is read in `wire.py`.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from judge.adapters.gemini.client import GeminiClient
from judge.adapters.gemini.wire import GeminiFailure, parse_response, refusal
from judge.errors import ModelUnavailable
from judge.ports import Journal, OnText, ignore_text
from judge.types.judgements import ModelReply, Prompt

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import GenerateContentConfig

MAX_OUTPUT_TOKENS: Final = 8192
"""A reply at its limits is about 1,500 tokens; thinking is counted here too."""

BACK_OFF_S: Final = 0.25
"""Before the second try, and up to twice that, so that clients don't come back together."""


class GeminiModel:
    """A LanguageModel over *client*, which its opener closes.

    *reply_schema* is the JSON schema of the reply that the model is asked to keep to; keep it
    loose, since bounds in it are answered with status 400.
    """

    gives_verdicts: bool = True

    def __init__(
        self,
        client: GeminiClient,
        *,
        model: str,
        reply_schema: Mapping[str, object],
        journal: Journal,
        max_output_tokens: int = MAX_OUTPUT_TOKENS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._client = client
        self._model = model
        self._reply_schema = dict(reply_schema)
        self._journal = journal
        self._max_output_tokens = max_output_tokens
        self._sleep = sleep
        self._jitter = jitter
        self._template: GenerateContentConfig | None = None

    @property
    def name(self) -> str:
        """The model's name as configured."""
        return self._model

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        has_more_room: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        """One reply to *prompt*; errors as the port promises."""
        async with asyncio.timeout(timeout_s) as limit:
            ask = partial(
                self._ask,
                await self._open(),
                prompt,
                max_output_tokens=self._max_output_tokens * (2 if has_more_room else 1),
            )
            outcome = await ask()
            if isinstance(outcome, GeminiFailure) and await self._wait_to_retry(outcome, limit):
                outcome = await ask()
        if isinstance(outcome, GeminiFailure):
            self._journal.note("model.unavailable", **_fields(outcome))
            raise _unavailable(outcome)
        return outcome

    async def warm(self) -> None:
        """Import the SDK and open the client, if that isn't done; what fails is only noted."""
        with suppress(ModelUnavailable):  # The first request will tell.
            await self._open()

    async def _wait_to_retry(self, failure: GeminiFailure, limit: asyncio.Timeout) -> bool:
        """Wait as long as it takes; False at once if *failure* is final or the wait won't fit."""
        wait_s = failure.retry_after_s
        if wait_s is None:
            wait_s = BACK_OFF_S * (1 + self._jitter())
        left_s = (limit.when() or 0.0) - asyncio.get_running_loop().time()
        if not failure.may_retry or wait_s >= left_s:
            return False
        self._journal.note("model.retried", wait_s=round(wait_s, 3), **_fields(failure))
        await self._sleep(wait_s)
        return True

    async def _ask(
        self, client: "Client", prompt: Prompt, *, max_output_tokens: int
    ) -> ModelReply | GeminiFailure:
        """One call. A failure is returned, not raised.

        So our errors have none of the SDK's behind them, which hold the request's headers and
        with them the key.
        """
        from google.genai.errors import APIError  # noqa: PLC0415 - takes a second

        from judge.adapters.gemini import call_config  # noqa: PLC0415 - takes a second

        if self._template is None:
            self._template = call_config.call_template(self._reply_schema)
        try:
            response = await client.aio.models.generate_content(
                model=self._model,
                contents=call_config.user_text(prompt.text),
                config=call_config.call_config(
                    call_config.call_template(prompt.schema) if prompt.schema else self._template,
                    instructions=prompt.instructions,
                    max_output_tokens=max_output_tokens,
                ),
            )
        except APIError as error:
            headers: Any = getattr(error.response, "headers", {})
            return refusal(error.code, error.details, headers, time.time())
        except Exception as error:  # noqa: BLE001 - the SDK lets its transports' errors through
            return GeminiFailure(f"transport:{type(error).__name__}")
        raw = response.sdk_http_response
        try:
            return parse_response((raw.body if raw else None) or "", self._model)
        except ValueError:
            return GeminiFailure("not-json")

    async def _open(self) -> "Client":
        try:
            return await self._client.open()
        except Exception as error:  # noqa: BLE001 - certificates, a broken install
            hint = "google-genai could not be started: check its installation and SSL_CERT_FILE"
            failure = GeminiFailure(f"client:{type(error).__name__}", hint=hint)
        self._journal.note("model.unavailable", **_fields(failure))
        raise _unavailable(failure)


def _fields(failure: GeminiFailure) -> dict[str, str | float | bool]:
    return {"reason": failure.reason, "status": failure.status, "hint": failure.hint}


def _unavailable(failure: GeminiFailure) -> ModelUnavailable:
    if not failure.may_retry:
        return ModelUnavailable(
            "The language model refuses the requests of this service. Whoever runs it will find "
            "the reason in its log."
        )
    message = "The language model does not answer at the moment. Please try again a little later."
    if failure.retry_after_s is None:
        return ModelUnavailable(message)
    return ModelUnavailable(message, failure.retry_after_s)
