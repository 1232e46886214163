"""Each reply of the corpus of bad replies has its recorded outcome and defects.

The corpus is `tests/fixtures/replies/bad_replies.jsonl`; its README says how an entry is written.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from judge.citations.marks import find_marks
from judge.judging.verdicts.check import ReplyCheck
from judge.text.english import source_sentences
from judge.types.references import Reference
from judge.types.replies import CheckedReply, ModelReply
from tests.unit.judging.verdicts.replies import REFERENCES, TEXTS, check, good_reply

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


def outcome_of(checked: ReplyCheck) -> str:
    if checked.reply is None:
        return "hard"
    if checked.asked_again:
        return "soft"
    return "mended" if checked.defects else "ok"


def assert_citations_are_valid(reply: CheckedReply, count: int) -> None:
    """Every citation that a client sees is located, in range and quotes its own reference."""
    texts = {f"personas.{i}.rationale": one.rationale for i, one in enumerate(reply.personas)}
    texts["summary"] = reply.summary
    located = {(one.field, one.start, one.end) for one in reply.citations}
    seen = {(f, mark.start, mark.end) for f, text in texts.items() for mark in find_marks(text)}
    assert located == seen
    for citation in reply.citations:
        assert 1 <= citation.number <= count
        assert (citation.quote is not None) == (citation.quote_status == "verified")
        sentences = source_sentences(TEXTS[citation.number - 1])
        assert citation.quote is None or citation.quote in sentences
        assert citation.quote is not None or not citation.contradicts


def test_each_bad_reply_has_its_recorded_outcome_and_defects() -> None:
    for entry in ENTRIES:
        references = references_of(entry)
        checked = check(reply_of(entry), references)
        assert (outcome_of(checked), sorted({d.rule for d in checked.defects})) == (
            entry["outcome"],
            sorted(set(entry["rules"])),
        ), (entry["name"], [str(defect) for defect in checked.defects])
        assert all(defect.is_hard == (entry["outcome"] == "hard") for defect in checked.defects)
        if checked.reply is not None:
            assert_citations_are_valid(checked.reply, len(references))
            assert checked.reply.evidence == entry.get("evidence", checked.reply.evidence)
        assert_no_rejected_value_is_told(checked)


def assert_no_rejected_value_is_told(checked: ReplyCheck) -> None:
    """No warning repeats what a check rejected."""
    for defect in checked.defects:
        assert str(defect) == f"{defect.field} ({defect.rule}): expected {defect.expected}"
        is_ours = defect.rule == "personas" or defect.value in {"null", "false", "missing"}
        if len(defect.value) > 3 and not is_ours:
            assert defect.value not in str(defect)


def test_corpus_has_at_least_340_entries_with_unique_names() -> None:
    assert len(ENTRIES) >= 340
    assert len({entry["name"] for entry in ENTRIES}) == len(ENTRIES)
    assert {entry["outcome"] for entry in ENTRIES} == {"hard", "soft", "mended", "ok"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=8), below),
    max_leaves=12,
)
PATHS = st.sampled_from(
    ["paraphrase", "summary", "personas", "personas.0", "personas.1.verdict", "personas.2.name",
     "personas.0.key_points", "personas.1.key_points.2", "personas.1.rationale", "quotes",
     "quotes.0", "quotes.0.number", "quotes.1.sentences", "quotes.1.sentences.0",
     "references_help"]
)  # fmt: skip


@given(PATHS, JSON)
def test_any_value_in_any_field_is_checked_without_an_error(path: str, value: Any) -> None:
    document = good_reply()
    place, key = parent_of(document, path)
    place[key] = value
    checked = check(document, REFERENCES)
    if checked.reply is not None:
        assert_citations_are_valid(checked.reply, 3)
        assert len(checked.reply.personas) == 3


@given(st.text() | JSON.map(json.dumps))
def test_any_text_that_is_not_a_reply_is_a_hard_defect(text: str) -> None:
    checked = check(text, REFERENCES)
    assert checked.reply is None
    assert checked.defects
    assert all(defect.is_hard and defect.rule and defect.expected for defect in checked.defects)


@given(st.integers(1, 3), st.lists(st.integers(-2, 5) | st.integers(), max_size=5))
def test_citation_is_verified_exactly_if_a_named_sentence_exists(
    number: int, named: list[int]
) -> None:
    sentences = source_sentences(TEXTS[number - 1])
    is_there = any(1 <= at <= len(sentences) for at in named)
    document = good_reply(
        summary=f"So it is [{number}].", quotes=[{"number": number, "sentences": named}]
    )
    checked = check(document, REFERENCES)
    assert checked.reply is not None
    (citation,) = checked.reply.citations
    assert citation.quote_status == ("verified" if is_there else "none")
    assert checked.reply.evidence == ("grounded" if is_there else "unverified")
    if is_there:
        assert citation.quote in {sentences[at - 1] for at in named if 1 <= at <= len(sentences)}
