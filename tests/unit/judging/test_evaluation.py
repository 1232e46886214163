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
