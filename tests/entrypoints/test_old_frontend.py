"""A frontend written for the first version still works."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from judge.errors import ContentBlocked, DeadlineExceeded, ModelUnavailable
from judge.types.requests import JudgeRequest
from tests.entrypoints.api_bench import (
    BAD_REPLY,
    DISPUTE,
    GOOD_REPLY,
    PARAGRAPH,
    REPAIRS_URL,
)
from tests.fakes.model import ScriptedModel


@dataclass(frozen=True)
class OldPersona:
    """What the old page shows of a persona."""

    name: str
    verdict: str
    rationale: str
    key_points: list[str]


@dataclass(frozen=True)
class OldScreen:
    """Everything that the old page shows of an answer."""

    paraphrase: str
    cards: list[OldPersona]
    summary: str
    links: list[tuple[str, str]]


class OldError(Exception):
    """What the old page shows of a failure: the words and the status."""


async def old_frontend(client: httpx.AsyncClient, context: str, query: str) -> OldScreen:
    """The old page's request and reading: sends two fields, reads members by index and name."""
    reply = await client.post("/api/judge", json={"context": context, "query": query})
    body: dict[str, Any] = reply.json()
    if reply.status_code != 200:
        raise OldError(f"{body['error']} ({reply.status_code})")
    return OldScreen(
        paraphrase=body["paraphrase"],
        cards=[
            OldPersona(
                name=body["personas"][index]["name"],
                verdict=body["personas"][index]["verdict"],
                rationale=body["personas"][index]["rationale"],
                key_points=list(map(str, body["personas"][index]["key_points"])),
            )
            for index in range(3)
        ],
        summary=body["summary"],
        links=[(snippet["url"], snippet["text"]) for snippet in body["snippets"]],
    )


async def test_answer_is_shown_unchanged(opened: Callable):
    said = json.loads(GOOD_REPLY)
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        screen = await old_frontend(bench.client, **DISPUTE)
    assert screen.paraphrase == said["paraphrase"]
    assert screen.summary == said["summary"]
    assert [card.name for card in screen.cards] == ["Therapist", "Analyst", "Coach"]
    for card, persona in zip(screen.cards, said["personas"], strict=True):
        assert card.verdict in {"Yes", "No", "Partially"}
        assert card.rationale == persona["rationale"]
        assert card.key_points == persona["key_points"]
        assert len(card.key_points) == 3
    assert screen.links == [(REPAIRS_URL, PARAGRAPH)]


FOLLOW_UPS = [
    ([], ""),
    (None, ""),
    ("It is cold.", "\nIt is cold."),
    (["It is cold.", "Very."], "\nIt is cold.\nVery."),
    ([{"question": "Since when?", "answer": "May.", "id": 3}], "\nSince when?\nMay."),
]


async def test_what_was_typed_in_answer_to_questions_is_part_of_the_dispute(opened: Callable):
    async with opened(ScriptedModel(*[GOOD_REPLY] * len(FOLLOW_UPS))) as bench:
        for responses, added in FOLLOW_UPS:
            body = {**DISPUTE, "followUpResponses": responses}
            assert (await bench.client.post("/api/judge", json=body)).status_code == 200
            judged = bench.model.prompts[-1].request
            assert judged == JudgeRequest(
                context=DISPUTE["context"] + added, query=DISPUTE["query"]
            )


REFUSED = [7, {"a": "b"}, [3], [{}], [["x"]], [{"a": ["b"]}], "x" * 8000]


@pytest.mark.parametrize("path", ["/api/judge", "/api/judge/stream"])
async def test_answers_of_another_shape_or_length_are_refused(opened: Callable, path: str):
    async with opened() as bench:
        for responses in REFUSED:
            body = {**DISPUTE, "followUpResponses": responses}
            reply = await bench.client.post(path, json=body)
            assert reply.status_code == 400
            [error] = reply.json()["errors"]
            assert error["field"] in {"followUpResponses", "context"}


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ([BAD_REPLY, BAD_REPLY], 502),
        ([ContentBlocked("SAFETY")], 422),
        ([ModelUnavailable("Not now.")], 503),
        ([DeadlineExceeded(30)], 504),
        ([ZeroDivisionError()], 500),
    ],
)
async def test_error_is_shown(opened: Callable, script, status):
    async with opened(ScriptedModel(*script)) as bench:
        with pytest.raises(OldError, match=rf"^\S.* \({status}\)$"):
            await old_frontend(bench.client, **DISPUTE)
