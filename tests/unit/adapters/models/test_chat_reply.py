"""What a server of chat completions sends becomes a reply, without a server."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.adapters.models.chat_reply import ChatDraft
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
        ("model_length", "truncated"),
        ("max_output_tokens", "truncated"),
        ("tool_calls", "other"),
        ("a_reason_of_next_year", "other"),
    ],
)
def test_each_finish_reason_is_mapped(reason, finish):
    assert read(said("words"), said(finish=reason)).finish == finish


def test_parts_are_joined_without_the_thoughts():
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    parts = [thought, {"type": "text", "text": '{"a": '}, {"type": "text", "text": "1}"}]
    message = {"role": "assistant", "content": parts}
    assert read({"choices": [{"delta": message}]}, said(" ", "stop")).text == '{"a": 1}'
    assert read({"choices": [{"message": message}]}).text == '{"a": 1}'


def test_reply_in_a_tool_call_or_as_json_is_read():
    calls = [{"tool_calls": [{"function": {"arguments": part}}]} for part in ('{"a": ', "1}")]
    assert read(*(said(**call) for call in calls), said("", "tool_calls")).finish == "stop"
    for message in ({"content": {"a": 1}}, {"content": [{"text": '{"a": 1}'}, "x"]}):
        assert read({"choices": [{"message": message}]}).text == '{"a": 1}'
    assert read(said(tool_calls=[None, {"function": "x"}]), said("{}", "stop")).text == "{}"


@pytest.mark.parametrize("events", [[], [{}], [{"choices": []}], [said(" \n", "stop")]])
def test_reply_without_text_is_empty(events):
    assert read(*events).finish == "empty"


@pytest.mark.parametrize(
    ("events", "is_cut"),
    [
        ([said('{"a": 1}')], False),
        ([said('{"a": ')], True),
        ([said('{"a": ', "length")], False),
        ([said('{"a": ', "insufficient_system_resource")], True),
        ([said('{"a": ', "error")], True),
        ([said('{"a": 1}', "error")], False),
        ([said("")], True),
        ([], True),
        ([{"object": "error", "message": "The engine died.", "code": 500}], True),
    ],
)
def test_stream_without_an_end_is_cut_unless_its_json_is_complete(events, is_cut):
    draft = ChatDraft()
    for event in events:
        draft.add(json.dumps(event))

    assert draft.is_cut_short == is_cut


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
        (
            {"prompt_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4}},
            Usage(7, cached_tokens=4),
        ),
        ({"prompt_tokens": 7, "prompt_tokens_details": [4]}, Usage(7)),
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
    for piece in ("{ " + escaped[:6], "", escaped[6:] + r" \\ud83d"):
        draft.add(json.dumps(said("@")).replace("@", piece))
        draft.text.encode()
    assert draft.text == "{ \N{GRINNING FACE} \\ud83d"


def test_half_a_character_costs_no_reply():
    lost = "\N{REPLACEMENT CHARACTER}"
    for pieces, text in (
        ([r"{\ude00", "b"], f"{{{lost}b"),
        ([r"{\ud83d", "b"], f"{{{lost}b"),
        ([r"{\ud83d", r"\ud83d\ude00"], f"{{{lost}\N{GRINNING FACE}"),
    ):
        draft = ChatDraft()
        for piece in pieces:
            draft.add(json.dumps(said("@")).replace("@", piece))
        assert draft.text == text, pieces


THOUGHT = [
    ('<think>\nDoes {"a": 1} fit?\n</think>\n\n{"b": 2}', '{"b": 2}'),
    (" <think></think>{}", "{}"),
    ("Cold for three weeks.\n</think>\n{}", "{}"),
    ("<think>a</think>\n<think>b</think>\n{}", "{}"),
    ("<think>a<think>b</think>c</think>{}", "{}"),
    ("<THINKING>Cold.</THINKING>{}", "{}"),
    ("<thought>a</thought>{}", "{}"),
    ("<reasoning>a</reasoning>```json\n{}\n```", "```json\n{}\n```"),
    ("[THINK]a[/THINK]{}", "{}"),
    (
        "<|channel|>analysis<|message|>Cold.<|end|><|start|>assistant<|channel|>final<|message|>{}",
        "{}",
    ),
    ("<|channel|>final <|constrain|>json<|message|>{}<|return|>", "{}"),
    ("{}<|im_end|>", "{}"),
    ("{}</s>\n", "{}"),
    ('{"draft": </think>{"b": 2}', '{"b": 2}'),
    ('<think type="deep">Cold.</think>{}', "{}"),
    ("<think >Cold.</think >{}", "{}"),
    ('<|begin_of_thought|>Cold.<|end_of_thought|><|begin_of_solution|>{"b": 2}', '{"b": 2}'),
    ('Cold.assistantfinal{"b": 2}', '{"b": 2}'),
    ('<think>Cold.</think><answer>{"b": 2}</answer>', '{"b": 2}'),
    ('<|channel>thought\nCold.\n<channel|>{"b": 2}', '{"b": 2}'),
    ('{"b": 2}[/INST]', '{"b": 2}'),
    ('{"b": 2}<eos>', '{"b": 2}'),
    ('{"b": 2}<\uff5cend\u2581of\u2581sentence\uff5c>', '{"b": 2}'),
    ('```json\n{"b": 2}\n```\nI hope that this helps!', '{"b": 2}'),
    ('Sure:\n```json\n{"b": {"c": [{"d": 2}]}}\n```', '{"b": {"c": [{"d": 2}]}}'),
    ('The form is {"a": text}. Cold {so}.\n{"b": 2}', '{"b": 2}'),
]


def test_thinking_and_stop_tokens_are_not_the_reply_however_the_text_is_cut():
    for written, text in THOUGHT:
        for size in (1, 4, len(written)):
            draft, told = ChatDraft(), [""]
            for at in range(0, len(written), size):
                draft.add(json.dumps(said(written[at : at + size])))
                told.append(draft.text)
            assert draft.reply("m").text == text, (written, size)
            assert all("Cold" not in one for one in told), (written, size)
            assert draft.repairs or text == written, written


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("<think>and so on without end", ""),
        ('{"a": "<think>no</think>"}', '{"a": "<think>no</think>"}'),
        ("I cannot answer.", "I cannot answer."),
        ('{"a": [{"b": 1}, {"b": 2', '{"a": [{"b": 1}, {"b": 2'),
        ('So:\n{"a": 1}\nThat is all.', 'So:\n{"a": 1}\nThat is all.'),
    ],
)
def test_what_is_no_thinking_stays(written, text):
    assert read(said(written, "stop")).text == text


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reply_in_the_field_of_the_thinking_is_found_where_the_content_is_empty(name):
    draft = ChatDraft()
    draft.add(json.dumps(said("", **{name: 'So: {"a": 1}'})))
    draft.add(json.dumps(said(finish="stop")))

    assert draft.reply("m").text == '{"a": 1}'
    assert draft.repairs == {"reasoning"}


@pytest.mark.parametrize("written", ['{"a": 1' + "0" * 200, "{" + "\n" * 500, "{" + "ab" * 6001])
def test_reply_without_end_is_cut_off_as_truncated(written):
    draft = ChatDraft()
    draft.add(json.dumps(said(written)))

    assert draft.is_complete
    assert draft.reply("m").finish == "truncated"


@given(st.text(alphabet="<think>/ {}"), st.integers(1, 9))
def test_thoughts_are_separated_for_any_split_into_events(thought, size):
    written = f" <think>{thought.replace('</think>', '').replace('{', '')}</think>{{}}"
    parts = [written[at : at + size] for at in range(0, len(written), size)]

    assert read(*map(said, parts)).text == "{}"


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
