"""Gemini, through google-genai's public client, with or without streaming.

The SDK takes a second to import, so it is loaded on a thread at first use. `RemoteModel` adds
deadline and retries. Facts about the service: https://ai.google.dev/gemini-api/docs.
"""

import asyncio
import re
import warnings
from collections.abc import Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from judge.adapters.models.failure import GOOGLE_HINTS, ModelFailure, failure_of
from judge.adapters.models.remote import Draft, follow, in_each_object
from judge.ports import Journal, OnText, ignore_text
from judge.types.replies import ModelReply, Prompt, Thinking, Usage

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import GenerateContentResponse
    from httpx2 import AsyncClient

MAX_OUTPUT_TOKENS: Final = 32_768
"""A reply at its limits is about 1,500 tokens, but thinking is counted here too; room that is not
used costs nothing. The service's own ceiling is 65,536, which doubling reaches."""

BUDGETS: Final = {"off": 0, "minimal": 512, "low": 1024, "medium": 8192, "high": 24_576}
"""Tokens for models before Gemini 3, which know no levels."""

ACCOUNT_LIMITED: Final = "PUP_LIMITED_DISABLED"


@dataclass(slots=True)
class GeminiClient:
    """Opens the SDK's client, for Google's or *base_url*, at first use; callers set time-outs."""

    api_key: str = field(repr=False)
    base_url: str | None = None
    _opening: "asyncio.Task[tuple[Client, AsyncClient]] | None" = None

    async def open(self) -> "Client":
        """The one client; raises whatever keeps the SDK from starting, and then tries again.

        A caller that is cancelled does not stop the opening.
        """
        if self._opening is None or (self._opening.done() and self._opening.exception()):
            self._opening = asyncio.create_task(asyncio.to_thread(self._open))
        return (await asyncio.shield(self._opening))[0]

    async def aclose(self) -> None:
        """Close all connections."""
        if self._opening is None:
            return
        opening, self._opening = self._opening, None
        with suppress(Exception):
            client, http = await opening
            await http.aclose()
            client.close()

    def _open(self) -> "tuple[Client, AsyncClient]":
        genai, httpx2 = import_module("google.genai"), import_module("httpx2")
        # Each new finish reason would be a line on stderr; we read those that we know.
        warnings.filterwarnings("ignore", message=".* is not a valid ")
        # Our own, so that no redirect takes the key with it, and whatever else is installed.
        http = httpx2.AsyncClient(
            timeout=None, follow_redirects=False, limits=httpx2.Limits(max_connections=None)
        )
        client = genai.Client(
            api_key=self.api_key,
            enterprise=False,
            http_options=genai.types.HttpOptions(
                base_url=self.base_url,
                api_version="v1beta",
                retry_options=genai.types.HttpRetryOptions(attempts=1),  # RemoteModel retries
                httpx_async_client=http,
            ),
        )
        return client, http


@dataclass(slots=True)
class GeminiService:
    """A ModelService over *client*, which the caller closes.

    *reply_schema* gives the JSON schema of the reply to a prompt. It must set no bounds, since the
    service answers bounds with status 400.
    """

    client: GeminiClient
    journal: Journal
    name: str
    reply_schema: Callable[[Prompt], Mapping[str, object]]
    thinking: Thinking

    async def ask(
        self, prompt: Prompt, *, doubles_limit: bool, on_text: OnText
    ) -> ModelReply | ModelFailure:
        """See `ModelService.ask`; streams for *on_text*, without thinking once it was refused."""
        if failure := await self.warm():
            return failure
        max_tokens = MAX_OUTPUT_TOKENS * (2 if doubles_limit else 1)
        listener = None if on_text is ignore_text else on_text
        while True:
            outcome = await self._call(prompt, max_tokens, listener)
            if not isinstance(outcome, ModelFailure):
                return outcome
            if self.thinking != "model" and outcome.concerns_thinking:
                self.thinking = "model"
                self.journal.note("model.thinking_refused", model=self.name)
            elif listener and outcome.reason in {"not-json", "no-stream"}:
                # The SDK cannot read the comments and names that proxies put into streams.
                if outcome.reason == "not-json":
                    self.journal.note("model.retried", reason="not-json", status=0, wait_s=0.0)
                listener = None
            else:
                return outcome

    async def warm(self) -> ModelFailure | None:
        """Import the SDK and open the client, if that isn't done."""
        try:
            await self.client.open()
        except Exception as error:  # noqa: BLE001 - certificates, a broken install
            hint = (
                "google-genai could not be started: check its installation, SSL_CERT_FILE and the "
                "proxy variables"
            )
            return ModelFailure(f"client:{type(error).__name__}", may_retry=False, hint=hint)
        return None

    async def _call(
        self, prompt: Prompt, max_tokens: int, on_text: OnText | None
    ) -> ModelReply | ModelFailure:
        draft = GeminiDraft()
        asked = {
            "model": self.name,
            "contents": prompt.text,
            "config": self._config(prompt, max_tokens),
        }
        try:
            models = (await self.client.open()).aio.models
            if on_text is None:
                draft.add(await models.generate_content(**asked))
            else:
                chunks: Any = await models.generate_content_stream(**asked)
                await follow(chunks, draft, on_text)
        except Exception as error:  # noqa: BLE001 - the SDK lets its transports' errors through
            return _failure(error)
        if on_text is not None and draft.is_cut_short and (draft.text or not draft.has_parts):
            return ModelFailure("cut-short")
        if draft.finish == ACCOUNT_LIMITED:
            hint = "Google has limited this account: look at its notices in AI Studio"
            return ModelFailure("refused", may_retry=False, hint=hint)
        return draft.reply(self.name)

    def _config(self, prompt: Prompt, max_tokens: int) -> Any:
        from google.genai import types  # noqa: PLC0415 - takes a second

        thinking = thinking_config(self.name, self.thinking)
        # No temperature: Google advises to keep the default with Gemini 3.
        return types.GenerateContentConfig(
            system_instruction=prompt.instructions,
            max_output_tokens=max_tokens,
            response_mime_type="application/json",
            response_json_schema=in_each_object(  # the service keeps to the order
                prompt.schema or self.reply_schema(prompt),
                lambda one: (
                    {"propertyOrdering": [*one["properties"]]} if "properties" in one else {}
                ),
            ),
            thinking_config=types.ThinkingConfig(**thinking) if thinking else None,
            store=False,  # else Google keeps every dispute for up to 55 days
        )


async def check_model(
    api_key: str, base_url: str | None, model: str, *, timeout_s: float
) -> ModelFailure | None:
    """Ask for the description of *model*, which costs nothing; a failure says what to mend."""
    try:
        async with asyncio.timeout(timeout_s), aclosing(GeminiClient(api_key, base_url)) as client:
            await (await client.open()).aio.models.get(model=model)
    except Exception as error:  # noqa: BLE001 - the SDK lets its transports' errors through
        return _failure(error)
    return None


def _failure(error: Exception) -> ModelFailure:
    from google.genai.errors import APIError  # noqa: PLC0415 - takes a second

    if isinstance(error, APIError):
        headers: Mapping[str, str] = getattr(error.response, "headers", None) or {}
        failure = failure_of(error.code, error.details, headers.get("Retry-After"), GOOGLE_HINTS)
        # So a proxy without streaming answers, not in Google's JSON.
        is_proxy = error.code in {404, 405, 501} and "'error'" not in str(error.details)
        return replace(failure, reason="no-stream") if is_proxy else failure
    if isinstance(error, ValueError):  # not JSON, or not a response
        return ModelFailure("not-json")
    return ModelFailure(f"transport:{type(error).__name__}")


@dataclass(slots=True)
class GeminiDraft(Draft):
    """See `Draft`; each part tells the usage so far."""

    has_parts: bool = False

    def read(self, part: "GenerateContentResponse") -> None:
        """Take what *part* says."""
        self.has_parts = True
        feedback = part.prompt_feedback
        self.blocked = _name(feedback and feedback.block_reason) or self.blocked
        self.version = part.model_version or self.version
        if told := part.usage_metadata:
            self.usage = Usage.reported(
                told.prompt_token_count,
                told.candidates_token_count,
                told.thoughts_token_count,
                told.cached_content_token_count,
            )
        if part.candidates:
            candidate = part.candidates[0]
            pieces = (candidate.content and candidate.content.parts) or ()
            self.text += "".join(piece.text or "" for piece in pieces if not piece.thought)
            self.finish = _name(candidate.finish_reason) or self.finish


def thinking_config(model: str, thinking: Thinking) -> dict[str, Any]:
    """The fields of `thinkingConfig` for *model*; empty where nothing is to be said.

    Levels from Gemini 3 on, a budget of tokens before. Each family refuses levels below its lowest.
    """
    version = re.search(r"gemini-(\d+)(?:\.(\d+))?", model)
    if thinking == "model" or version is None:
        return {}
    major, minor = int(version[1]), int(version[2] or 0)
    if major < 3:
        is_pro = "pro" in model  # which cannot be switched off
        return {"thinking_budget": max(BUDGETS[thinking], 128 if is_pro else 0)}
    knows_minimal = "flash-lite" in model or ("flash" in model and (major, minor) < (3, 7))
    if thinking in {"off", "minimal"}:
        return {"thinking_level": "minimal" if knows_minimal else "low"}
    return {"thinking_level": thinking}


def _name(value: Any) -> str:
    """The word of an enum of the SDK, which also takes words that it does not know."""
    word = str(getattr(value, "value", value) or "").upper()
    return "" if word in {"BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"} else word
