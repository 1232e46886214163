"""A model behind a server of chat completions: Ollama, llama.cpp, vLLM, hosted ones.

`RemoteModel` adds deadline and retries; `chat_reply.py` reads the replies. Servers support
different fields: after a refusal the next form is tried, and the one that worked is remembered.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from http import HTTPStatus
from typing import Any, Final, Literal
from urllib.parse import urlsplit, urlunsplit

import httpx

from judge.adapters.models.chat_reply import ChatDraft
from judge.adapters.models.failure import ModelFailure, failure_of
from judge.adapters.models.remote import follow, in_each_object
from judge.errors import ConfigurationError, ModelUnavailable
from judge.ports import Journal, OnText
from judge.types.replies import ModelReply, Prompt, Thinking

MAX_OUTPUT_TOKENS: Final = 4096
"""The longest valid reply has about 1,500 tokens, besides thinking; some servers reserve this many
of a context of 16,000."""

MAX_BODY_BYTES: Final = 4_000_000
"""Reading stops there; a reply has a few thousand characters."""

CHECK_SETTINGS: Final = "check JUDGE_MODEL and JUDGE_OPENAI_BASE_URL"

ResponseFormat = Literal["exact", "json_schema", "json_object", "text"]
FORMATS: Final[tuple[ResponseFormat, ...]] = ("exact", "json_schema", "json_object", "text")
"""Strictest first. `exact` is `json_schema` with bounds and the names of personas in the schema,
which not every server supports."""

_REFUSED: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
_FAILED: Final = frozenset({HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.NOT_IMPLEMENTED})

_CHANGES: Final[tuple[tuple[str, frozenset[int], dict[str, Any]], ...]] = (
    ("max_completion_tokens", _REFUSED, {"limit_field": "max_completion_tokens"}),
    ("stream_options", _REFUSED, {"includes_usage": False}),
    ("reasoning|think", _REFUSED, {"says_effort": False}),
    (
        r"\broles?\b|developer |system mess|only user",
        _REFUSED | _FAILED,
        {"has_system_role": False},
    ),
    ("stream", _REFUSED | {403, 405, 501}, {"streams": False}),
)
"""What a message complains of, with such a status, and what is changed then."""

_HINTS: Final[Mapping[str, str]] = {
    "data policy": "no provider of this model keeps to the account's privacy settings: change them",
    "model_not_found|No endpoints|^404.*(?:model|eployment)|(?i:invalid model|valid model id|decom"
    "missioned|allowed to access model)": "JUDGE_MODEL names no model of this server, or none that "
    "the key may use (Ollama: `ollama list` shows those it has, `ollama pull NAME` gets one)",
    "unsupported_country": "the server is not offered in this country: use another",
    "^40[13]|(?i:API key (?:not (?:valid|found)|provided))|Authorization header": "the key was "
    "refused: check JUDGE_OPENAI_API_KEY",
    "^40[45]": "there are no chat completions at JUDGE_OPENAI_BASE_URL, which mostly ends in /v1, "
    "as in http://127.0.0.1:11434/v1",
    "^3": "JUDGE_OPENAI_BASE_URL leads to a redirect, which is not followed with a key",
    "": f"the server does not take such a request: {CHECK_SETTINGS}, and that the model's context "
    "has room for 16,000 tokens",
}
"""What the operator can do about an error of such words behind its status, the first that fits."""

_FLAGGED: Final = re.compile(
    '"(?:content_(?:filter|policy_violation)|Responsible\\w+|data_inspection_failed|flagged_input)"'
)
"""In the error of a server whose filter refuses the dispute itself."""

_CODES: Final = {"insufficient_quota": 429, "invalid_api_key": 401, "model_not_found": 404}

_CAP: Final = re.compile(
    r"(?:at most|less than or equal to|maximum(?: of| is| value is)?) `?(\d[\d,]*)"
    r"|> (\d+), which is the maximum|\[1, ?(\d+)\]"
)
_SCHEMA: Final = re.compile("schema|grammar|response_format|structured|not implemented")
"""In the message of a server that fails at the form of the reply, not at everything."""


@dataclass(frozen=True, slots=True)
class RequestForm:
    """The fields of a request that a server is assumed to support."""

    response_format: ResponseFormat = FORMATS[0]
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    max_tokens: int = 10**9
    """The server's own cap."""
    streams: bool = True
    includes_usage: bool = True
    has_system_role: bool = True
    says_effort: bool = True

    def after_refusal(self, status: int, message: str) -> "RequestForm | None":
        """The next form to try after a refusal with *message*; None when there is none.

        First without what the message complains of, then with a weaker format of the reply.
        """
        told = message.lower()
        for words, statuses, change in _CHANGES:
            form = replace(self, **change)
            if status in statuses and re.search(words, told) and form != self:
                return form
        if status in _REFUSED and 0 < (limit := self._smaller_limit(told)) < self.max_tokens:
            return replace(self, max_tokens=limit)
        cannot = status == HTTPStatus.NOT_IMPLEMENTED or (status >= 500 and _SCHEMA.search(told))
        # OpenRouter answers with 404 where no provider supports the form.
        has_no_route = "can handle the requested parameters" in message
        if not (status in _REFUSED or cannot or has_no_route):
            return None
        weaker = FORMATS[FORMATS.index(self.response_format) + 1 :]
        return replace(self, response_format=weaker[0]) if weaker else None

    def _smaller_limit(self, told: str) -> int:
        """The limit that a refusal names, half of ours if it only complains of it; else 0."""
        if "tokens" in told and (cap := _CAP.search(told)):
            return int(cap[cap.lastindex or 0].replace(",", ""))
        half = min(self.max_tokens, MAX_OUTPUT_TOKENS) // 2
        return half if half > 1000 and re.search("_tokens|in the completion", told) else 0


@dataclass(slots=True)
class OpenaiService:
    """A ModelService at *base_url* over *client*, which the caller closes.

    *name* is the model's name as configured, *served_name* the server's name for it.
    *exact_schema* gives the JSON schema of the reply to a prompt; *loose_schema* is for servers
    that do not support all of it.
    """

    client: httpx.AsyncClient
    journal: Journal
    base_url: str
    name: str
    served_name: str
    api_key: str = field(repr=False)
    exact_schema: Callable[[Prompt], Mapping[str, object]]
    loose_schema: Callable[[Prompt], Mapping[str, object]]
    thinking: Thinking = "low"
    _form: RequestForm = field(default_factory=RequestForm)

    async def ask(
        self, prompt: Prompt, *, doubles_limit: bool, on_text: OnText
    ) -> ModelReply | ModelFailure:
        """See `ModelService.ask`; remembers the form that the server supports."""
        form: RequestForm | None = self._form
        failures: list[ModelFailure] = []
        while form:
            body = self._body(form, prompt, factor=2 if doubles_limit else 1)
            outcome, told = await self._post(body, on_text)
            if isinstance(outcome, ChatDraft):
                if form != self._form:
                    self.journal.note("model.form", **asdict(form))
                self._form = form
                reply = outcome.reply(self.name)
                if outcome.repairs:
                    self.journal.note("model.repaired", repairs=" ".join(sorted(outcome.repairs)))
                return reply
            failures.append(outcome)
            form = None if outcome.reason == "quota" else form.after_refusal(outcome.status, told)
        return failures[0]

    async def warm(self) -> ModelFailure | None:
        """Does nothing: the first call connects, and a local server loads the model then."""
        return None

    def _body(self, form: RequestForm, prompt: Prompt, *, factor: int) -> dict[str, Any]:
        """The JSON body of a request in *form*, with *factor* times the usual output limit."""
        is_exact = form.response_format == "exact" and not prompt.schema
        schema = (
            self.exact_schema(prompt) if is_exact else prompt.schema or self.loose_schema(prompt)
        )
        instructions = prompt.instructions
        if form.response_format in {"json_object", "text"}:  # else the server enforces the schema
            instructions += f"\n\nThe JSON schema of your answer is {json.dumps(schema)}"
        messages = [
            {"role": "system", "content": instructions},
            {"role": "user", "content": prompt.text},
        ]
        if not form.has_system_role:
            messages = [{"role": "user", "content": f"{instructions}\n\n{prompt.text}"}]
        body: dict[str, Any] = {
            "model": self.served_name,
            "messages": messages,
            "stream": form.streams,
            form.limit_field: min(MAX_OUTPUT_TOKENS * factor, form.max_tokens),
            **_response_format(form.response_format, schema),
        }
        if form.streams and form.includes_usage:
            body["stream_options"] = {"include_usage": True}
        if form.says_effort and self.thinking != "model":
            body["reasoning_effort"] = "none" if self.thinking == "off" else self.thinking
        return body

    async def _post(
        self, body: Mapping[str, Any], on_text: OnText
    ) -> tuple[ChatDraft | ModelFailure, str]:
        """The draft or failure of one request, and the server's message if it refused."""
        draft = ChatDraft()
        address = endpoint(self.base_url, "chat/completions")
        headers = bearer(self.api_key)
        try:
            async with self.client.stream("POST", address, json=body, headers=headers) as response:
                if not response.is_success:
                    told, error = "".join([data async for data in _events(response)]), None
                    with suppress(ValueError):
                        error = json.loads(told)
                    wait = response.headers.get("Retry-After")
                    return _failure_of(response.status_code, error, wait), told
                await follow(_events(response), draft, on_text)
        except httpx.ConnectError:
            hint = (
                "nothing answers at JUDGE_OPENAI_BASE_URL: start the server (Ollama: `ollama "
                "serve`), or correct the address"
            )
            return ModelFailure("transport:ConnectError", hint=hint), ""
        except ValueError:  # not JSON, or not a completion
            return ModelFailure("not-json", hint=CHECK_SETTINGS), ""
        except Exception as error:  # noqa: BLE001 - httpx's, or a key that no header can hold
            return ModelFailure(f"transport:{type(error).__name__}"), ""
        if draft.error:
            return _failure_of(_told_status(draft.error), {"error": draft.error}), ""
        return (ModelFailure("cut-short") if draft.is_cut_short else draft), ""


def open_client(base_url: str, setting: str = "JUDGE_OPENAI_BASE_URL") -> httpx.AsyncClient:
    """A client of *base_url* without time-outs; raises ConfigurationError that names *setting*."""
    try:
        return httpx.AsyncClient(
            timeout=None,  # noqa: S113 - the deadline is the caller's
            limits=httpx.Limits(max_connections=None),
            # No proxy leads to this machine.
            trust_env=urlsplit(base_url).hostname not in {"localhost", "127.0.0.1", "::1"},
        )
    except (OSError, ImportError, ValueError, httpx.InvalidURL) as error:  # httpx may lack SOCKS
        raise ConfigurationError(
            f"No client for {setting} can be opened ({type(error).__name__}). Correct it, or "
            "SSL_CERT_FILE and the proxy variables where they are set."
        ) from None


def endpoint(base_url: str, path: str) -> str:
    """The address of *path* below *base_url*, whose query stays behind the path."""
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path}"))


def bearer(api_key: str) -> dict[str, str]:
    """The headers that carry *api_key*; none for no key."""
    return {"Authorization": f"Bearer {api_key}"} if api_key else {}


async def served_models(base_url: str, api_key: str, *, timeout_s: float) -> tuple[str, ...]:
    """The models of the server at *base_url*; raises ModelUnavailable and ConfigurationError."""
    client = open_client(base_url)
    try:
        async with asyncio.timeout(timeout_s), client:
            response = await client.get(endpoint(base_url, "models"), headers=bearer(api_key))
            models = response.raise_for_status().json().get("data") or ()
            return tuple(str(model["id"]) for model in models)
    except httpx.HTTPStatusError as error:
        reason = f"status {error.response.status_code}"
    except Exception as error:  # noqa: BLE001 - no list, or what httpx lets through of its proxy
        reason = type(error).__name__
    raise ModelUnavailable(f"The server does not list its models ({reason}).")


async def _events(response: httpx.Response) -> AsyncGenerator[str, None]:
    """The data of each event; the whole body if it is no stream, whatever its type says."""
    pending, size, is_stream = b"", 0, False
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            raise ValueError("too long for a reply")
        pending = (pending + chunk).lstrip(b"\xef\xbb\xbf \t\r\n")  # a byte order mark, too
        is_stream = is_stream or pending.startswith((b"data:", b"event:", b"id:", b"retry:", b":"))
        if is_stream:
            *lines, pending = pending.split(b"\n")
            for data in filter(None, map(_data, lines)):
                yield data
    if rest := (_data(pending) if is_stream else pending.decode(errors="replace")):
        yield rest


def _data(line: bytes) -> str:
    """The data of a line of a stream; empty for comments, names and ends of events."""
    return line[5:].decode(errors="replace").strip() if line.startswith(b"data:") else ""


def _failure_of(status: int, error: object, wait: str | None = None) -> ChatDraft | ModelFailure:
    """The failure for an *error*; one in the middle of a stream, without status, may be retried."""
    if _FLAGGED.search(json.dumps(error)):
        return ChatDraft(blocked="CONTENT_FILTER")
    if status:
        return failure_of(status, error, wait, _HINTS)
    return ModelFailure("error-event", hint=f"the server failed: see its log, and {CHECK_SETTINGS}")


def _told_status(error: object) -> int:
    """The status that an *error* in the middle of a stream tells by its code, else 0."""
    code = str(error.get("code")) if isinstance(error, Mapping) else ""
    return _CODES.get(code) or (int(code) if re.fullmatch(r"[45]\d\d", code) else 0)


def _response_format(form: ResponseFormat, schema: Mapping[str, object]) -> dict[str, Any]:
    if form == "text":
        return {}
    if form == "json_object":
        return {"response_format": {"type": form}}
    # As strict mode demands of each object.
    closed = in_each_object(schema, lambda _: {"additionalProperties": False})
    strict = {"name": "reply", "strict": True, "schema": closed}
    return {"response_format": {"type": "json_schema", "json_schema": strict}}
