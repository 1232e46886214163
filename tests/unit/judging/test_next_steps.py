"""The next steps are the cited pages."""

from datetime import UTC, datetime

from judge.judging.results import next_steps
from judge.types.references import Reference
from judge.types.replies import Citation
from judge.types.results import NextStep


def page(number: int, url: str = "", kind: str = "page") -> Reference:
    address = url or f"https://advice.example/{number}"
    return Reference(number, kind, address, f"Page {number}", "…", datetime(2026, 1, 1, tzinfo=UTC))


def cite(number: int) -> Citation:
    return Citation(number, "summary", 0, 3, None, "none", None)


def test_steps_follow_the_citations_without_duplicates():
    steps = next_steps([cite(2), cite(1), cite(2)], [page(1), page(2), page(3)])
    assert steps == (
        NextStep("Page 2", "https://advice.example/2"),
        NextStep("Page 1", "https://advice.example/1"),
    )


def test_uncited_page_is_not_a_step():
    assert next_steps([], [page(1)]) == ()


def test_passage_of_a_document_is_not_a_step():
    assert next_steps([cite(1)], [page(1, "/home/rules.md", "passage")]) == ()
