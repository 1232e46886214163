"""The README agrees with the code."""

import json
import re
from dataclasses import fields
from pathlib import Path

from judge.types.references import Reference
from judge.types.replies import Citation, PersonaVerdict
from judge.types.requests import JudgeRequest
from judge.types.results import JudgeResult

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`|… )make ([a-z]+)", README, re.MULTILINE))
    assert named
    assert named - targets == set()


def test_the_reply_shown_has_the_fields_of_a_result() -> None:
    shown = json.loads(re.findall(r"```json\n(.*?)```", README, re.DOTALL)[0])
    names = {kind: {field.name for field in fields(kind)}
             for kind in (JudgeResult, PersonaVerdict, Reference, Citation)}  # fmt: skip
    assert set(shown) <= names[JudgeResult]
    assert set(shown["personas"][0]) == names[PersonaVerdict]
    assert set(shown["references"][0]) == names[Reference]
    assert set(shown["citations"][0]) == names[Citation]


def test_the_request_shown_is_a_valid_one() -> None:
    body = re.findall(r"-d '(\{.*?\})'", README, re.DOTALL)[0]
    assert JudgeRequest.model_validate_json(body).query.endswith("?")
