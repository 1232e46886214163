"""Support: the share of a citing sentence that its reference carries."""

from datetime import UTC, datetime

from judge.citations.marks import find_marks
from judge.citations.support import claims, held_by
from judge.types.judgements import Reference

BOILER = "Landlords are responsible for repairing boilers and heating."
DEPOSIT = "A deposit must be protected in a scheme within thirty days."
TEXT = "Your landlord must repair the heating and boiler [1]. The deposit belongs in a scheme. [2]"


def of(mark: str, reference: str, text: str = TEXT) -> float | None:
    """The support of *mark* when every reference says *reference*."""
    when = datetime(2026, 1, 15, tzinfo=UTC)
    told = [Reference(n, "page", "u", "t", reference, when, stale=False) for n in (1, 2)]
    said = claims(text, find_marks(text), held_by(told, (1, 2)))
    return next(claim.support for claim in said if claim.mark.text == mark)


def test_a_sentence_carried_by_its_reference_scores_one() -> None:
    assert of("[1]", BOILER) == 1.0


def test_swapping_two_references_lowers_both() -> None:
    right = (of("[1]", BOILER), of("[2]", DEPOSIT))
    wrong = (of("[1]", DEPOSIT), of("[2]", BOILER))
    assert all(r is not None and w is not None and w < r
               for r, w in zip(right, wrong, strict=True))  # fmt: skip


def test_a_mark_after_the_full_stop_belongs_to_the_sentence_before_it() -> None:
    assert of("[2]", BOILER) == 0.0


def test_under_three_content_words_nothing_is_said() -> None:
    assert of("[1]", BOILER, "Yes, the boiler [1].") is None


def test_marks_are_no_words() -> None:
    assert of("[1, 2]", BOILER, "Landlords repair boilers [1, 2].") == 1.0
