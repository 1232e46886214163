"""Parses the responses of chat completions, without a server."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.adapters.models.failure import MAX_RETRY_AFTER_S
from judge.adapters.models.openai_wire import ChatDraft, event_failure, is_blocked, refusal
from judge.errors import ContentBlocked
from judge.types.replies import ModelReply, Usage

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
CHOICES = st.fixed_dictionaries(
    {},
    optional={
        "delta": JSON_VALUES | st.fixed_dictionaries({"content": st.none() | st.text()}),
        "finish_reason": st.none() | st.sampled_from(["stop", "length"]) | st.text(),
    },
)
EVENTS = st.fixed_dictionaries(
    {}, optional={"choices": st.lists(CHOICES) | JSON_VALUES, "usage": JSON_VALUES}
)


def read(*events: object) -> ModelReply:
    draft = ChatDraft()
    for event in events:
        draft.add(json.dumps(event))
    return draft.reply("m")


def said(content: str | None = None, finish: str | None = None, **delta: object) -> dict:
    return {"choices": [{"delta": {"content": content, **delta}, "finish_reason": finish}]}


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", "stop"),
        ("STOP", "stop"),
        ("eos_token", "stop"),
        ("end_turn", "stop"),
        (None, "stop"),
        ("length", "truncated"),
        ("tool_calls", "other"),
        ("a_reason_of_next_year", "other"),
    ],
)
def test_each_finish_reason_is_mapped(reason, finish):
    assert read(said("words"), said(finish=reason)).finish == finish


def test_parts_are_joined_without_the_thoughts():
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    parts = [thought, {"type": "text", "text": "a "}, {"type": "text", "text": "b"}]
    message = {"role": "assistant", "content": parts}
    assert read({"choices": [{"delta": message}]}, said("c", "stop")).text == "a bc"
    assert read({"choices": [{"message": message}]}).text == "a b"


@pytest.mark.parametrize("events", [[], [{}], [{"choices": []}], [said(" \n", "stop")]])
def test_reply_without_text_is_empty(events):
    assert read(*events).finish == "empty"


@pytest.mark.parametrize(
    ("events", "is_cut"),
    [
        ([said('{"a": 1}')], False),
        ([said('{"a": ')], True),
        ([said('{"a": ', "length")], False),
        ([said("")], True),
        ([], True),
    ],
)
def test_stream_without_an_end_is_cut_unless_its_json_is_complete(events, is_cut):
    draft = ChatDraft()
    for event in events:
        draft.add(json.dumps(event))

    assert draft.is_cut_short == is_cut


def test_reply_whose_tokens_all_went_to_thinking_is_truncated():
    assert read(said("", "length", reasoning="hm")).finish == "truncated"


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (said("some", "content_filter"), "CONTENT_FILTER"),
        (said(refusal="I cannot help with that."), "REFUSAL"),
    ],
)
def test_filter_and_refusal_are_content_blocked_with_their_tokens(event, reason):
    with pytest.raises(ContentBlocked) as caught:
        read(event, {"choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 3}})

    assert (caught.value.reason, caught.value.tokens) == (reason, 123)


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        (None, Usage()),
        ({}, Usage()),
        ({"prompt_tokens": 7, "completion_tokens": 5}, Usage(7, 5, 0)),
        (
            {
                "prompt_tokens": 7,
                "completion_tokens": 5,
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            Usage(7, 2, 3),
        ),
        ({"prompt_tokens": -10, "completion_tokens": -3}, Usage()),
        ({"prompt_tokens": 7.5, "completion_tokens": 5}, Usage(0, 5)),
        ({"prompt_tokens": "some", "completion_tokens": [], "total_tokens": "?"}, Usage()),
        ({"prompt_tokens": 7, "completion_tokens_details": "none"}, Usage(7)),
        (
            {"completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 0.5}},
            Usage(0, 5),
        ),
        ("free of charge", Usage()),
        ({"prompt_tokens": 10**30, "completion_tokens": 3}, Usage(10**9, 3)),
    ],
)
def test_usage_counts_thinking_beside_what_was_written(told, usage):
    assert read(said("x", "stop"), {"choices": [], "usage": told}).usage == usage


@pytest.mark.parametrize("escaped", [r"\ud83d\ude00", r"\uD83D\uDE00"])
def test_character_whose_halves_come_in_two_events_is_read(escaped):
    draft = ChatDraft()
    for piece in ("a " + escaped[:6], "", escaped[6:] + r" \\ud83d"):
        draft.add(json.dumps(said("@")).replace("@", piece))
        draft.text.encode()
    assert draft.text == "a \N{GRINNING FACE} \\ud83d"


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([r"a\ude00", "b"], "a\N{REPLACEMENT CHARACTER}b"),
        ([r"a\ud83d", "b"], "ab"),
        ([r"a\ud83d", r"\ud83d\ude00"], "a\N{GRINNING FACE}"),
    ],
)
def test_half_a_character_costs_no_reply(pieces, text):
    draft = ChatDraft()
    for piece in pieces:
        draft.add(json.dumps(said("@")).replace("@", piece))
    assert draft.text == text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('<think>\nDoes {"a": 1} fit?\n</think>\n\n{"b": 2}', '{"b": 2}'),
        (" <think></think>{}", "{}"),
        ("<think>and so on without end", ""),
        ('{"a": "<think>no</think>"}', '{"a": "<think>no</think>"}'),
        ("<thinking>", "<thinking>"),
    ],
)
def test_thoughts_in_front_of_a_reply_are_not_its_text(written, text):
    assert read(said(written, "stop")).text == text


@given(st.text(alphabet="<think>/ {}"), st.integers(1, 9))
def test_thoughts_are_separated_for_any_split_into_events(thought, size):
    written = f" <think>{thought.replace('</think>', '')}</think>{{}}"
    parts = [written[at : at + size] for at in range(0, len(written), size)]

    assert read(*map(said, parts)).text == "{}"


def test_parsing_time_is_proportional_to_the_number_of_events():
    def read_s(count: int) -> float:
        event = json.dumps(said("ab"))
        draft = ChatDraft()
        draft.add(json.dumps(said("<think>")))
        start = time.process_time()
        for _ in range(count):
            draft.add(event)
        return time.process_time() - start

    # 16 when all that was thought is read again with each event.
    assert read_s(8000) < 8 * min(read_s(2000), read_s(2000))


@given(st.lists(EVENTS.map(json.dumps) | JSON_VALUES.map(json.dumps) | st.text()))
def test_any_event_raises_only_expected_errors(events):
    draft = ChatDraft()
    try:
        for event in events:
            draft.add(event)
        reply = draft.reply("m")
    except (ContentBlocked, ValueError):
        return
    assert reply.text or reply.finish != "stop"


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_transient_errors_are_retryable(status):
    assert refusal(status, {}, "7", 0.0).retry_after_s == 7.0


@pytest.mark.parametrize(
    ("status", "error", "hint"),
    [
        (400, {"error": {"message": "no"}}, "check JUDGE_MODEL"),
        (401, {}, "check JUDGE_OPENAI_API_KEY"),
        (403, None, "check JUDGE_OPENAI_API_KEY"),
        (404, {"error": {"message": "model 'x' not found"}}, "JUDGE_MODEL names no model"),
        (404, {"detail": "Not Found"}, "no chat completions at JUDGE_OPENAI_BASE_URL"),
        (404, None, "no chat completions at JUDGE_OPENAI_BASE_URL"),
        (405, None, "no chat completions at JUDGE_OPENAI_BASE_URL"),
        (307, None, "JUDGE_OPENAI_BASE_URL leads to a redirect"),
    ],
)
def test_refusal_is_not_retryable_and_says_what_to_do(status, error, hint):
    failure = refusal(status, error, "", 0.0)

    assert not failure.may_retry
    assert hint in failure.hint


@pytest.mark.parametrize(
    ("error", "status", "may_retry"),
    [
        ({"code": 429, "message": "slow down"}, 429, True),
        ({"code": 401}, 401, False),
        ({"code": "weird"}, 0, True),
        ("Unexpected endpoint", 0, True),
    ],
)
def test_error_in_mid_stream_counts_as_its_status(error, status, may_retry):
    failure = event_failure(error, 0.0)

    assert (failure.status, failure.may_retry) == (status, may_retry)


@given(st.integers(300, 599), JSON_VALUES, st.text())
def test_every_refusal_is_a_failure_with_a_bounded_wait(status, error, header):
    failure = refusal(status, error, header, 0.0)

    assert failure.retry_after_s is None or 0 <= failure.retry_after_s <= MAX_RETRY_AFTER_S
    assert failure.may_retry == (failure.hint == "")


@given(JSON_VALUES)
def test_any_error_body_is_parsed_or_ignored(error):
    assert event_failure(error, 0.0).reason
    assert not is_blocked(error)
