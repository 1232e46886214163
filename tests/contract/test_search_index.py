"""The contract of search engines: scopes, queries, paging, the catalogue, writing."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from qdrant_client import AsyncQdrantClient

from judge.adapters.index.postgres.database import open_database
from judge.adapters.index.postgres.index import PostgresIndex
from judge.adapters.index.qdrant import QdrantIndex
from judge.adapters.index.tantivy.index import TantivyIndex
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.library.scopes.grammar import read_context
from judge.library.scopes.scopes import all_of, any_of, complement, scope_text
from judge.library.search.query import parse_query
from judge.library.search.service import VisibleDocuments
from judge.ports import Catalogue, SearchIndex, WritableIndex
from judge.types.search import EVERYWHERE, Clause, CollectionStats, Passage, Scope, Viewer
from tests.fakes.clock import FakeClock
from tests.fakes.passages import BOOK, book, document
from tests.fakes.postgres_server import forget_everything, postgres_server
from tests.fakes.scope_oracle import holds

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")

MARCH = datetime(2025, 3, 1, tzinfo=UTC)


@dataclass
class Engine:
    """An index under test, with shorthands for its tests."""

    index: SearchIndex
    catalogue: Catalogue
    store: WritableIndex

    async def add(self, *documents):
        async with self.store.writing() as writer:
            await writer.replace(documents)
            await writer.commit()

    async def remove(self, *args):
        async with self.store.writing() as writer:
            await writer.remove(*args)
            await writer.commit()

    async def find(self, text, *clauses, limit=50, offset=0):
        return await self.index.search(
            parse_query(text), Scope(clauses), limit=limit, offset=offset
        )

    async def ids(self, text, *clauses):
        """The ids of the documents found, sorted."""
        results = await self.find(text, *clauses)
        assert results.total == len(results.hits)
        return sorted(hit.passage.document_id for hit in results.hits)


@asynccontextmanager
async def tantivy_engine(folder) -> AsyncIterator[Engine]:
    index = TantivyIndex(folder)
    yield Engine(index, index, TantivyStore(folder, FakeClock()))


@asynccontextmanager
async def qdrant_engine(_) -> AsyncIterator[Engine]:
    client = AsyncQdrantClient(":memory:")
    index = QdrantIndex(client, "memory")
    yield Engine(index, index, index)
    await client.close()


@asynccontextmanager
async def postgres_engine(address) -> AsyncIterator[Engine]:
    forget_everything(address)
    database = open_database(address)
    index = PostgresIndex(database)
    yield Engine(index, index, index)
    await database.aclose()


ENGINES = {"tantivy": tantivy_engine, "qdrant": qdrant_engine, "postgres": postgres_engine}


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with postgres_server() as address:
        yield address


@pytest.fixture(params=ENGINES)
async def engine(request, tmp_path) -> AsyncIterator[Engine]:
    place = request.getfixturevalue("postgres") if request.param == "postgres" else tmp_path
    async with ENGINES[request.param](place) as engine:
        yield engine


@pytest.fixture
async def library(engine) -> Engine:
    """Five documents that differ in everything a scope can filter by, and share one word."""
    await engine.add(
        document("robot one", id="one", collection="reports", folder="2024/q1", tags=("Red",)),
        document("robot two", id="two", collection="reports", folder="2024/q2", tags=("blue",)),
        document(
            "robot three", id="three", collection="drafts", folder="2024", tags=("red", "old")
        ),
        document("robot four", id="four", collection="drafts", folder="", modified=MARCH),
        document(
            "robot five",
            id="five",
            collection="other",
            folder="20245",
            modified=datetime(2025, 4, 1, tzinfo=UTC),
        ),
    )
    return engine


ALL = ["five", "four", "one", "three", "two"]


async def test_scope_filters_documents(library):
    for clauses, expected in [
        ([], ALL),
        ([Clause("collection", ("REPORTS",))], ["one", "two"]),
        ([Clause("collection", ("reports", "other"))], ["five", "one", "two"]),
        ([Clause("collection", ("drafts",), is_excluded=True)], ["five", "one", "two"]),
        ([Clause("document", ("Three", "four"))], ["four", "three"]),
        ([Clause("folder", ("2024",))], ["one", "three", "two"]),
        ([Clause("folder", ("2024/Q1",))], ["one"]),
        ([Clause("folder", ("2024",), is_recursive=False)], ["three"]),
        ([Clause("folder", ("",))], ALL),
        ([Clause("folder", ("",), is_recursive=False)], ["four"]),
        ([Clause("folder", ("2024",), is_excluded=True)], ["five", "four"]),
        ([Clause("tag", ("RED",))], ["one", "three"]),
        ([Clause("tag", ("red",)), Clause("tag", ("old",))], ["three"]),
        ([Clause("tag", ("red",), is_excluded=True)], ["five", "four", "two"]),
        ([Clause("modified", after=MARCH)], ["five", "four"]),
        ([Clause("modified", before=datetime(2025, 4, 1, tzinfo=UTC))], ["four"]),
        ([Clause("modified", after=MARCH, before=MARCH)], []),
        ([Clause("modified", after=MARCH, is_excluded=True)], ["one", "three", "two"]),
        ([Clause("collection", ("reports",)), Clause("folder", ("2024/q2",))], ["two"]),
        (
            [Clause("document", ("three",)), Clause("collection", ("drafts",), is_excluded=True)],
            [],
        ),
        ([Clause("tag", ("green",))], []),
    ]:
        assert await library.ids("robot", *clauses) == expected


TAGS = ("red", "blue", "old")
LEAVES = [
    *(Clause("collection", (name,)) for name in ("reports", "drafts", "OTHER")),
    *(Clause("document", (name,)) for name in ALL),
    *(Clause("folder", (name,)) for name in ("", "2024", "2024/Q1", "20245")),
    *(Clause("folder", (name,), is_recursive=False) for name in ("", "2024", "2024/q2")),
    *(Clause("tag", (a, b)) for a in TAGS for b in TAGS),
    *(Clause("modified", after=after) for after in (MARCH, MARCH + timedelta(days=1))),
    Clause("modified", before=MARCH + timedelta(days=1)),
]


def any_scope(random: Random, depth: int) -> Scope:
    """A scope with nested brackets, *depth* deep at most."""
    if not depth or random.random() < 0.3:
        return Scope((replace(random.choice(LEAVES), is_excluded=random.random() < 0.3),))
    inner = [any_scope(random, depth - 1) for _ in range(random.randint(1, 3))]
    if random.random() < 0.3:
        return complement(any_of(inner))
    return any_of(inner) if random.random() < 0.6 else all_of(*inner)


async def passages_of(library: Engine) -> dict[str, Passage]:
    return {hit.passage.document_id: hit.passage for hit in (await library.find("robot")).hits}


@pytest.mark.parametrize("seed", range(4))
async def test_scope_of_any_shape_agrees_with_the_oracle(library, seed):
    random = Random(seed)
    passages = await passages_of(library)
    assert sorted(passages) == ALL
    for scope in [any_scope(random, 4) for _ in range(60)]:
        expected = sorted(name for name, passage in passages.items() if holds(scope, passage))
        assert await library.ids("robot", *scope.clauses) == expected, scope_text(scope)


async def test_catalogue_lists_only_names_in_the_scope(library):
    reports = read_context("(@collection:reports OR @document:three) -@tag:blue", MARCH).scope
    assert await library.catalogue.names("tag", reports) == ("old", "red")
    assert await library.catalogue.names("folder", reports) == ("2024", "2024/q1")
    assert await library.catalogue.names("document", reports) == ("one", "three")


async def test_viewer_sees_nothing_of_other_viewers_collections(library):
    await library.add(
        document("robot six", "more robots", id="six", collection="Alice:notes", tags=("hers",)),
        document("robot seven", id="seven", collection="bob:notes", folder="his/own"),
    )
    names = {}
    for name in ("alice", "bob", ""):
        seen = VisibleDocuments(library.index, library.catalogue, Viewer(name))
        found = await seen.search(parse_query("robot"), EVERYWHERE, limit=50)
        ids = sorted({hit.passage.document_id for hit in found.hits})
        assert (found.total, ids) == (len(found.hits), list(await seen.names("document")))
        assert len(await seen.window("Alice:notes/six:0", after=1)) == 2 * (name == "alice")
        names[name] = [*ids, *await seen.names("tag"), *await seen.names("folder")]
    shared = ["blue", "old", "red", "2024", "2024/q1", "2024/q2", "20245"]
    assert names == {
        "alice": [*sorted([*ALL, "six"]), *sorted([*shared[:3], "hers"]), *shared[3:]],
        "bob": [*sorted([*ALL, "seven"]), *shared, "his", "his/own"],
        "": [*ALL, *shared],
    }


@pytest.mark.parametrize("question", ["pump valve", '"pump valve"', "pump or valve or heat or oil"])
async def test_invisible_collections_do_not_change_scores_or_relevance(library, question):
    await library.add(
        document("a pump valve of oil", "oil for a valve", id="both", collection="lab"),
        document("the heat of it", id="heat", collection="lab"),
        document("pump", id="hers", collection="alice:notes"),
    )

    async def outcome(words_of_bob):
        crowd = [document(words_of_bob, id=f"d{n}", collection="bob:notes") for n in range(60)]
        await library.add(*crowd)
        seen = VisibleDocuments(library.index, library.catalogue, Viewer("alice"))
        found = await seen.search(parse_query(question), EVERYWHERE, limit=50)
        return {hit.passage.id: pytest.approx(hit.score, rel=0.001) for hit in found.hits}

    before = await outcome("something else here")

    assert before
    assert await outcome("pump valve here") == before


async def test_question_finds_the_expected_passage(engine):
    await engine.add(
        document("They repaired the roof.", id="stem"),
        document("call getUserId()", id="camel"),
        document("def get_user_id", id="snake"),
        document("the right of quiet enjoyment", id="phrase"),
        document("enjoyment is not quiet", id="apart"),
        document("Un café noir", id="accent"),
        document("मकान का किराया, שָׁלוֹם", id="signs"),
        document("锅炉坏了，房东必须修理。租客不用付钱。" * 3, id="chinese", title="집주인이"),
        document("ガスボイラー ถ้าหม้อต้มเสีย", id="kana"),
        document("to be", id="stops"),
        document("nothing here", id="titled", title="A Great Headline"),
    )
    for query, expected in [
        ("repairing", ["stem"]),
        ("user", ["camel", "snake"]),
        ("get_user_id", ["camel", "snake"]),
        ("getUserId", ["camel", "snake"]),
        ('"quiet enjoyment"', ["phrase"]),
        ('"enjoyment quiet"', []),
        ('"QUIET enjoyments"', ["phrase"]),
        ("quiet", ["apart", "phrase"]),
        ("quiet -enjoyment", []),
        ('quiet -"quiet enjoyment"', ["apart"]),
        ('+"quiet enjoyment" home', ["phrase"]),
        ('he said "enjoyment quiet" and left', ["apart", "phrase"]),
        ("cafe", ["accent"]),
        ("Café", ["accent"]),
        ("cafe\u0301 noir", ["accent"]),
        ("किराया", ["signs"]),
        ("שָׁלוֹם", ["signs"]),
        ("房东", ["chinese"]),
        ("谁必须修理锅炉？", ["chinese"]),
        ('"房东必须"', ["chinese"]),
        ('"房东修理"', []),
        ("房东 -租客", []),
        ("火车", []),
        ("집주인", ["chinese"]),
        ("ガス", ["kana"]),
        ("カス", []),
        ("หม้อต้ม", ["kana"]),
        ("to be or to be", ["stops"]),
        ("zebra", []),
        ("", []),
        ("-robot", []),
        ("headline", ["titled"]),
        ('"Great Headline"', ["titled"]),
    ]:
        assert await engine.ids(query) == expected


@pytest.fixture
async def robots(engine) -> Engine:
    await engine.add(*book())
    return engine


async def test_best_passage_comes_first(robots):
    best = (await robots.find("How does ROS 2 handle node communication?")).hits[0].passage

    assert (best.document_id, best.position) == ("ros2/intro", 1)


@pytest.mark.parametrize(
    "query", ["quantum cooking techniques", "quantum computing recipes", "common pastry recipes"]
)
async def test_query_that_shares_one_common_word_of_three_finds_nothing(robots, query):
    results = await robots.find(query)

    assert (results.hits, results.total) == ((), 0)


async def test_scope_does_not_change_relevance(robots):
    await robots.add(document("quantum cooking techniques", collection="cookery"))

    assert await robots.ids("quantum cooking techniques", Clause("collection", ("robots",))) == []
    best = (await robots.find("quantum cooking techniques")).hits[0]
    assert best.passage.collection == "cookery"


async def test_pages_contain_each_hit_once(robots):
    whole = await robots.find("robot sensors navigation nodes techniques")

    pages = [await robots.find(whole_text(), limit=2, offset=o) for o in range(0, whole.total, 2)]

    assert [hit for page in pages for hit in page.hits] == list(whole.hits)
    assert {page.total for page in pages} == {whole.total}
    beyond = await robots.find(whole_text(), offset=10**12)
    assert (beyond.hits, beyond.total) == ((), whole.total)


def whole_text():
    return "robot sensors navigation nodes techniques"


async def test_passage_round_trips_unchanged(engine):
    item = document(
        "first",
        "second ünïcode\n  text",
        id="Guide.MD",
        collection="Manuals",
        modified=MARCH,
        chapter="One",
        section="Two",
        folder="A/b",
        tags=("X", "y"),
        language="markdown",
        start_line=3,
        end_line=9,
    )

    await engine.add(item)

    hit = (await engine.find("unicode")).hits[0]
    assert hit.passage == item.passages[1]
    assert hit.passage.id == "Manuals/Guide.MD:1"


async def test_passage_is_fetched_by_id_with_its_neighbours(robots):
    (only,) = await robots.catalogue.window("robots/perception/sensors:1")
    assert only.text == BOOK["perception/sensors"][1]

    window = await robots.catalogue.window("ROBOTS/perception/sensors:1", before=2, after=1)
    assert [p.position for p in window] == [0, 1, 2]


async def test_collections_with_slashes_have_distinct_passage_ids(engine):
    await engine.add(
        document("one sensor", id="b/c", collection="a"),
        document("other sensor", id="c", collection="a/b"),
        document("third sensor", id="c", collection="a%2Fb"),
    )

    found = [hit.passage for hit in (await engine.find("sensor")).hits]

    assert {p.id: p.collection for p in found} == {
        "a/b/c:0": "a", "a%2Fb/c:0": "a/b", "a%252Fb/c:0": "a%2Fb",
    }  # fmt: skip
    for passage in found:
        assert await engine.catalogue.window(passage.id) == (passage,)


async def test_empty_index_has_no_hits_and_an_empty_catalogue(engine):
    assert await engine.ids("robot") == []
    assert await engine.catalogue.window("a/b:0") == ()
    assert await engine.catalogue.collections() == ()
    assert await engine.catalogue.documents("a") == ()
    assert await engine.catalogue.names("tag") == ()
    assert not await engine.catalogue.contains(EVERYWHERE)


async def test_catalogue_counts_documents_and_passages(library):
    await library.add(document("a", "b", id="long", collection="OTHER"))

    assert await library.catalogue.collections() == (
        CollectionStats("drafts", 2, 2),
        CollectionStats("other", 2, 3),
        CollectionStats("reports", 2, 2),
    )


async def test_catalogue_says_whether_a_scope_is_empty(library):
    for scope, is_there in [
        ("@*", True),
        ("@collection:REPORTS", True),
        ("@collection:report", False),
        ("@folder:2024", True),
        ("@folder:202", False),
        ("@tag:red -@tag:red", False),
        ("@document:one (@tag:old OR @tag:red)", True),
    ]:
        assert await library.catalogue.contains(read_context(scope, MARCH).scope) is is_there


async def test_removed_documents_are_in_no_scope(library):
    async with library.store.writing() as writer:
        for collection in [stats.name for stats in await library.catalogue.collections()]:
            await writer.remove(collection)
        await writer.commit()

    assert not await library.catalogue.contains(EVERYWHERE)
    assert not await library.catalogue.contains(read_context("@document:one", MARCH).scope)


async def test_document_replaces_the_one_with_the_same_id(engine):
    await engine.add(document("old words", "more old words", id="Doc", tags=("gone",)))

    await engine.add(document("new words", id="doc"))

    assert await engine.ids("old") == []
    assert await engine.ids("words") == ["doc"]
    assert await engine.catalogue.names("tag") == ()
    assert await engine.catalogue.collections() == (CollectionStats("default", 1, 1),)


async def test_long_question_finds_passages_that_share_a_few_words(robots):
    story = (
        "My neighbour bought a machine that cleans floors and it keeps bumping into furniture "
        "because its lidar and other sensors seem wrong; the costmap shows no obstacles at all, "
        "and I wonder whether I am unreasonable to ask him to have it repaired before Sunday."
    )

    best = (await robots.find(story)).hits[0].passage

    assert (best.document_id, best.position) == ("motion/navigation", 1)
