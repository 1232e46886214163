"""The corpus of bad replies, and the reply that each entry describes.

The corpus is `tests/fixtures/replies/bad_replies.jsonl`; its README says how an entry is written.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge.types.references import Reference
from judge.types.replies import ModelReply
from tests.unit.judging.verdicts.replies import REFERENCES, good_reply

CORPUS = Path(__file__).parents[3] / "fixtures" / "replies" / "bad_replies.jsonl"
ENTRIES = [json.loads(line) for line in CORPUS.read_text().splitlines()]


def reply_of(entry: Mapping[str, Any]) -> ModelReply:
    """The reply that *entry* describes."""
    if "reply" in entry:
        text = expanded(entry["reply"])
    else:
        text = json.dumps(changed(good_reply(), entry), ensure_ascii=False)
        before, after = entry.get("wrap", ("", ""))
        text = before + text[: int(len(text) * entry.get("cut", 1))] + after
    return ModelReply(text, "model", entry.get("finish", "stop"))


def changed(document: dict[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    if "order" in entry:
        document["personas"] = [document["personas"][index] for index in entry["order"]]
    for path in entry.get("drop", ()):
        place, key = parent_of(document, path)
        del place[key]
    for path, value in entry.get("changes", {}).items():
        if path == "_root":
            return {value: document}
        place, key = parent_of(document, path)
        place[key] = expanded(value)
    return document


def parent_of(document: Any, path: str) -> tuple[Any, str | int]:
    *above, last = (int(part) if part.isdigit() else part for part in path.split("."))
    for part in above:
        document = document[part]
    return document, last


def expanded(value: Any) -> Any:
    """*value* with each text or list that is given as a repetition written out."""
    if isinstance(value, dict) and "times" in value:
        if "list" in value:
            return [value["list"]] * value["times"]
        return value["before"] + value["of"] * value["times"] + value["after"]
    if isinstance(value, dict):
        return {key: expanded(below) for key, below in value.items()}
    return [expanded(below) for below in value] if isinstance(value, list) else value


def references_of(entry: Mapping[str, Any]) -> tuple[Reference, ...]:
    return REFERENCES[: entry.get("references", 2)]
