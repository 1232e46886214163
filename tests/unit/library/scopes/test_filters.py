"""The filters of a search request, and the scope that they give."""

from datetime import UTC, datetime

import pytest

from judge.errors import BadScope
from judge.library.scopes.filters import SearchFilters, scope_of
from judge.types.search import EVERYWHERE, Clause


def test_every_filter_is_a_clause():
    scope = scope_of(
        SearchFilters(
            collection_name="Reports",
            collection_id=("a", "b"),
            document_id="x.md",
            folder_path="/2024/q1/",
            recursive=False,
            tags=("one", "two"),
            modified_after="2025-01-01",
            modified_before="2025-02-01T09:00:00+01:00",
        )
    )
    assert scope.clauses == (
        Clause("collection", ("Reports",)),
        Clause("collection", ("a", "b")),
        Clause("document", ("x.md",)),
        Clause("folder", ("2024/q1",), is_recursive=False),
        Clause("tag", ("one", "two")),
        Clause(
            "modified",
            after=datetime(2025, 1, 1, tzinfo=UTC),
            before=datetime(2025, 2, 1, 8, tzinfo=UTC),
        ),
    )


@pytest.mark.parametrize(
    "filters",
    [
        SearchFilters(collection_name="*"),
        SearchFilters(document_id=("a.md", "*")),
        SearchFilters(folder_path="*"),
    ],
)
def test_a_star_is_everything_as_it_is_in_a_mention(filters):
    assert scope_of(filters) == EVERYWHERE


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        (SearchFilters(collection_name=" "), "collection_name"),
        (SearchFilters(tags=()), "tags"),
        (SearchFilters(tags="*"), "tags"),
        (SearchFilters(document_id=("a", "")), "document_id"),
        (SearchFilters(folder_path=" "), "folder_path"),
        (SearchFilters(modified_after="2025-02-30"), "'2025-02-30' is no date"),
        (SearchFilters(modified_before="soon"), "modified_before"),
        (SearchFilters(modified_after=""), "modified_after"),
        (SearchFilters(modified_after="2025-02-01", modified_before="2025-01-01"), "not later"),
    ],
)
def test_an_empty_or_impossible_filter_is_refused_by_name(filters, told):
    with pytest.raises(BadScope, match=told):
        scope_of(filters)
