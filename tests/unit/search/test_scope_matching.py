"""Whether a passage lies in a scope, as an index would filter."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.search.scope_matching import matches_scope
from judge.search.scopes import parse_scope
from judge.types.search import Clause, Scope
from tests.fakes.passages import passage

NOW = datetime(2025, 6, 15, 12, tzinfo=UTC)
LEASE = passage(
    "text",
    document="Lease.md",
    collection="Leases",
    folder="Flat/2025",
    tags=("final", "Signed"),
    modified=datetime(2025, 6, 14, tzinfo=UTC),
)
UNDATED = passage("text", folder="")


@pytest.mark.parametrize(
    "scope",
    [
        "@*",
        "@collection:LEASES",
        "@collection:other,leases",
        "@document:lease.MD",
        "@folder:flat",
        "@folder:flat/2025",
        "@folder:/",
        "@tag:signed",
        "@modified:last-week",
        "@modified:2025-06-14",
        "-@collection:other",
        "-@modified:today",
        "@collection:leases @tag:final -@folder:house",
    ],
)
def test_a_passage_lies_in_a_scope_that_names_it(scope):
    assert matches_scope(LEASE, parse_scope(scope, NOW))


@pytest.mark.parametrize(
    "scope",
    [
        "@collection:lease",
        "@document:lease",
        "@folder:fla",
        "@folder:2025",
        "@folder:flat/2025/q1",
        "@tag:sign",
        "@modified:today",
        "@modified:>2025-06-15",
        "@modified:<2025-06-14",
        "-@tag:final",
        "@collection:leases @tag:draft",
        "@collection:leases -@folder:flat",
    ],
)
def test_a_passage_lies_outside_of_every_other_scope(scope):
    assert not matches_scope(LEASE, parse_scope(scope, NOW))


def test_a_folder_alone_does_not_hold_what_is_below_it():
    alone = [Clause("folder", (name,), is_recursive=False) for name in ("flat", "flat/2025", "")]
    assert [matches_scope(LEASE, Scope((clause,))) for clause in alone] == [False, True, False]
    assert matches_scope(UNDATED, Scope((alone[2],)))


def test_a_passage_without_a_time_lies_in_no_range():
    assert not matches_scope(UNDATED, parse_scope("@modified:last-week", NOW))
    assert matches_scope(UNDATED, parse_scope("-@modified:last-week", NOW))


@given(st.sampled_from(["@collection:leases", "@tag:x", "@folder:flat", "@modified:today"]))
def test_a_scope_and_its_opposite_share_no_passage(scope):
    inside, outside = (parse_scope(text, NOW) for text in (scope, f"-{scope}"))
    assert matches_scope(LEASE, inside) != matches_scope(LEASE, outside)
