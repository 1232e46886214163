"""Word-by-word comparison of two runs, and the report of it."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import NotFound
from judge.golden.difference_text import AROUND, changed_words, diff, marked
from judge.golden.html_report import as_html
from judge.golden.replay import REPLAY_TIME
from judge.golden.run_comparison import (
    answer_changes,
    body_changes,
    prompt_changes,
    verdict_moves,
)
from judge.golden.run_history import find_baseline, last_run, store_run
from judge.golden.samples import Answer, Sample, by_case, with_answer
from judge.golden.scoring import replay_all
from tests.unit.golden.material import reply, run_config, sample, write_case

EVIL = "<script>alert(x)</script>\"'& "
WORDS = st.text(alphabet="ab \n", max_size=2 * AROUND)


@given(WORDS, WORDS)
def test_diff_of_short_texts_has_both_texts(before: str, after: str) -> None:
    parts = [part for hunk in diff(before, after) for part in hunk]
    if before == after:
        assert parts == []
        return
    assert "".join(part.text for part in parts if part.kind != "added") == before
    assert "".join(part.text for part in parts if part.kind != "removed") == after


def test_changed_word_is_shown_with_little_context() -> None:
    long = "word " * 100
    [hunk] = diff(f"{long}kind and plain. {long}", f"{long}kind and brief. {long}")
    assert marked(hunk).count("word") < 60
    assert "word kind and [-plain.-]{+brief.+} word" in marked(hunk)


def test_distant_changes_are_two_hunks() -> None:
    long = "word " * 100
    found = diff(f"one {long} two", f"uno {long} due")
    assert [changed_words(hunk)[0].text for hunk in found] == ["one", "two"]


def kept(prompt: str = "Be kind.", verdict: str = "No", **changes: object) -> Sample:
    persona = {"name": "Analyst", "verdict": verdict, "rationale": "So.", "key_points": ["a"]}
    empty: dict = {"references": [], "citations": [], "warnings": []}
    texts = {"paraphrase": "You ask.", "summary": "No.", "evidence": "none", "id": prompt}
    body = {"personas": [persona], **texts, **empty}
    return sample(**({"answer": Answer(200, body, (prompt,)), "at": REPLAY_TIME} | changes))


def test_change_common_to_all_prompts_is_reported_once() -> None:
    before = [kept("Be kind. A", case="a"), kept("Be kind. B", case="b")]
    after = [kept("Be firm. A", case="a"), kept("Be firm. B", case="b")]
    [(hunk, cases)] = prompt_changes(answer_changes(before, after))
    assert (marked(hunk), cases) == ("Be [-kind.-]{+firm.+} A", ("a", "b"))


def test_id_of_a_run_is_not_a_change() -> None:
    [change] = answer_changes([kept("one")], [kept("two")])
    assert change.prompts
    assert change.body == ()


def test_equal_changes_of_answers_are_grouped() -> None:
    before = [kept(case="a"), kept(case="b"), kept(case="c")]
    after = [kept(case="a", verdict="Yes"), kept(case="b", verdict="Yes"), kept(case="c")]
    [(differences, cases)] = body_changes(answer_changes(before, after))
    assert (differences[0].field, cases) == ("personas.0.verdict", ("a", "b"))


def test_verdict_moves_need_a_change_of_shares() -> None:
    assert verdict_moves([kept()], [kept(), kept()]) == {}
    moves = verdict_moves([kept()], [kept(), kept(verdict="Yes")])
    assert moves == {("boiler", "Analyst"): ({"No": 1}, {"No": 1, "Yes": 1})}


def test_samples_without_answers_have_no_changes() -> None:
    assert answer_changes([sample()], [sample()]) == []
    assert verdict_moves([sample()], [sample()]) == {}


def days(count: int, one: Sample) -> list[Sample]:
    return [replace(one, at=REPLAY_TIME.replace(day=count))]


def test_run_is_compared_with_the_newest_different_one(tmp_path: Path) -> None:
    for day, prompt in enumerate(("first", "second", "third", "third"), 1):
        store_run(tmp_path, days(day, kept(prompt)))
    found = find_baseline(tmp_path, last_run(tmp_path))
    assert [one.answer.prompts for one in found if one.answer] == [("second",)]


def test_run_of_another_kind_or_with_other_cases_is_not_a_baseline(tmp_path: Path) -> None:
    store_run(tmp_path, days(1, kept(is_live=True)))
    store_run(tmp_path, days(2, kept(sources_file="other.toml")))
    store_run(tmp_path, days(3, kept(case="another")))
    assert find_baseline(tmp_path, days(4, kept("new"))) == []
    store_run(tmp_path, [*days(3, kept("old")), *days(3, kept(case="more"))])
    assert [one.case for one in find_baseline(tmp_path, days(4, kept("new")))] == ["boiler"]


def test_missing_run_is_an_error_that_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="judge golden run"):
        last_run(tmp_path)


async def test_report_shows_both_answers_escaped(tmp_path: Path) -> None:
    stored = write_case(tmp_path, replies=[reply(paraphrase=EVIL)])
    before = [with_answer(one) for one in await replay_all([stored], run_config())]
    stored = write_case(tmp_path, replies=[reply(paraphrase=f"{EVIL} more")])
    judged = await replay_all([stored], run_config())
    text = as_html([stored], by_case(one.sample for one in judged), judged, before)
    assert "<script" not in text
    assert text.count("&lt;script&gt;alert(x)") >= 2
    assert "<th>Answer before</th><th>Answer after</th>" in text
    assert '<mark class="rests">[1]</mark>' in text
    assert "0 prompts and 1 answers changed, of 1" in text


async def test_report_shows_the_broken_rule_and_the_text_of_the_reply(tmp_path: Path) -> None:
    stored = write_case(tmp_path, replies=[reply(summary=f"{EVIL} [7]"), "no json"])
    judged = await replay_all([stored], run_config())
    text = as_html([stored], by_case(one.sample for one in judged), judged)
    assert "citation in summary: expected" in text
    assert "<pre>no json</pre>" in text
    assert "There is no earlier run" in text
    assert "<script" not in text
