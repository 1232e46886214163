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
from tests.fakes.gemini import verdict_for
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


@pytest.mark.parametrize("responses", [[], None, "x" * 20_000, [{"q": "When?\x00"}]])
@pytest.mark.parametrize("path", ["/api/judge", "/api/judge/stream"])
async def test_extra_field_of_the_first_frontends_is_ignored(
    opened: Callable, path: str, responses: object
):
    body = {**DISPUTE, "followUpResponses": responses}
    async with opened(ScriptedModel(GOOD_REPLY)) as bench:
        reply = await bench.client.post(path, json=body)
        assert bench.model.prompts[0].request == JudgeRequest(**DISPUTE)
    assert reply.status_code == 200


async def test_other_spellings_of_the_extra_field_are_refused(opened: Callable):
    async with opened() as bench:
        reply = await bench.client.post("/api/judge", json={**DISPUTE, "followupresponses": []})
    assert reply.status_code == 400


async def test_a_dispute_without_a_domain_has_an_empty_list_of_links(opened: Callable):
    async with opened(ScriptedModel(json.dumps(verdict_for("nothing to cite")))) as bench:
        screen = await old_frontend(
            bench.client, context="We argue about the washing-up.", query="Who is right here?"
        )
    assert screen.links == []


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


async def test_wrong_fields_are_shown(opened: Callable):
    async with opened() as bench:
        with pytest.raises(OldError, match=r"query must have at least 5 characters.* \(400\)$"):
            await old_frontend(bench.client, context=DISPUTE["context"], query="why")
