"""A headless Chromium, and a real server with fakes behind it."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from tests.entrypoints.browser.visiting import (
    DESKTOP,
    FLAGS,
    House,
    Visit,
    chromium,
    write_sources,
)
from tests.entrypoints.running_server import opened_world

PATIENCE_MS = 30_000
"""How long a page may take to do what it should; machines that test are busy."""


@pytest.fixture(scope="session")
def house(tmp_path_factory) -> Iterator[House]:
    with opened_world(tmp_path_factory.mktemp("house")) as world:
        write_sources(world)
        with world.server(JUDGE_RATE_LIMIT="10000/minute") as server:
            yield House(world, server)


@pytest.fixture(scope="session")
def locked_house(tmp_path_factory) -> Iterator[House]:
    """It asks for a key, and only quotes."""
    with opened_world(tmp_path_factory.mktemp("locked")) as world:
        write_sources(world)
        with world.server(JUDGE_API_KEYS="open-sesame", JUDGE_MODEL="extractive") as server:
            yield House(world, server)


@pytest.fixture(scope="session")
def hosting_house(tmp_path_factory) -> Iterator[House]:
    """Pages of the fake site may ask it, by a name that is of another origin and another site."""
    with opened_world(tmp_path_factory.mktemp("hosting")) as world:
        write_sources(world)
        with world.server(JUDGE_CORS_ORIGINS=f"http://localhost:{world.site.port}") as server:
            yield House(world, server)


@pytest.fixture(scope="session")
def guarded_house(tmp_path_factory) -> Iterator[House]:
    """As the hosting one, for those alone who have its key."""
    with opened_world(tmp_path_factory.mktemp("guarded")) as world:
        write_sources(world)
        origin = f"http://localhost:{world.site.port}"
        with world.server(JUDGE_CORS_ORIGINS=origin, JUDGE_API_KEYS="for-all-to-see") as server:
            yield House(world, server)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    path = chromium()
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        await opened.close()


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser: Browser, house: House) -> AsyncIterator[Visit]:
    """A fresh visit; in the end the page must not have complained of anything."""
    house.world.gemini.forget()
    context = await browser.new_context(viewport=DESKTOP, locale="en-GB")
    context.set_default_timeout(PATIENCE_MS)
    visit = Visit(await context.new_page(), house)
    visit.page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    visit.page.on("console", lambda said: visit.hear(said.text) if said.type == "error" else None)
    yield visit
    await context.close()
    assert visit.complaints == []
