"""Precision, recall, F1 and confusions over labelled disputes."""

from hypothesis import given
from hypothesis import strategies as st

from judge.entrypoints.cli.sources.explain import Evaluated, score


def tried(wanted, got, pages=(), offered=(), line=1):
    return Evaluated(line, wanted, pages, got, offered)


NAMES = st.sampled_from(["a", "b", "default"])


@given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=20))
def test_accuracy_f1_and_confusions_are_consistent(pairs):
    report = score([tried(*pair, line=n) for n, pair in enumerate(pairs)], 8)
    wrong = sum(len(one["lines"]) for one in report["confusions"])
    assert report["disputes"] == sum(one["disputes"] for one in report["domains"])
    assert report["accuracy"] == round(1 - wrong / len(pairs), 3)
    for one in report["domains"]:
        if one["precision"] and one["recall"]:
            f1 = 2 * one["precision"] * one["recall"] / (one["precision"] + one["recall"])
            assert abs(one["f1"] - f1) < 0.002


def test_confusions_have_their_line_numbers():
    pairs = [("a", "b"), ("a", "a"), ("a", "b"), ("c", "default"), ("default", "c"), ("a", "c")]
    report = score([tried(*pair, line=n) for n, pair in enumerate(pairs, 1)], 8)
    assert [(one["labelled"], one["detected"], one["lines"]) for one in report["confusions"]] == [
        ("a", "b", [1, 3]),
        ("c", "default", [4]),
        ("default", "c", [5]),
        ("a", "c", [6]),
    ]
    assert [(one["domain"], one["disputes"]) for one in report["domains"]] == [
        ("a", 4), ("b", 0), ("c", 1), ("default", 1)
    ]  # fmt: skip
