"""The client of chat completions against a fake server: requests, and how servers respond.

What it shares with other models is in tests/contract/test_language_model.py.
"""

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from judge.adapters.models.openai import (
    MAX_BODY_BYTES,
    MAX_OUTPUT_TOKENS,
    endpoint,
    open_client,
    served_models,
)
from judge.errors import ConfigurationError, ContentBlocked, ModelUnavailable
from judge.judging.prompts import DEFAULT_PERSONAS
from judge.judging.verdicts.reply_schema import reply_schema
from judge.ports import ignore_text
from judge.types.replies import ModelReply, Prompt
from judge.types.requests import JudgeRequest
from tests.fakes.chat_server import ChatReply, ChatServer, broken, model_at
from tests.fakes.journal import RecordingJournal, full_report

KEY = "sk-very-secret"
PROMPT = Prompt(
    "You are a fair judge.",
    "Who is right about the dishes?",
    JudgeRequest(context="The dishes were left in the sink.", query="Am I wrong?"),
    personas=DEFAULT_PERSONAS,
)


class ChatBench:
    """A model over a fake server, and its journal."""

    def __init__(self, client, fake: ChatServer, base_url: str, name: str, key: str) -> None:
        self.fake = fake
        self.journal = RecordingJournal()
        self.model = model_at(base_url, client, self.journal, name=name, key=key)

    async def complete(
        self, *replies, on_text=ignore_text, prompt=PROMPT, doubles_limit=False
    ) -> ModelReply:
        self.fake.script(*replies)
        return await self.model.complete(
            prompt, timeout_s=10, doubles_limit=doubles_limit, on_text=on_text
        )


@asynccontextmanager
async def on_bench(*, name="tiny", key="", base_url="", **options) -> AsyncIterator[ChatBench]:
    async with (
        ChatServer(**options) as fake,
        open_client(base_url or fake.base_url) as client,
    ):
        yield ChatBench(client, fake, base_url or fake.base_url, name, key)


@pytest.fixture
async def bench() -> AsyncIterator[ChatBench]:
    async with on_bench(key=KEY) as bench:
        yield bench


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def test_prompt_schema_and_limits_are_what_is_sent(bench):
    await bench.complete("{}")

    [body] = bench.fake.requests
    wanted = body.pop("response_format")
    assert body == {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "You are a fair judge."},
            {"role": "user", "content": "Who is right about the dishes?"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": MAX_OUTPUT_TOKENS,
        "reasoning_effort": "low",
    }
    assert wanted["type"] == "json_schema"
    assert wanted["json_schema"]["strict"] is True


async def test_schema_objects_forbid_additional_properties(bench):
    await bench.complete("{}")

    schema = bench.fake.requests[0]["response_format"]["json_schema"]["schema"]
    persona = schema["properties"]["personas"]["prefixItems"][0]
    assert schema["additionalProperties"] is persona["additionalProperties"] is False
    assert list(schema["properties"]) == list(reply_schema(PROMPT)["properties"])


async def test_prompts_own_schema_is_sent(bench):
    own = {"type": "object", "properties": {"answers": {"type": "array"}}}
    prompt = Prompt(PROMPT.instructions, PROMPT.text, PROMPT.request, schema=own)

    await bench.complete("{}", prompt=prompt)

    sent = bench.fake.requests[0]["response_format"]["json_schema"]["schema"]
    assert sent == own | {"additionalProperties": False}


@pytest.mark.parametrize(("key", "sent"), [(KEY, f"Bearer {KEY}"), ("", None)])
async def test_key_is_sent_in_a_header_if_set(key, sent):
    async with on_bench(key=key) as bench:
        await bench.complete("{}")

        assert bench.fake.headers[0].get("Authorization") == sent


@pytest.mark.parametrize(
    ("refuses", "response_format", "requests"),
    [
        (["prefixItems"], "json_schema", 2),
        (["json_schema"], {"type": "json_object"}, 3),
        (["json_schema", "json_object"], None, 4),
        (["stream_options"], "json_schema", 2),
        (["stream_options", "json_schema"], {"type": "json_object"}, 4),
    ],
)
async def test_refused_request_features_are_not_sent_again(refuses, response_format, requests):
    async with on_bench(refuses=refuses) as bench:
        first, second = await bench.complete("{}"), await bench.complete("[]")

        assert (first.text, second.text) == ("{}", "[]")
        assert len(bench.fake.requests) == requests + 1
        sent = bench.fake.requests[-1].get("response_format")
        assert sent == response_format or sent["type"] == response_format
        assert bench.journal.events == ["model.form"]


@pytest.mark.parametrize(
    ("status", "message", "name", "value"),
    [
        (400, "System role not supported", "messages", "merged"),
        (400, "Only user and assistant roles are supported!", "messages", "merged"),
        (400, "Developer instruction is not enabled for this model", "messages", "merged"),
        (500, "Jinja Exception: Conversation roles must alternate", "messages", "merged"),
        (400, "System messages are not supported by this template", "messages", "merged"),
        (422, "Only user and assistant messages are supported", "messages", "merged"),
        (403, "Your organization must be verified to stream this model", "stream", False),
        (405, "Streaming is not enabled for this deployment", "stream", False),
        (501, "streaming is not implemented", "stream", False),
        (
            400,
            "The context has 8192 tokens, you requested 9200 (5104, and 4096 in the completion)",
            "max_tokens",
            2048,
        ),
        (400, '"tiny" does not support thinking', "reasoning_effort", None),
        (400, "Thinking budget is not supported for this model", "reasoning_effort", None),
        (400, "max_tokens must be less than or equal to `1024`", "max_tokens", 1024),
        (400, "max_tokens: 4096 > 2000, which is the maximum allowed", "max_tokens", 2000),
        (422, "the valid range of max_tokens is [1, 2000]", "max_tokens", 2000),
        (400, "max_tokens may be at most 2,000", "max_tokens", 2000),
        (400, "'max_tokens' is too large for a context of 8192 tokens", "max_tokens", 2048),
        (501, "", "response_format", "json_schema"),
        (400, "Your organization must be verified to stream this model", "stream", False),
        (400, "max_tokens is too large: 4096; at most 2048 tokens", "max_tokens", 2048),
        (400, "Unknown parameter: 'reasoning_effort'", "reasoning_effort", None),
        (400, "Use 'max_completion_tokens' instead", "max_completion_tokens", MAX_OUTPUT_TOKENS),
        (500, "could not build a grammar from this schema", "response_format", "json_schema"),
        (501, "response_format is not implemented", "response_format", "json_schema"),
        (404, "No endpoints found that can handle the requested parameters", None, None),
    ],
)
async def test_server_that_refuses_a_part_is_asked_without_it(status, message, name, value):
    async with on_bench() as bench:
        assert (await bench.complete(broken(status, message), "{}")).text == "{}"

        sent = bench.fake.requests[-1]
        if name == "messages":
            (told,) = sent["messages"]
            assert "fair judge" in told["content"]
            assert "dishes" in told["content"]
        elif name == "response_format":
            assert sent[name]["type"] == value
        elif name:
            assert sent.get(name) == value
        assert len(bench.fake.requests) == 2
        assert bench.journal.events == ["model.form"]


async def test_spent_credit_is_final(bench):
    with pytest.raises(ModelUnavailable):
        await bench.complete(broken(429, {"code": "insufficient_quota"}))

    (fields,) = bench.journal.fields_of("model.unavailable")
    assert "billing" in fields["hint"]
    assert len(bench.fake.requests) == 1


def test_query_of_the_address_stays_behind_the_path():
    assert endpoint("http://h/v1/?a=b", "models") == "http://h/v1/models?a=b"


async def test_schema_is_in_the_prompt_for_servers_without_schemas():
    async with on_bench(refuses=["json_schema"]) as bench:
        await bench.complete("{}")

        system = bench.fake.requests[-1]["messages"][0]["content"]
        assert system.startswith(PROMPT.instructions)
        assert '"references_help"' in system


async def test_request_refused_in_every_form_is_unavailable_and_nothing_is_remembered():
    async with on_bench() as bench:
        with pytest.raises(ModelUnavailable) as caught:
            await bench.complete(*[broken(400)] * 4)
        await bench.complete("{}")

        assert "check JUDGE_MODEL" in caught.value.hint
        assert bench.fake.requests[-1]["response_format"]["type"] == "json_schema"


async def test_unicode_line_separators_do_not_end_an_event(bench):
    words = '{"a": "one\u2028two\u0085three"}'

    assert (await bench.complete(words)).text == words


@pytest.mark.parametrize(
    "reply",
    [
        ChatReply("{}", cut="never"),
        ChatReply("{}", cut="before-done"),
        ChatReply(
            body=b'data: {"choices": [{"delta": {"content": "{}"}}]}\n\ndata: [DONE] \n\n',
            content_type="text/event-stream",
        ),
        ChatReply(body=b'\xef\xbb\xbf{"choices": [{"message": {"content": "{}"}}]}'),
    ],
    ids=["never ends", "lost at its end", "a space after its end", "byte order mark"],
)
async def test_complete_reply_is_taken_however_its_stream_ends(bench, reply):
    assert (await bench.complete(reply)).text == "{}"
    assert len(bench.fake.requests) == 1


@pytest.mark.parametrize("written", ['Sure:\n{"a": 1}', '```json\n{"a": 1}\n```\nDone.'])
async def test_reply_among_words_is_taken_although_its_stream_never_ends(bench, written):
    assert (await bench.complete(ChatReply(written, cut="never"))).text == '{"a": 1}'
    assert len(bench.fake.requests) == 1


async def test_event_stream_is_utf8_whatever_its_header_says(bench):
    event = {"choices": [{"delta": {"content": '"£5, don’t"'}, "finish_reason": "stop"}]}
    reply = ChatReply(
        body=f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode(),
        content_type="text/event-stream; charset=ISO-8859-1",
    )

    assert (await bench.complete(reply)).text == '"£5, don’t"'


@pytest.mark.parametrize(
    "error",
    [
        {"code": "content_filter"},
        {"code": "content_policy_violation"},
        {"code": "data_inspection_failed"},
        {"innererror": {"code": "ResponsibleAIPolicyViolation"}},
        {"code": 403, "metadata": {"flagged_input": "x"}},
    ],
)
@pytest.mark.parametrize("status", [400, 403, 200])
async def test_content_filter_is_content_blocked_at_once(bench, status, error):
    with pytest.raises(ContentBlocked):
        await bench.complete(broken(status, error))

    assert len(bench.fake.requests) == 1


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("insufficient_quota", "billing"),
        ("402", "billing"),
        ("invalid_api_key", "the key was refused"),
        (401, "the key was refused"),
        ("model_not_found", "names no model"),
    ],
)
async def test_error_with_status_200_is_read_by_its_code(bench, code, hint):
    with pytest.raises(ModelUnavailable):
        await bench.complete(broken(200, {"code": code}))

    (fields,) = bench.journal.fields_of("model.unavailable")
    assert hint in fields["hint"]
    assert len(bench.fake.requests) == 1


@pytest.mark.parametrize(
    ("status", "error", "hint"),
    [
        (403, {"code": "model_not_found", "message": "No access to model x"}, "names no model"),
        (404, {"code": "DeploymentNotFound"}, "names no model"),
        (404, {"message": "No endpoints found for some/thing."}, "names no model"),
        (404, {"message": "Resource not found"}, "no chat completions"),
        (403, {"code": "unsupported_country_region_territory"}, "country"),
        (400, {"message": "Invalid model name passed in model=foo."}, "names no model"),
        (400, {"message": "foo/bar is not a valid model ID"}, "names no model"),
        (400, {"message": "Invalid model: foo", "type": "invalid_model"}, "names no model"),
        (400, {"message": "The model `foo` has been decommissioned."}, "names no model"),
        (403, {"message": "key not allowed to access model."}, "names no model"),
        (400, {"message": "Incorrect API key provided: ab***cd."}, "the key was refused"),
        (404, {"message": "No endpoints found matching your data policy."}, "privacy settings"),
        (403, {"message": "Forbidden"}, "the key was refused"),
    ],
)
async def test_refusal_is_explained(bench, status, error, hint):
    with pytest.raises(ModelUnavailable) as caught:
        await bench.complete(*[broken(status, error)] * 4)

    assert hint in caught.value.hint
    assert len(bench.fake.requests) == (4 if status == 400 else 1)  # in each form


@pytest.mark.parametrize("finish", ["stop_sequence", "COMPLETE", "<|im_end|>"])
async def test_whole_reply_has_stopped_by_whatever_name(bench, finish):
    assert (await bench.complete(ChatReply("{}", finish=finish))).finish == "stop"
    assert (await bench.complete(ChatReply('{"a": 1', finish=finish))).finish == "other"


async def test_reply_in_parts_of_output_is_read(bench):
    parts = [{"type": "output_text", "text": "{}"}]
    body = {"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}
    assert (await bench.complete(ChatReply(body=json.dumps(body).encode()))).text == "{}"


async def test_unreachable_server_is_tried_twice_and_explained():
    async with on_bench(base_url=f"http://127.0.0.1:{free_port()}/v1") as bench:
        with pytest.raises(ModelUnavailable) as caught:
            await bench.complete()

        assert bench.journal.events == ["model.retried", "model.unavailable"]
        assert "start the server" in caught.value.hint


async def test_unknown_model_is_explained():
    async with on_bench(name="huge") as bench:
        with pytest.raises(ModelUnavailable) as caught:
            await bench.complete()

        assert len(bench.fake.requests) == 1
        assert "`ollama pull NAME`" in caught.value.hint


async def test_url_without_version_is_explained():
    async with ChatServer() as fake, open_client(fake.base_url.removesuffix("/v1")) as client:
        with pytest.raises(ModelUnavailable) as caught:
            await ChatBench(client, fake, fake.base_url.removesuffix("/v1"), "tiny", "").complete()

        assert "mostly ends in /v1" in caught.value.hint


async def test_no_body_is_read_beyond_its_limit(bench):
    answer = json.dumps({"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]})
    padded = ChatReply(body=b" " * MAX_BODY_BYTES + answer.encode())

    with pytest.raises(ModelUnavailable):
        await bench.complete(padded, padded)

    assert bench.journal.entries[-1][1]["reason"] == "not-json"


async def test_key_that_is_no_valid_header_is_not_shown():
    for key in (f"{KEY}\nx", f"{KEY}…"):
        async with on_bench(key=key) as bench:
            with pytest.raises(ModelUnavailable) as caught:
                await bench.complete()

            assert KEY not in full_report(caught.value) + str(bench.journal.entries)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
async def test_loopback_server_is_called_without_a_proxy(monkeypatch, host):
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    async with open_client(f"http://{host}:1/v1") as here, open_client("http://x.example") as there:
        assert len(here._mounts) < len(there._mounts)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SSL_CERT_FILE", "missing.pem"),
        ("all_proxy", "socks5://localhost:1"),
        ("https_proxy", "http://[::1"),
    ],
)
def test_client_that_cannot_be_opened_is_explained(monkeypatch, name, value):
    monkeypatch.setenv(name, value)

    with pytest.raises(ConfigurationError, match="SSL_CERT_FILE and the proxy variables"):
        open_client("https://models.example/v1")


@pytest.mark.parametrize("models", [("a", "b:7b"), ()])
async def test_a_server_lists_its_models(models):
    async with ChatServer(models=models) as fake:
        assert await served_models(fake.base_url, KEY, timeout_s=5) == models
        assert fake.headers[0]["Authorization"] == f"Bearer {KEY}"


async def test_server_without_a_model_list_is_an_error_with_a_message(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:99999")
    async with ChatServer() as fake:
        for address, reason in (
            (f"http://127.0.0.1:{free_port()}/v1", "ConnectError"),
            (f"{fake.base_url}/nowhere", "status 404"),
            ("http://behind-the-proxy.example/v1", "ExceptionGroup"),
        ):
            with pytest.raises(ModelUnavailable, match=rf"does not list its models \({reason}\)"):
                await served_models(address, "", timeout_s=5)
