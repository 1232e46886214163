"""What models get wrong: each reply of the corpus has the outcome that the interface gives it.

The corpus is `tests/fixtures/replies/bad_replies.jsonl`; its README says how an entry is written.
"""

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.citations.marks import find_marks
from judge.golden.case_reader import StoredCase, as_page
from judge.golden.case_runner import run_case
from judge.golden.cases import parse_case
from judge.golden.differences import masked
from judge.judging.prompts.personas import DEFAULT_PERSONAS
from judge.judging.verdicts.check import Checked, check_reply
from judge.types.judgements import CheckedReply, ModelReply, Page, Reference
from tests.unit.golden.material import run_config

CORPUS = Path(__file__).parents[3] / "fixtures" / "replies" / "bad_replies.jsonl"
ENTRIES = [json.loads(line) for line in CORPUS.read_text().splitlines()]
LIMIT_S = 0.05

TEXTS = (
    "Your landlord is always responsible for repairs to the boiler, the heating and hot water.",
    (
        "Your landlord must not enter your home without giving at least 24 hours’ written notice – "
        "unless it is an emergency."
    ),
    (
        "A deposit must be protected within 30 days of being paid, and you can ask for up to three "
        "times its amount if it was not."
    ),
)
WHEN = datetime(2026, 1, 15, tzinfo=UTC)
REFERENCES = tuple(
    Reference(number, "page", f"https://a.example/{number}", "A page", text, WHEN, stale=False)
    for number, text in enumerate(TEXTS, 1)
)


def good_reply() -> dict[str, Any]:
    return {
        "paraphrase": "You want the boiler mended this week.",
        "personas": [
            {
                "name": name,
                "verdict": "No",
                "rationale": "You asked politely, and more than once.",
                "key_points": ["Write today", "Keep copies", "Name a date"],
            }
            for name in ("Therapist", "Analyst", "Coach")
        ],
        "summary": "You are not unreasonable: it is for them [1], and notice is needed [2].",
        "quotes": [
            {"number": 1, "quote": "always responsible for repairs to the boiler"},
            {"number": 2, "quote": "at least 24 hours’ written notice"},
        ],
    }


def written(entry: Mapping[str, Any]) -> ModelReply:
    """The reply that *entry* describes."""
    if "reply" in entry:
        text = grown(entry["reply"])
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
        place[key] = grown(value)
    return document


def parent_of(document: Any, path: str) -> tuple[Any, str | int]:
    *above, last = (int(part) if part.isdigit() else part for part in path.split("."))
    for part in above:
        document = document[part]
    return document, last


def grown(value: Any) -> Any:
    """Long texts and lists are written as what is repeated and how often."""
    if isinstance(value, dict) and "times" in value:
        if "list" in value:
            return [value["list"]] * value["times"]
        return value["before"] + value["of"] * value["times"] + value["after"]
    if isinstance(value, dict):
        return {key: grown(below) for key, below in value.items()}
    return [grown(below) for below in value] if isinstance(value, list) else value


def check(reply: ModelReply, references: tuple[Reference, ...]) -> Checked:
    return check_reply(reply, personas=DEFAULT_PERSONAS, references=references)


def references_of(entry: Mapping[str, Any]) -> tuple[Reference, ...]:
    return REFERENCES[: entry.get("references", 2)]


def outcome_of(checked: Checked) -> str:
    if checked.reply is None:
        return "hard"
    return "soft" if checked.defects else "ok"


def assert_nothing_wrong_is_cited(reply: CheckedReply, count: int) -> None:
    """Every mark that a client sees is located, in range, and its quote is on its own page."""
    texts = {f"personas.{i}.rationale": one.rationale for i, one in enumerate(reply.personas)}
    texts["summary"] = reply.summary
    told = {(one.field, one.start, one.end) for one in reply.citations}
    seen = {(f, mark.start, mark.end) for f, text in texts.items() for mark in find_marks(text)}
    assert told == seen
    for citation in reply.citations:
        assert 1 <= citation.number <= count
        has_quote = citation.quote_status in {"verified", "repaired"}
        assert (citation.quote is not None) == has_quote
        assert citation.quote is None or citation.quote in TEXTS[citation.number - 1]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["name"])
def test_a_bad_reply_has_the_outcome_it_must_have(entry: Mapping[str, Any]) -> None:
    references = references_of(entry)
    checked = check(written(entry), references)
    assert (outcome_of(checked), sorted({d.rule for d in checked.defects})) == (
        entry["outcome"],
        sorted(set(entry["rules"])),
    ), [str(defect) for defect in checked.defects]
    assert all(defect.is_hard == (entry["outcome"] == "hard") for defect in checked.defects)
    if checked.reply is not None:
        assert_nothing_wrong_is_cited(checked.reply, len(references))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["name"])
def test_a_bad_reply_is_handled_in_time(entry: Mapping[str, Any]) -> None:
    reply, references = written(entry), references_of(entry)
    times = []
    for _ in range(3):  # CPU time of the best round: other processes don't count
        started = time.process_time()
        check(reply, references)
        times.append(time.process_time() - started)
    assert min(times) < LIMIT_S


def test_the_corpus_is_large_and_each_entry_has_its_own_name() -> None:
    assert len(ENTRIES) >= 150
    assert len({entry["name"] for entry in ENTRIES}) == len(ENTRIES)
    assert {entry["outcome"] for entry in ENTRIES} == {"hard", "soft", "ok"}


async def test_none_of_them_reaches_a_client_with_a_wrong_citation() -> None:
    """Sent twice through the whole pipeline: hard ones are 502, soft ones say what is wrong."""
    where = run_config()
    for entry in ENTRIES:
        if entry.get("references", 2) == 2:
            stored = case_with(written(entry))
            outcome = await run_case(stored, where)
            wanted = {"hard": (502, 0), "soft": (200, 2), "ok": (200, 1)}[entry["outcome"]]
            found = (outcome.status, outcome.body["attempts"] if outcome.status == 200 else 0)
            assert found == wanted, entry["name"]
            if entry["outcome"] == "soft":
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
        {url: Page(url, as_page(text).encode(), "utf-8") for url, text in pages.items()},
    )  # fmt: skip


PIECES = st.sampled_from(
    ["[1]", "[2]", "[9]", "【1】", "[1-2]", "[0]", "[", "]", "1", "9", " ", "land", "lord", ".",
     "\n", "[1, 9]", "［2］", "[٩]", "[[", "]]", "†", "-", "–", ",", "not", "24"]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join), st.sampled_from([0, 2, 3]))
def test_whatever_is_cited_is_in_range_or_refused(summary: str, count: int) -> None:
    document = good_reply() | {"summary": summary}
    checked = check(ModelReply(json.dumps(document), "m"), REFERENCES[:count])
    if checked.reply is not None:
        assert_nothing_wrong_is_cited(checked.reply, count)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=8), below),
    max_leaves=12,
)
PATHS = st.sampled_from(
    ["paraphrase", "summary", "personas", "personas.0", "personas.1.verdict", "personas.2.name",
     "personas.0.key_points", "personas.1.key_points.2", "personas.1.rationale", "quotes",
     "quotes.0", "quotes.0.number", "quotes.1.quote"]
)  # fmt: skip


@settings(deadline=None)
@given(PATHS, JSON)
def test_any_value_in_any_place_is_checked_without_an_exception(path: str, value: Any) -> None:
    document = changed(good_reply(), {"changes": {path: {"times": 1, "list": value}}})
    place, key = parent_of(document, path)
    place[key] = value
    checked = check(ModelReply(json.dumps(document), "m"), REFERENCES)
    if checked.reply is not None:
        assert_nothing_wrong_is_cited(checked.reply, 3)
        assert len(checked.reply.personas) == 3


@settings(deadline=None)
@given(st.binary(max_size=300).map(lambda raw: raw.decode("utf-8", "replace")) | st.text())
def test_any_text_is_a_reply_or_a_named_hard_defect(text: str) -> None:
    checked = check(ModelReply(text, "m"), REFERENCES)
    assert checked.reply is None
    assert all(defect.is_hard and defect.rule and defect.expected for defect in checked.defects)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2), st.data())
def test_a_quote_with_a_word_taken_out_is_never_shown_as_it_was_said(
    index: int, data: st.DataObject
) -> None:
    tokens = TEXTS[index].split()
    gone = data.draw(st.integers(1, len(tokens) - 2))
    quote = " ".join(tokens[:gone] + tokens[gone + 1 :])
    document = good_reply() | {
        "summary": f"So it is [{index + 1}].",
        "quotes": [{"number": index + 1, "quote": quote}],
    }
    checked = check(ModelReply(json.dumps(document), "m"), REFERENCES)
    assert checked.reply is not None
    assert_nothing_wrong_is_cited(checked.reply, 3)
    word = tokens[gone].strip(",.’–").casefold()
    if word in {"not", "without", "unless", "24", "30", "three"}:
        assert checked.reply.evidence == "unverified"
