"""Each bad reply, given twice to the whole pipeline."""

import json
from pathlib import Path

from judge.bootstrap.sources import compile_knowledge
from judge.golden.cases import StoredCase, paragraph_page, parse_case
from judge.golden.differences import masked
from judge.golden.replay import RunConfig, run_case
from judge.types.references import Page
from judge.types.replies import ModelReply
from tests.unit.golden.material import SOURCES
from tests.unit.judging.verdicts.bad_replies import ENTRIES, reply_of
from tests.unit.judging.verdicts.replies import TEXTS


async def test_bad_replies_reach_the_client_as_an_error_or_with_warnings() -> None:
    """A hard defect is a 502, and a soft one gives warnings."""
    # A page that shares nothing with its title would not be quoted.
    where = RunConfig(compile_knowledge(SOURCES.replace('"Time"', '"Notice before a visit"')))
    for entry in ENTRIES:
        if entry.get("references", 2) == 2:
            stored = case_with(reply_of(entry))
            outcome = await run_case(stored, where)
            wanted = {"hard": (502, 0), "soft": (200, 2)}.get(entry["outcome"], (200, 1))
            found = (outcome.status, outcome.body["attempts"] if outcome.status == 200 else 0)
            assert found == wanted, entry["name"]
            if entry["outcome"] in {"soft", "mended"}:
                assert outcome.body["warnings"], entry["name"]
            if outcome.status == 502:
                assert "summary" not in masked(outcome.body)


def case_with(reply: ModelReply) -> StoredCase:
    said = {"text": reply.text, "finish": reply.finish}
    document = {
        "input": {"context": "My landlord leaves the boiler broken.", "query": "Am I right?"},
        "replies": [said, said],
    }
    pages = dict(zip(("https://a.example/repairs", "https://b.example/time"), TEXTS, strict=False))
    case = parse_case(json.dumps(document))
    return StoredCase(
        "bad", Path("bad"), case,
        {url: Page(url, paragraph_page(text).encode(), "utf-8") for url, text in pages.items()},
    )  # fmt: skip
