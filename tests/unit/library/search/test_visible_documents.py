"""What a viewer sees of an index: as if the collections of others did not exist."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judge.errors import JudgeError
from judge.library.search.service import DocumentSearch, SearchParameters, VisibleDocuments
from judge.types.search import OPERATOR, Viewer
from tests.fakes.clock import FakeClock
from tests.fakes.passages import document
from tests.fakes.search_index import FakeIndex

ALICE, NOBODY = Viewer("alice"), Viewer()
SHELF = (
    document("a boiler", "another boiler", id="open", collection="manuals", tags=("red",)),
    document("a boiler", id="own", collection="alice:notes", tags=("hers",), folder="a/b"),
    document("a boiler", id="other", collection="Bob:notes", tags=("his",), folder="secret/b"),
)


@pytest.mark.parametrize(
    ("collection", "owner"),
    [
        ("manuals", ""),
        ("Alice:notes", "alice"),
        ("alice:a:b", "alice"),
        ("alice :x", "alice"),
        (":notes", ":"),
        (":", ":"),
        ("a/b", ""),
    ],
)
def test_a_collection_belongs_to_the_name_before_its_colon(collection, owner):
    assert Viewer("Alice").sees(collection) == (owner in {"", "alice"})
    assert Viewer().sees(collection) == (owner == "")
    assert OPERATOR.sees(collection)


def view(viewer, *documents):
    index = FakeIndex(*(documents or SHELF))
    return VisibleDocuments(index, index, viewer)


async def test_an_id_that_two_documents_share_gives_the_visible_one():
    twins = (
        document("mine", id="b:c/d", collection="a"),
        document("hidden", id="d", collection="a/b:c"),
    )
    assert [p.text for p in await view(ALICE, *twins).window("a/b:c/d:0")] == ["mine"]


async def test_new_collection_is_seen_at_once_by_those_who_may():
    index = FakeIndex(*SHELF)
    search = DocumentSearch(index, index, FakeClock()).visible_to(NOBODY)
    assert (await search.search(SearchParameters("boiler"))).results.total == 2
    for name in ("carol:notes", "new"):
        index.documents_by_key[name, "x"] = document("a boiler", id="x", collection=name)
    assert (await search.search(SearchParameters("boiler"))).results.total == 3


COLLECTIONS = ["manuals", "Leases", "alice:notes", "Alice:more", "bob:notes", "bob:more", ":none"]
WORDS = ["boiler", "lease", "rent", "zebra"]
TAGS = ["red", "blue", "old", "hers"]
DOCUMENTS = st.lists(
    st.builds(
        lambda collection, name, text, tag, folder: document(
            *text, id=name, collection=collection, tags=(tag,), folder=folder
        ),
        st.sampled_from(COLLECTIONS),
        st.sampled_from(["one", "two", "three"]),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
        st.sampled_from(TAGS),
        st.sampled_from(["", "flat", "flat/old"]),
    ),
    max_size=8,
    unique_by=lambda item: (item.document.collection.casefold(), item.document.id),
)
MENTIONS = st.builds(
    "{}@{}".format,
    st.sampled_from(["", "-"]),
    st.sampled_from(
        [
            *(f"collection:{name}" for name in [*COLLECTIONS, "bob:note", "*"]),
            *(f"tag:{name}" for name in [*TAGS, "rred", "her"]),
            *(f"document:{name}" for name in ["one", "two", "thre"]),
            *(f"folder:{name}" for name in ["flat", "flat/old", "flat/ol", "/"]),
        ]
    ),
)
SCOPES = st.lists(MENTIONS, max_size=3).flatmap(
    lambda mentions: (
        st.sampled_from([" ".join(mentions), f"({' OR '.join(mentions)})"])
        if mentions
        else st.just("")
    )
)


async def told(documents, viewer, query, scope):
    """All that a search tells *viewer* of *documents*, an error too."""
    index = FakeIndex(*documents)
    search = DocumentSearch(index, index, FakeClock()).visible_to(viewer)
    try:
        found = await search.search(SearchParameters(query, context=scope))
    except JudgeError as error:
        return str(error), getattr(error, "valid", None)
    return found


@given(DOCUMENTS, st.sampled_from([ALICE, NOBODY]), st.sampled_from(WORDS), SCOPES)
@example(list(SHELF), NOBODY, "boiler", "@tag:his")
@example(list(SHELF), ALICE, "boiler", "@collection:bob:note")
async def test_search_result_is_as_if_other_collections_did_not_exist(
    documents, viewer, query, scope
):
    visible = [item for item in documents if viewer.sees(item.document.collection)]
    seen = await told(documents, viewer, query, scope)
    assert seen == await told(visible, OPERATOR, query, scope)
