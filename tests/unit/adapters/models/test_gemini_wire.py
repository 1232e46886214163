"""Parses Gemini's responses and errors, without a server."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.adapters.models.failure import MAX_RETRY_AFTER_S, ModelFailure
from judge.adapters.models.gemini_wire import GeminiDraft, refusal
from judge.errors import ContentBlocked
from judge.types.replies import ModelReply, Usage

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
RESPONSES = st.fixed_dictionaries(
    {},
    optional={
        "candidates": st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "finishReason": st.sampled_from(["STOP", "MAX_TOKENS", "SAFETY"]) | st.text(),
                    "content": JSON_VALUES,
                },
            )
        )
        | JSON_VALUES,
        "promptFeedback": JSON_VALUES,
        "usageMetadata": JSON_VALUES,
    },
)


def parse_response(body: str) -> ModelReply:
    draft = GeminiDraft()
    draft.add(body)
    return draft.reply("m")


def parse(**response: object) -> ModelReply:
    return parse_response(json.dumps(response))


def candidate(reason: str | None, *parts: dict[str, object]) -> list[dict[str, object]]:
    return [{"finishReason": reason, "content": {"parts": list(parts)}}]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("STOP", "stop"),
        ("stop", "stop"),
        (None, "stop"),
        ("FINISH_REASON_UNSPECIFIED", "stop"),
        ("MAX_TOKENS", "truncated"),
        ("CONTINUATION", "truncated"),
        ("RECITATION", "recitation"),
        ("OTHER", "other"),
        ("LANGUAGE", "other"),
        ("A_REASON_OF_NEXT_YEAR", "other"),
    ],
)
def test_each_finish_reason_is_mapped(reason, finish):
    assert parse(candidates=candidate(reason, {"text": "words"})).finish == finish


@pytest.mark.parametrize("reason", ["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"])
def test_safety_finish_is_content_blocked_even_after_some_text(reason):
    with pytest.raises(ContentBlocked) as caught:
        parse(candidates=candidate(reason, {"text": "some"}))

    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "response",
    [
        {"promptFeedback": {"blockReason": "SAFETY"}},
        {"candidates": candidate("SAFETY", {"text": "some"})},
    ],
)
def test_content_blocked_has_its_token_count(response):
    with pytest.raises(ContentBlocked) as caught:
        parse(usageMetadata={"promptTokenCount": 120, "thoughtsTokenCount": 40}, **response)

    assert caught.value.tokens == 160


@pytest.mark.parametrize("reason", ["SAFETY", "OTHER", "A_REASON_OF_NEXT_YEAR"])
def test_block_reason_comes_before_any_candidate(reason):
    with pytest.raises(ContentBlocked) as caught:
        parse(
            promptFeedback={"blockReason": reason},
            candidates=candidate("STOP", {"text": "words"}),
        )

    assert caught.value.reason == reason


@pytest.mark.parametrize("feedback", [{}, {"blockReason": "BLOCK_REASON_UNSPECIFIED"}, None])
def test_feedback_without_a_reason_blocks_nothing(feedback):
    reply = parse(promptFeedback=feedback, candidates=candidate("STOP", {"text": "words"}))

    assert reply.text == "words"


@pytest.mark.parametrize(
    "candidates",
    [
        None,
        [],
        [{}],
        [{"content": {}}],
        [{"content": {"parts": None}}],
        candidate("STOP"),
        candidate("STOP", {"text": ""}),
        candidate("STOP", {"text": "only a thought", "thought": True}),
    ],
)
def test_reply_without_text_is_empty(candidates):
    reply = parse(candidates=candidates)

    assert (reply.finish, reply.text) == ("empty", "")


def test_truncated_reply_without_text_is_truncated():
    assert parse(candidates=candidate("MAX_TOKENS")).finish == "truncated"


def test_text_is_all_parts_but_the_thoughts():
    parts = ({"text": "hm", "thought": True}, {"text": "one "}, {"inlineData": {}}, {"text": "two"})

    assert parse(candidates=candidate("STOP", *parts)).text == "one two"


@pytest.mark.parametrize(
    ("metadata", "usage"),
    [
        (None, Usage()),
        ({}, Usage()),
        ({"promptTokenCount": 7, "thoughtsTokenCount": None}, Usage(7, 0, 0)),
        (
            {"promptTokenCount": 7, "candidatesTokenCount": 5, "thoughtsTokenCount": 3},
            Usage(7, 5, 3),
        ),
        ({"promptTokenCount": -10, "thoughtsTokenCount": -1}, Usage()),
        ({"promptTokenCount": 7.5, "candidatesTokenCount": 5}, Usage(0, 5)),
        ({"promptTokenCount": "some", "candidatesTokenCount": {}}, Usage()),
        ("free of charge", Usage()),
        ({"promptTokenCount": 10**30, "candidatesTokenCount": 3}, Usage(10**9, 3)),
    ],
)
def test_usage_counts_thinking_and_ignores_missing_or_invalid_numbers(metadata, usage):
    assert parse(usageMetadata=metadata).usage == usage


@pytest.mark.parametrize("body", ["", " ", "<html>", "[]", '"x"', '{"candidates": 1}', "{", "null"])
def test_anything_but_a_response_is_a_value_error(body):
    with pytest.raises(ValueError, match="_Response"):
        parse_response(body)


@given(st.text() | JSON_VALUES.map(json.dumps) | RESPONSES.map(json.dumps))
def test_any_body_raises_only_expected_errors(body):
    try:
        reply = parse_response(body)
    except (ContentBlocked, ValueError):
        return
    assert reply.text or reply.finish != "stop"


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_transient_errors_are_retryable(status):
    assert refusal(status, {}, {}, 0.0) == ModelFailure("status", status)


@pytest.mark.parametrize(
    ("status", "details", "hint"),
    [
        (400, [], "check JUDGE_MODEL"),
        (400, [{"reason": "API_KEY_INVALID"}], "check GEMINI_API_KEY"),
        (401, [], "check GEMINI_API_KEY"),
        (403, [], "check GEMINI_API_KEY"),
        (404, [], "JUDGE_MODEL names no model"),
        (307, [], "JUDGE_GEMINI_BASE_URL leads to a redirect"),
    ],
)
def test_refusal_is_not_retryable_and_says_what_to_check(status, details, hint):
    failure = refusal(status, {"error": {"details": details}}, {}, 0.0)

    assert not failure.may_retry
    assert hint in failure.hint


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [
        ("7", 7.0),
        (" 1.5 ", 1.5),
        ("0", 0.0),
        ("999999", MAX_RETRY_AFTER_S),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 40.0),
        ("Thu, 01 Jan 1970 00:00:10 GMT", 0.0),
        ("Fri, 01 Jan 2100 00:00:00 GMT", MAX_RETRY_AFTER_S),
        ("-3", None),
        ("soon", None),
        ("nan", None),
        ("٣", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header, wait_s):
    assert refusal(503, {}, {"Retry-After": header}, 60.0).retry_after_s == wait_s


def test_retry_delay_in_error_details_counts_without_a_header():
    details = [{"@type": "…RetryInfo", "retryDelay": "34.5s"}]

    assert refusal(429, {"error": {"details": details}}, {}, 0.0).retry_after_s == 34.5


def test_header_wins_over_the_error_details():
    error = {"error": {"details": [{"retryDelay": "34s"}]}}

    assert refusal(429, error, {"Retry-After": "2"}, 0.0).retry_after_s == 2.0


@given(st.integers(300, 599), JSON_VALUES, st.text())
def test_every_refusal_is_a_failure_with_a_bounded_wait(status, error, header):
    failure = refusal(status, error, {"Retry-After": header}, 0.0)

    assert failure.retry_after_s is None or 0 <= failure.retry_after_s <= MAX_RETRY_AFTER_S
    assert failure.may_retry == (failure.hint == "")


@given(JSON_VALUES)
def test_any_error_details_are_parsed_or_ignored(details):
    assert refusal(400, {"error": {"details": details}}, {}, 0.0).hint
