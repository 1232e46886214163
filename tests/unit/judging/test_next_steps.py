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


def test_steps_are_the_cited_pages_in_order_without_duplicates_or_documents():
    pages = [page(1), page(2), page(3), page(4, "/home/rules.md", "passage")]
    steps = next_steps([cite(2), cite(4), cite(1), cite(2)], pages)
    assert steps == (
        NextStep("Page 2", "https://advice.example/2"),
        NextStep("Page 1", "https://advice.example/1"),
    )
