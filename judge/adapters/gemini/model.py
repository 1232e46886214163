"""The language model through google-genai: one client a process, our own deadline and retry.

`complete` is called by the pipeline; what comes back is read in `gemini_wire`. The SDK takes a
second to import, so it is loaded on a thread at first use, or ahead of it by `warm`.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from judge.adapters.gemini.wire import GeminiFailure, parse_response, refusal
from judge.errors import ModelUnavailable
from judge.ports import Journal
from judge.types.judgements import ModelReply, Prompt

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from google.genai import Client
    from google.genai.types import GenerateContentConfig

MAX_OUTPUT_TOKENS: Final = 8192
"""A reply at its limits is about 1,500 tokens; thinking is counted here too."""

GOOGLE: Final = "https://generativelanguage.googleapis.com"
"""Where the SDK sends its requests when nothing else is named."""

BACK_OFF_S: Final = 0.25
"""Before the second try, and up to twice that, so that clients don't come back together."""


class GeminiModel:
    """A LanguageModel on Gemini's REST service, or on what *base_url* puts in its place.

    *reply_schema* is the JSON schema of the reply that the model is asked to keep to; keep it
    loose, since bounds in it are answered with status 400.
    """

    gives_verdicts: bool = True

    def __init__(
        self,
        *,
        api_key: str,
        model: str,
        base_url: str | None,
        reply_schema: Mapping[str, object],
        journal: Journal,
        max_output_tokens: int = MAX_OUTPUT_TOKENS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._api_key = api_key
        self._model = model
        self._base_url = base_url
        self._reply_schema = dict(reply_schema)
        self._journal = journal
        self._max_output_tokens = max_output_tokens
        self._sleep = sleep
        self._jitter = jitter
        self._opening: asyncio.Task[_Opened] | None = None

    @property
    def name(self) -> str:
        """The model's name as configured."""
        return self._model

    async def complete(
        self, prompt: Prompt, *, timeout_s: float, has_more_room: bool
    ) -> ModelReply:
        """One reply to *prompt*; errors as the port promises."""
        async with asyncio.timeout(timeout_s) as limit:
            ask = partial(
                self._ask,
                await self._opened(),
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
        """Import the SDK and open the client, if that isn't done; raises ModelUnavailable."""
        await self._opened()

    async def aclose(self) -> None:
        """Close all connections."""
        if self._opening is None:
            return
        with suppress(ModelUnavailable):
            opened = await self._opened()
            self._opening = None
            await opened.aclose()

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
        self, opened: "_Opened", prompt: Prompt, *, max_output_tokens: int
    ) -> ModelReply | GeminiFailure:
        """One call. A failure is returned, not raised.

        So our errors have none of the SDK's behind them, which hold the request's headers and
        with them the key.
        """
        from google.genai.errors import APIError  # noqa: PLC0415 - takes a second

        from judge.adapters.gemini.call_config import call_config, user_text  # noqa: PLC0415 - takes a second

        try:
            response = await opened.client.aio.models.generate_content(
                model=self._model,
                contents=user_text(prompt.text),
                config=call_config(
                    opened.template,
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

    async def _opened(self) -> "_Opened":
        """The one client; a caller who gives up waiting does not stop its opening."""
        if self._opening is None:
            self._opening = asyncio.create_task(
                _open(self._api_key, self._base_url, self._reply_schema)
            )
        opening = self._opening
        try:
            return await asyncio.shield(opening)
        except Exception as error:  # noqa: BLE001 - certificates, a broken install
            hint = "google-genai could not be started: check its installation and SSL_CERT_FILE"
            failure = GeminiFailure(f"client:{type(error).__name__}", hint=hint)
        if self._opening is opening:  # else another caller has begun anew
            self._opening = None
        self._journal.note("model.unavailable", **_fields(failure))
        raise _unavailable(failure)


@dataclass(frozen=True, slots=True)
class _Opened:
    """The SDK's client, the session it talks through, and what all calls have in common."""

    client: "Client"
    template: "GenerateContentConfig"
    session: "ClientSession"

    async def aclose(self) -> None:
        await self.client.aio.aclose()
        self.client.close()
        await self.session.close()


async def _open(api_key: str, base_url: str | None, reply_schema: Mapping[str, object]) -> _Opened:
    config = await asyncio.to_thread(import_module, "judge.adapters.gemini.call_config")
    import aiohttp  # noqa: PLC0415 - see above

    # The SDK's own session trips over aiohttp's warning against subclassing.
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
        proxy=_proxy_for(base_url or GOOGLE),
        # With it aiohttp reads ~/.netrc and the proxy variables again at each request, on a
        # thread: 1.5 ms of CPU. The proxy is found once, above.
        trust_env=False,
    )
    try:
        client = await asyncio.to_thread(_client, api_key, base_url, session)
    except Exception:
        await session.close()
        raise
    return _Opened(client, config.call_template(reply_schema), session)


def _proxy_for(address: str) -> str | None:
    """The proxy that the environment names for *address*, by the usual variables."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    return None if proxy_bypass(host) else getproxies().get(parts.scheme)


def _client(api_key: str, base_url: str | None, session: "ClientSession") -> "Client":
    from google import genai  # noqa: PLC0415 - see above

    return genai.Client(
        api_key=api_key,
        enterprise=False,
        http_options=genai.types.HttpOptions(
            base_url=base_url,
            api_version="v1beta",
            aiohttp_client=session,
            # Without retry options the SDK sleeps up to 10 s after a failed connection.
            retry_options=genai.types.HttpRetryOptions(attempts=1),
            # aiohttp would carry the key along to wherever a redirect leads.
            async_client_args={"allow_redirects": False},
        ),
    )


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
