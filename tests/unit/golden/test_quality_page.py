"""docs/quality.md explains every check and evaluator, and its figures are current."""

import json
from pathlib import Path

import pytest

from benchmarks import quality, relevance
from judge.golden.cases import Expected, GoldenCase
from judge.golden.evaluators import EVALUATORS, check_questions

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "quality.md").read_text()
HOW_TO = (ROOT / "docs" / "golden.md").read_text()
CORPUS = ROOT / "tests" / "fixtures" / "replies" / "bad_replies.jsonl"


def test_every_evaluator_is_explained_with_a_valid_option() -> None:
    rows = [line.split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]
    taken = {row[0].strip("| `"): row[2].strip(" |`") for row in rows}
    for name in EVALUATORS:
        check_questions({name: json.loads(taken[name])}, EVALUATORS)


def test_every_rule_that_a_bad_reply_can_break_is_explained() -> None:
    entries = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    rules = {rule for entry in entries for rule in entry["rules"]}
    assert [rule for rule in sorted(rules) if f"| `{rule}` | " not in PAGE] == []
    assert f"A corpus of {len(entries)} bad replies" in PAGE


def test_every_key_of_a_case_is_explained() -> None:
    keys = {field.alias or name for name, field in Expected.model_fields.items()}
    keys |= set(GoldenCase.model_fields)
    assert [key for key in sorted(keys) if f"`{key}`" not in HOW_TO] == []


@pytest.mark.parametrize(("name", "measured"), [
    ("support", lambda shared: quality.support_figures()),
    ("opposites", lambda shared: quality.opposite_figures()),
    pytest.param("detection", quality.detection_figures, marks=pytest.mark.slow),
])  # fmt: skip
def test_figures_are_current(name, measured) -> None:
    lines = measured(ROOT.parent / "shared")
    if not lines:
        pytest.skip("the labelled data is not here")
    assert quality.with_figures(PAGE, name, lines) == PAGE, "run `make quality`"


@pytest.mark.slow
def test_figures_of_relevance_are_current() -> None:
    """Those of the server's weights; `make quality` also tries others, which takes a minute."""
    folder = ROOT.parent / "shared" / "eval" / "relevance"
    if not folder.is_dir():
        pytest.skip("the labelled data is not here")
    train, second = relevance.usual_figures(relevance.Labelled(folder)).values()
    rows = [f"| {name} | {train[name]:.3f} | {second[name]:.3f} |" for name in train]
    assert [row for row in rows if row not in PAGE] == [], "run `make quality`"


def test_figures_replace_their_block_and_a_page_without_one_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for support"):
        quality.with_figures("nothing", "support", [])
    assert quality.with_figures("a<!-- x -->\nold\n<!-- /x -->b", "x", ["new"]) == (
        "a<!-- x -->\nnew\n<!-- /x -->b"
    )


def test_measurements_without_the_shared_data_are_skipped(tmp_path: Path, capsys) -> None:
    assert quality.main(["--shared", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert told.count("Skipped") == 5
    assert "turned round" in told
