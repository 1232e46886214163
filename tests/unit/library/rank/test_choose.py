"""Which pages are offered: relevant ones that are in force and of the right nation."""

from datetime import UTC, datetime

from hypothesis import strategies as st

from judge.library.dispute import read_dispute
from judge.library.extract.page_passages import PagePassage
from judge.library.pages.approved_pages import PageLibrary, requests_of
from judge.library.pages.page_records import PageRecord, SnippetRequest
from judge.library.rank.candidates import ChosenPage, OfferedPage, choose_pages, offer_pages
from judge.library.sources.catalog import SourceCatalog, parse_sources
from judge.types.references import Snippet
from judge.vocabulary.thesaurus import load_thesaurus

TIME = datetime(2026, 1, 15, tzinfo=UTC)
THESAURUS = load_thesaurus()
REPAIRS = (
    "This guide explains what tenants can expect of their landlord.",
    "The landlord must repair the boiler, the radiators and the hot water tank.",
    "Complain to the council about mould and damp if the landlord does nothing.",
)
DEPOSIT = (
    "A protection scheme keeps the deposit until the end.",
    "The scheme settles disputes about cleaning and damage to a carpet.",
)
DISMISSAL = ("A dismissal is unfair without a good reason and a fair procedure.",)
BOILER = "My landlord will not repair the boiler and the radiators are cold."
SACKED = "My boss gave me no reason for the dismissal, and no procedure was fair."


HERE = ("england",)


def source(name: str, title: str, *, topics: tuple[str, ...] = (), nations=()) -> str:
    return (
        f'url = "https://example.org/{name}"\ntitle = "{title}"\n'
        f"topics = {list(topics)}\nnations = {list(nations)}\n"
    )


def catalog(retrieval: str = "", more: str = "") -> SourceCatalog:
    tenancy = [
        source("repairs", "Repairs in rented homes", topics=("boiler",)),
        source("deposit", "Deposits", topics=("deposit",)),
    ]
    pages = "".join(f"[[domains.tenancy.sources]]\n{one}" for one in tenancy)
    return parse_sources(f"""
[retrieval]
{retrieval}
[domains.tenancy]
terms = {{ landlord = 3 }}
{pages}
{more}
[domains.workplace]
terms = {{ boss = 3 }}
[[domains.workplace.sources]]
{source("dismissal", "Unfair dismissal")}
""")


PAGES = {"repairs": REPAIRS, "deposit": DEPOSIT, "dismissal": DISMISSAL}


def name_of(request: SnippetRequest) -> str:
    return request.source.url.removeprefix("https://example.org/")


class World:
    """A library with some pages read, and the pages that are chosen and offered from it."""

    def __init__(self, known: SourceCatalog | None = None) -> None:
        self.catalog = known or catalog()
        self.library = PageLibrary(THESAURUS)
        self.texts: dict[str, tuple[str, ...]] = {}

    async def read(self, texts=None, **changes: object) -> "World":
        """This world with the pages of *texts* read; the first text of each is its lead."""
        texts = PAGES if texts is None else texts
        self.texts |= texts
        learned = []
        for request in requests_of(self.catalog):
            if text := texts.get(name_of(request)):
                passages = tuple(PagePassage("", one) for one in text)
                record = PageRecord(text[0], TIME, "", passages, digest=repr(text), **changes)
                learned.append((request, record))
        await self.library.update(learned)
        return self

    async def choose(
        self, dispute: str, domain: str = "tenancy", nations=HERE
    ) -> tuple[ChosenPage, ...]:
        indexed = await self.library.indexed(self.catalog)
        return choose_pages(indexed, read_dispute(dispute, ""), domain, frozenset(nations))

    async def chosen(self, dispute: str, domain: str = "tenancy", nations=HERE) -> list[str]:
        return [name_of(one.request) for one in await self.choose(dispute, domain, nations)]

    def offer(
        self,
        chosen: tuple[ChosenPage, ...],
        dispute: str,
        domain: str = "tenancy",
        nations=HERE,
    ) -> tuple[OfferedPage, ...]:
        retrieved = [
            (
                one,
                Snippet(one.request.source.url, "Title", self.texts[name_of(one.request)][0], TIME),
            )
            for one in chosen
        ]
        asked = read_dispute(dispute, "")
        return offer_pages(self.library, asked, domain, retrieved, frozenset(nations))

    async def offered(
        self, dispute: str, domain: str = "tenancy", nations=("england",)
    ) -> list[str]:
        chosen = await self.choose(dispute, domain, nations)
        pages = self.offer(chosen, dispute, domain, nations)
        return [page.snippet.url.removeprefix("https://example.org/") for page in pages]


# Which pages


async def test_only_relevant_pages_are_chosen():
    world = await World().read()
    assert await world.chosen(BOILER) == ["repairs"]
    assert await world.chosen("They kept my deposit for a stain on the carpet") == ["deposit"]


async def test_number_of_chosen_pages_is_limited():
    both = f"{BOILER} And they kept my deposit for cleaning the carpet, says the scheme."
    assert len(await (await World().read()).chosen(both)) == 2
    only = World(catalog("references = 1"))
    assert len(await only.chosen(both)) == 1
    assert len(await (await only.read()).chosen(both)) == 1


async def test_page_under_two_fragments_is_chosen_once_unless_a_selector_differs():
    more = "[[domains.tenancy.sources]]\n" + source("repairs#rent", "Repairs in rented homes")
    selected = more + 'selector = "p"\n'
    for added, count in ((more, 1), (selected, 2)):
        world = await World(catalog(more=added)).read(PAGES | {"repairs#rent": REPAIRS})
        assert len(await world.chosen(BOILER)) == count


async def test_page_in_two_domains_is_chosen_once_for_the_detected_domain():
    more = f"[[domains.tenancy.sources]]\n{source('dismissal', 'Unfair dismissal')}"
    world = await World(catalog(more=more)).read()
    assert [one.request.domain for one in await world.choose(SACKED, "tenancy")] == ["tenancy"]
    assert [one.request.domain for one in await world.choose(SACKED, "workplace")] == ["workplace"]


# Pages of unknown text


async def test_unread_pages_are_chosen_by_title_and_topics_then_by_domain():
    chosen = await World().choose(BOILER)
    assert [name_of(one.request) for one in chosen] == ["repairs", "deposit"]
    assert not any(one.is_read for one in chosen)


async def test_chosen_page_is_offered_only_if_its_text_is_relevant():
    world = World()
    chosen = await world.choose(BOILER)
    await world.read()
    offered = world.offer(chosen, BOILER)
    assert [page.snippet.url for page in offered] == ["https://example.org/repairs"]


async def test_cold_and_warm_start_offer_the_same_pages():
    cold, warm = World(), await World().read()
    chosen = await cold.choose(BOILER)
    await cold.read()
    assert cold.offer(chosen, BOILER) == warm.offer(await warm.choose(BOILER), BOILER)


# Nations and withdrawn pages


async def test_withdrawn_page_is_not_chosen():
    world = await World().read(is_withdrawn=True)
    assert await world.chosen(BOILER) == []


async def test_page_found_to_be_withdrawn_or_of_another_nation_is_not_offered():
    for change in ({"is_withdrawn": True}, {"nations": ("scotland",)}):
        world = World()
        chosen = await world.choose(BOILER)
        await world.read(**change)
        assert world.offer(chosen, BOILER) == ()


async def test_page_of_another_nation_is_not_chosen():
    world = await World().read(nations=("wales",))
    assert await world.chosen(BOILER) == []
    assert await world.chosen(BOILER, nations={"wales"}) == ["repairs"]
    english = await World().read(nations=("england",))
    assert await english.chosen(BOILER) == ["repairs"]
    assert await english.chosen(BOILER, nations={"scotland"}) == []
    assert await english.chosen(BOILER, nations={"scotland", "england"}) == ["repairs"]


async def test_nations_of_a_page_are_added_to_the_configured_ones():
    more = "[[domains.tenancy.sources]]\n" + source(
        "scots", "Repairs in Scotland", nations=("scotland",)
    )
    world = World(catalog(more=more))
    assert await world.chosen("the boiler", nations={"wales"}) == ["repairs", "deposit"]
    await world.read({"scots": REPAIRS}, nations=("wales",))
    chosen = await world.choose(BOILER, nations={"wales"})
    assert name_of(chosen[0].request) == "scots"
    [offered] = world.offer(chosen[:1], BOILER, nations={"wales"})
    assert offered.nations == {"scotland", "wales"}


# The text of a reference


async def test_text_is_the_lead_and_the_best_passages_in_the_order_of_the_page():
    filler = "Councils keep a list of firms. " * 3
    told = (REPAIRS[0], REPAIRS[2], *[filler] * 12, REPAIRS[1])
    for settings, best in (
        ("passages = 1", [REPAIRS[1]]),
        ("passages = 2\nmax_words = 16", [REPAIRS[2], REPAIRS[1]]),
    ):
        world = await World(catalog(settings)).read({"repairs": told})
        [offered] = world.offer((await world.choose(BOILER))[:1], BOILER)
        assert offered.snippet.text == " … ".join([REPAIRS[0], *best])


async def test_passage_is_filled_up_with_what_stands_beside_it():
    world = await World().read()
    [offered] = world.offer(await world.choose(BOILER), BOILER)
    assert offered.snippet.text == f"{REPAIRS[0]} … {REPAIRS[1]} {REPAIRS[2]}"


async def test_changed_page_is_offered_with_a_passage_of_its_new_text():
    world = await World().read()
    chosen = await world.choose(BOILER)
    now = (REPAIRS[0], "A broken boiler is for the landlord to repair, and cold radiators too.")
    await world.read({"repairs": now})
    [offered] = world.offer(chosen, BOILER)
    assert offered.snippet.text == f"{now[0]} … {now[1]}"


WORDS = st.sampled_from("landlord boiler repair deposit carpet dismissal fair mould the a".split())
