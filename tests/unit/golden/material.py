"""A sources file, a folder with one case and a run_config, for the tests of golden cases."""

import json
from pathlib import Path
from typing import Any

from judge.bootstrap.sources import compile_knowledge
from judge.golden.cases import StoredCase, load_case, serialize_case
from judge.golden.replay import Outcome, RunConfig
from judge.golden.results import Result

SOURCES = """
[domains.tenancy]
terms = { landlord = 3, boiler = 2 }
[[domains.tenancy.sources]]
url = "https://a.example/repairs"
title = "Repairs"
topics = ["boiler"]
[[domains.tenancy.sources]]
url = "https://b.example/time"
title = "Time"
"""
REPAIRS = "Your landlord is always responsible for repairs to the boiler and the heating."
TIME = "A boiler that is broken should be mended by the landlord within two days of the report."


def run_config(**options: Any) -> RunConfig:
    return RunConfig(lambda: compile_knowledge(SOURCES), **options)


def reply(**changes: Any) -> dict[str, Any]:
    return {
        "paraphrase": "You want the boiler mended.",
        "personas": [
            {
                "name": name,
                "verdict": "No",
                "rationale": f"You asked politely, says the {name}.",
                "key_points": ["one", "two", "three"],
            }
            for name in ("Therapist", "Analyst", "Coach")
        ],
        "summary": "Repairs to the boiler are for your landlord [1], within two days [2].",
        "quotes": [
            {"number": 1, "sentences": [1]},
            {"number": 2, "sentences": [1]},
        ],
        "references_help": True,
    } | changes


def document(**changes: Any) -> dict[str, Any]:
    return {
        "about": "A broken boiler.",
        "recorded": False,
        "input": {
            "context": "My landlord Rowan Pike has left the boiler broken. He says wait.",
            "query": "Am I unreasonable?",
        },
        "pages": {"https://a.example/repairs": REPAIRS, "https://b.example/time": TIME},
        "replies": [reply()],
        "expected": {"status": 200, "domain": "tenancy", "attempts": 1},
    } | changes


def write_case(folder: Path, name: str = "boiler", **changes: Any) -> StoredCase:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(serialize_case(document(**changes)))
    return load_case(path)


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def sample(case: str = "boiler", **changes: Any) -> Result:
    return Result(**({"case": case, "number": 1, "floor": 1.0} | changes))


def outcome(body: dict[str, Any] | None = None, status: int = 200) -> Outcome:
    return Outcome(status, body or {})
