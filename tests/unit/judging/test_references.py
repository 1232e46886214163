"""The references are relevant pages, then passages; unreadable pages are counted."""

import pytest

from judge.judging.references import CollectedReferences, ReferenceCollector
from judge.library.dispute import read_dispute
from judge.library.extract.html_page import ReadPage
from judge.library.sources.catalog import parse_sources
from judge.types.references import CitablePassages
from tests.fakes.clock import FakeClock
from tests.fakes.fetcher import ScriptedFetcher
from tests.fakes.journal import RecordingJournal
from tests.fakes.pipeline import text_retriever

REPAIRS, DEPOSIT, WORK = (f"https://a.example/{name}" for name in ("repairs", "deposit", "work"))
CATALOG = parse_sources(f"""
[domains.tenancy]
terms = {{ landlord = 3 }}
[[domains.tenancy.sources]]
url = "{REPAIRS}"
title = "Repairs"
[[domains.tenancy.sources]]
url = "{DEPOSIT}"
title = "Deposits"
[domains.workplace]
terms = {{ boss = 3 }}
[[domains.workplace.sources]]
url = "{WORK}"
title = "Grievances"
""")
TEXTS = {
    REPAIRS: "The landlord must repair the boiler in the rented home.",
    DEPOSIT: "A scheme keeps the money until the end.",
    WORK: "A grievance is a complaint about work.",
}
DISPUTE = "My landlord will not repair the boiler."


class World:
    """A collector over scripted pages."""

    def __init__(self) -> None:
        self.clock, self.journal = FakeClock(), RecordingJournal()
        self.fetcher = ScriptedFetcher()
        for url, text in TEXTS.items():
            self.fetcher.page(url, text)
        self.retriever = text_retriever(self.fetcher, self.clock, self.journal)
        self.collector = ReferenceCollector(self.retriever)

    async def collect(
        self, dispute: str = DISPUTE, passages: CitablePassages | None = None
    ) -> CollectedReferences:
        return await self.collector.collect(
            read_dispute(dispute, "Am I rude?"),
            "tenancy",
            passages or CitablePassages(),
            CATALOG,
        )


@pytest.fixture
def world() -> World:
    return World()


async def test_unreadable_page_of_the_domain_is_counted_as_left_out(world):
    world.fetcher.fail(REPAIRS)
    assert (await world.collect()).left_out == 1


async def test_unreadable_page_of_another_domain_is_not_counted(world):
    world.fetcher.fail(WORK)
    collected = await world.collect(f"{DISPUTE} He has a grievance.")
    assert world.fetcher.hits[WORK] == 1
    assert (collected.left_out, [one.url for one in collected.references]) == (0, [REPAIRS])


async def test_withdrawn_page_is_neither_offered_nor_counted_as_unreadable(world):
    world.retriever.reader = type(world.retriever.reader)(
        world.fetcher, world.clock, lambda *_, **__: ReadPage(withdrawn=True)
    )
    collected = await world.collect()
    assert (collected.references, collected.left_out) == ((), 0)
    assert (await world.collect()).references == ()
    assert set(world.journal.events) == {"page.withdrawn"}
