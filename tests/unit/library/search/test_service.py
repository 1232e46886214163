"""The search service: scopes from all places, names that exist, hints when nothing is found."""

import pytest

from judge.errors import BadScope
from judge.library.scopes.scopes import SearchFilters, scope_of
from judge.library.search.service import (
    NOTHING_INDEXED,
    CitablePassageFinder,
    DocumentSearch,
    SearchParameters,
)
from tests.fakes.clock import FakeClock
from tests.fakes.passages import document
from tests.fakes.search_index import FakeIndex

LEASES = (
    document(
        "the boiler is repaired", id="lease.md", collection="Leases", tags=("2025",), folder="flat"
    ),
    document("a boiler manual", "more boiler", id="manual.md", collection="manuals"),
)


class World:
    """A search over a few documents."""

    def __init__(self, *documents):
        self.clock = FakeClock()
        self.index = FakeIndex(*(documents or LEASES))
        self.search = DocumentSearch(self.index, self.index, self.clock)

    async def find(self, query="boiler", **more):
        return await self.search.search(SearchParameters(query, **more))

    async def ids(self, query="boiler", **more):
        found = await self.find(query, **more)
        return sorted(hit.passage.id for hit in found.results.hits)


LEASE, MANUAL, MORE = "Leases/lease.md:0", "manuals/manual.md:0", "manuals/manual.md:1"


@pytest.mark.parametrize(
    "more",
    [
        {"context": "@collection:leases"},
        {"query": "boiler @collection:LEASES"},
        {"filters": scope_of(SearchFilters(collection_name="leases"))},
        {"default_collection": "leases"},
        {"context": "-@collection:manuals"},
        {"query": "boiler @tag:2025"},
    ],
)
async def test_scope_applies_wherever_it_is_given(more):
    assert await World().ids(**more) == [LEASE]


@pytest.mark.parametrize(
    "text",
    [
        "@*",
        "@collection:manuals",
        "-@tag:2025",
        "-@collection:leases",
        "(@tag:zzz OR @collection:manuals)",
    ],
)
async def test_any_scope_replaces_the_default(text):
    assert MANUAL in await World().ids(context=text, default_collection="leases")
    assert MANUAL in await World().ids(f"boiler {text}", default_collection="leases")
    assert MANUAL not in await World().ids(default_collection="leases")


async def test_a_default_collection_must_exist_once_anything_does():
    with pytest.raises(BadScope):
        await World().find(default_collection="default")


async def test_an_index_without_anything_finds_nothing_in_its_default_collection():
    world = World()
    world.index.documents_by_key.clear()
    found = await world.find(default_collection="default")
    assert (found.results.hits, found.hint) == ((), NOTHING_INDEXED)
    assert (await world.find()).hint == NOTHING_INDEXED
    with pytest.raises(BadScope, match="Nothing is indexed yet"):
        await world.find(context="@collection:leases")


@pytest.mark.parametrize(
    ("scope", "hint"),
    [
        ("@tag:2024", "No tag is called '2024'. Did you mean '2025'?"),
        ("@folder:zzz", "No folder is called 'zzz'."),
        ("@document:leas.md", "Did you mean 'lease.md'?"),
        ("@tag:2025 @collection:manuals", "Nothing in @tag:2025 @collection:manuals is relevant"),
        ("@modified:today", "@* has 3 passages."),
    ],
)
async def test_hint_names_the_limiting_clause_and_wider_scopes(scope, hint):
    found = await World().find(context=scope)
    assert found.results.hits == ()
    assert hint in (found.hint or "")


async def test_unknown_name_is_reported_even_with_hits():
    found = await World().find(context="@tag:2025,2023 -@document:gone")
    assert len(found.results.hits) == 1
    assert (
        found.hint == "No document is called 'gone'. No tag is called '2023'. Did you mean '2025'?"
    )


def source_of(world):
    return CitablePassageFinder(world.search, world.clock)


async def test_the_best_passages_of_a_scope_can_be_cited():
    world = World()
    found = await source_of(world).find("The boiler is broken", "@collection:leases", 2)
    (snippet,) = found.snippets
    assert (snippet.kind, snippet.url, snippet.title) == ("passage", "lease.md.md", "A title")
    assert snippet.fetched_at == world.clock.now()
    assert found.warnings == ()


async def test_signs_in_a_story_are_not_operators():
    story = 'He said "never call @collection:x" -boiler and don\'t'
    found = await source_of(World()).find(story + " boiler", "@*", 1)
    assert len(found.snippets) == 1


@pytest.mark.parametrize("story", ["…", "zebra"])
async def test_scope_without_a_relevant_passage_is_a_warning(story):
    found = await source_of(World()).find(story, "@collection:leases", 1)
    assert found.snippets == ()
    assert found.warnings == ("No passage of the indexed documents fits this dispute.",)


async def test_hints_and_warnings_of_the_index_are_passed_on():
    world = World()
    world.index.warnings = ("Only the words were searched.",)
    found = await source_of(world).find("boiler", "@tag:x", 1)
    assert found.warnings[0] == "Only the words were searched."
    assert "No tag is called 'x'" in found.warnings[1]


async def test_a_scope_where_nothing_is_indexed_is_refused():
    world = World()
    world.index.documents_by_key.clear()
    with pytest.raises(BadScope, match="Nothing is indexed here"):
        await source_of(world).find("boiler", "@tag:x", 1)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Top\n\n## Sub\n\nThe boiler\nis mine", "The boiler\nis mine"),
        ("# The boiler ", "# The boiler "),
        ("the boiler", "the boiler"),
    ],
)
async def test_headings_are_left_out_of_what_is_cited(text, shown):
    world = World(document(text, language="markdown"))
    found = await source_of(world).find("boiler", "@*", 1)
    assert found.snippets[0].text == shown
