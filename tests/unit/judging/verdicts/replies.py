"""References, a good reply and its check, for the tests of replies."""

import json
from datetime import UTC, datetime
from typing import Any

from judge.judging.prompts import DEFAULT_PERSONAS, render_prompt
from judge.judging.verdicts.check import ReplyCheck, check_reply
from judge.types.references import Reference
from judge.types.replies import ModelReply
from judge.types.requests import JudgeRequest
from tests.fakes.country import UK

TEXTS = (
    (
        "Your landlord is always responsible for repairs to the boiler, the heating and hot water. "
        "Report the fault in writing and keep a copy."
    ),
    (
        "Your landlord must not enter your home without giving at least 24 hours’ written notice – "
        "unless it is an emergency. Changing the locks is rarely wise."
    ),
    (
        "A deposit must be protected within 30 days of being paid, and you can ask for up to three "
        "times its amount if it was not. Schemes settle quarrels for nothing. Ask yours."
    ),
)
WHEN = datetime(2026, 1, 15, tzinfo=UTC)
REQUEST = JudgeRequest(context="My landlord leaves the boiler broken.", query="Am I wrong?")


def reference(number: int, text: str) -> Reference:
    return Reference(number, "page", f"https://a.example/{number}", "A page", text, WHEN)


REFERENCES = tuple(reference(number, text) for number, text in enumerate(TEXTS, 1))


def good_reply(**changes: Any) -> dict[str, Any]:
    return {
        "paraphrase": "You want the boiler mended this week.",
        "personas": personas(),
        "summary": "You are not unreasonable: it is for them [1], and notice is needed [2].",
        "references_help": True,
        "quotes": [{"number": 1, "sentences": [1]}, {"number": 2, "sentences": [1]}],
    } | changes


def personas(**changes: Any) -> list[dict[str, Any]]:
    """The three personas, with *changes* to the second."""
    return [persona("Therapist"), persona("Analyst", **changes), persona("Coach")]


def persona(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "verdict": "No",
        "rationale": f"You asked the {name} politely, and more than once.",
        "key_points": ["Write today", "Keep copies", "Name a date"],
    } | changes


def check(
    reply: ModelReply | dict[str, Any] | str,
    references: tuple[Reference, ...] = REFERENCES[:2],
    **options: Any,
) -> ReplyCheck:
    if isinstance(reply, dict):
        reply = json.dumps(reply)
    if isinstance(reply, str):
        reply = ModelReply(reply, "model")
    prompt = render_prompt(REQUEST, references, DEFAULT_PERSONAS, country=UK)
    return check_reply(reply, prompt, **options)


def rules(checked: ReplyCheck) -> list[tuple[str, str, bool]]:
    return [(defect.rule, defect.field, defect.is_hard) for defect in checked.defects]
