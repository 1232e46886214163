"""Which pages are offered: those that bear on the dispute, in force, and of the right nation."""

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from judge.judging.dispute import read_dispute
from judge.judging.pages.choose import ChosenPage, OfferedPage, choose_pages, offer_pages
from judge.judging.pages.library import PageLibrary, requests_of
from judge.judging.pages.page_records import PageContent, PageRecord, SnippetRequest
from judge.judging.pages.passages import PagePassage
from judge.judging.sources import SourceCatalog, parse_sources
from judge.types.references import Snippet, Validators
from judge.types.requests import DEFAULT_DOMAIN
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
    """A library in which some pages were read, and what is chosen and offered of it."""

    def __init__(self, known: SourceCatalog | None = None) -> None:
        self.catalog = known or catalog()
        self.library = PageLibrary(THESAURUS)
        self.texts: dict[str, tuple[str, ...]] = {}

    async def read(self, texts=None, **changes: object) -> "World":
        """The world with these pages read, the first text of each being its lead."""
        texts = PAGES if texts is None else texts
        self.texts |= texts
        learned = []
        for request in requests_of(self.catalog):
            if text := texts.get(name_of(request)):
                record = PageRecord(
                    text[0], TIME, request.fingerprint, Validators(), digest=repr(text), **changes
                )
                passages = tuple(PagePassage("", one) for one in text)
                learned.append((request, record, PageContent("", passages)))
        await self.library.update(learned)
        return self

    async def choose(
        self, dispute: str, domain: str = "tenancy", nations=()
    ) -> tuple[ChosenPage, ...]:
        indexed = await self.library.indexed(self.catalog)
        return choose_pages(indexed, read_dispute(dispute, ""), domain, frozenset(nations))

    async def chosen(self, dispute: str, domain: str = "tenancy", nations=()) -> list[str]:
        return [name_of(one.request) for one in await self.choose(dispute, domain, nations)]

    def offer(
        self, chosen: tuple[ChosenPage, ...], dispute: str, domain: str = "tenancy", nations=()
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

    async def offered(self, dispute: str, domain: str = "tenancy", nations=()) -> list[str]:
        chosen = await self.choose(dispute, domain, nations)
        pages = self.offer(chosen, dispute, domain, nations)
        return [page.snippet.url.removeprefix("https://example.org/") for page in pages]


# Which pages


async def test_a_page_that_bears_on_the_dispute_is_chosen_and_another_is_not():
    world = await World().read()
    assert await world.chosen(BOILER) == ["repairs"]
    assert await world.chosen("They kept my deposit for a stain on the carpet") == ["deposit"]


async def test_a_page_of_another_domain_is_offered_when_it_fits():
    world = await World().read()
    assert await world.chosen(SACKED, "tenancy") == ["dismissal"]


async def test_a_domain_none_of_whose_pages_fits_gets_none():
    world = await World().read()
    assert await world.chosen("My brother never thanks me for a gift.", "tenancy") == []


async def test_without_a_domain_a_page_has_to_fit_clearly():
    world = await World().read()
    assert await world.chosen(SACKED, DEFAULT_DOMAIN) == ["dismissal"]
    weak = "We argue over the radiators." + " And then she says so." * 12
    assert await world.chosen(weak, "tenancy") != []
    assert await world.chosen(weak, DEFAULT_DOMAIN) == []


async def test_there_are_never_more_pages_than_asked_for():
    both = f"{BOILER} And they kept my deposit for cleaning the carpet, says the scheme."
    assert len(await (await World().read()).chosen(both)) == 2
    only = World(catalog("references = 1"))
    assert len(await only.chosen(both)) == 1
    assert len(await (await only.read()).chosen(both)) == 1


async def test_a_page_under_two_fragments_is_offered_once_unless_a_selector_tells_them_apart():
    more = "[[domains.tenancy.sources]]\n" + source("repairs#rent", "Repairs in rented homes")
    selected = more + 'selector = "p"\n'
    for added, count in ((more, 1), (selected, 2)):
        world = await World(catalog(more=added)).read(PAGES | {"repairs#rent": REPAIRS})
        assert len(await world.chosen(BOILER)) == count


async def test_a_page_in_two_domains_is_offered_once_for_the_domain_detected():
    more = f"[[domains.tenancy.sources]]\n{source('dismissal', 'Unfair dismissal')}"
    world = await World(catalog(more=more)).read()
    assert [one.request.domain for one in await world.choose(SACKED, "tenancy")] == ["tenancy"]
    assert [one.request.domain for one in await world.choose(SACKED, "workplace")] == ["workplace"]


# Pages of unknown text


async def test_on_a_cold_start_pages_are_tried_by_title_and_topics_then_those_of_the_domain():
    chosen = await World().choose(BOILER)
    assert [name_of(one.request) for one in chosen] == ["repairs", "deposit"]
    assert all(one.candidate is None for one in chosen)


async def test_pages_of_unknown_text_come_after_those_that_fit():
    world = await World().read({"repairs": REPAIRS})
    assert await world.chosen(BOILER) == ["repairs", "deposit"]


async def test_what_was_tried_is_offered_only_if_it_turns_out_to_fit():
    world = World()
    chosen = await world.choose(BOILER)
    await world.read()
    offered = world.offer(chosen, BOILER)
    assert [page.snippet.url for page in offered] == ["https://example.org/repairs"]
    assert offered[0].snippet.text == f"{REPAIRS[0]} … {REPAIRS[1]}"


async def test_a_page_of_which_only_the_snippet_is_known_is_ranked_by_that():
    world = World()
    world.texts = {"repairs": ("The landlord must repair the boiler.",), "deposit": DEPOSIT}
    assert await world.offered(BOILER) == ["repairs"]


async def test_a_cold_and_a_warm_start_offer_the_same():
    cold, warm = World(), await World().read()
    chosen = await cold.choose(BOILER)
    await cold.read()
    assert cold.offer(chosen, BOILER) == warm.offer(await warm.choose(BOILER), BOILER)


# Nations and withdrawn pages


async def test_a_withdrawn_page_is_not_even_tried():
    world = await World().read(is_withdrawn=True)
    assert await world.chosen(BOILER) == []


async def test_a_page_that_turns_out_to_be_withdrawn_or_elsewhere_is_not_offered():
    for change in ({"is_withdrawn": True}, {"nations": ("scotland",)}):
        world = World()
        chosen = await world.choose(BOILER)
        await world.read(**change)
        assert world.offer(chosen, BOILER) == ()


async def test_a_page_of_another_nation_is_left_out():
    world = await World().read(nations=("wales",))
    assert await world.chosen(BOILER) == []
    assert await world.chosen(BOILER, nations={"wales"}) == ["repairs"]
    english = await World().read(nations=("england",))
    assert await english.chosen(BOILER) == ["repairs"]
    assert await english.chosen(BOILER, nations={"scotland"}) == []
    assert await english.chosen(BOILER, nations={"scotland", "england"}) == ["repairs"]


async def test_nations_found_on_a_page_add_to_those_configured():
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


async def test_a_text_is_the_lead_and_the_passage_that_bears_more():
    world = await World().read()
    [offered] = world.offer(await world.choose(BOILER), BOILER)
    assert offered.snippet.text == f"{REPAIRS[0]} … {REPAIRS[1]}"


async def test_a_text_is_the_lead_alone_where_nothing_bears_more():
    world = await World().read()
    [offered] = world.offer(await world.choose(SACKED), SACKED)
    assert offered.snippet.text == DISMISSAL[0]


async def test_a_lead_that_was_cut_is_not_repeated_by_its_passage():
    world = await World().read({"repairs": (REPAIRS[1],)})
    world.texts = {"repairs": ("The landlord must repair the boiler...",)}
    chosen = (await world.choose(BOILER))[:1]
    [offered] = world.offer(chosen, BOILER)
    assert offered.snippet.text == "The landlord must repair the boiler..."


async def test_a_passage_is_cut_to_the_words_that_may_be_quoted():
    passage = "The landlord must repair the boiler and the radiators in every flat that has them."
    known = catalog("max_words = 10")
    world = await World(known).read({"repairs": (REPAIRS[0], passage, REPAIRS[2])})
    chosen = (await world.choose(BOILER))[:1]
    [offered] = world.offer(chosen, BOILER)
    assert offered.snippet.text == (
        f"{REPAIRS[0]} … The landlord must repair the boiler and the radiators in..."
    )


async def test_no_passage_is_shown_of_a_page_that_has_changed_since_it_was_chosen():
    world = await World().read()
    chosen = await world.choose(BOILER)
    now = (REPAIRS[0], "A broken boiler is for the landlord to repair, and cold radiators too.")
    await world.read({"repairs": now})
    [offered] = world.offer(chosen, BOILER)
    assert offered.snippet.text == f"{now[0]} … {now[1]}"


async def test_what_is_offered_keeps_its_dates_and_age():
    world = await World().read()
    [chosen] = await world.choose(BOILER)
    snippet = Snippet("https://example.org/repairs", "Title", REPAIRS[0], TIME, is_stale=True)
    asked = read_dispute(BOILER, "")
    [offered] = offer_pages(world.library, asked, "tenancy", [(chosen, snippet)], frozenset())
    assert offered.snippet == replace(snippet, text=offered.snippet.text)


WORDS = st.sampled_from("landlord boiler repair deposit carpet dismissal fair mould the a".split())


@given(st.lists(WORDS, max_size=30).map(" ".join), st.sampled_from(["tenancy", DEFAULT_DOMAIN]))
async def test_the_same_dispute_gets_the_same_pages_whatever_the_order_of_reading(dispute, domain):
    forth = await World().read()
    back = World()
    for name in reversed(PAGES):
        await back.read({name: PAGES[name]})
    assert await forth.offered(dispute, domain) == await back.offered(dispute, domain)


@given(st.lists(WORDS, max_size=30).map(" ".join), st.integers(1, 2))
async def test_a_larger_limit_only_adds_pages(dispute, limit):
    fewer = await (await World(catalog(f"references = {limit}")).read()).chosen(dispute)
    more = await (await World(catalog(f"references = {limit + 1}")).read()).chosen(dispute)
    assert more[: len(fewer)] == fewer
    assert len(fewer) == min(limit, len(more))
