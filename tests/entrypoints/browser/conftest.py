"""A headless Chromium, and a real server with fakes behind it."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from tests.entrypoints.browser.visiting import (
    DESKTOP,
    FLAGS,
    Deployment,
    Visit,
    chromium,
    write_sources,
)
from tests.entrypoints.running_server import open_world

PATIENCE_MS = 30_000
"""How long a page may take for each step; test machines are busy."""


@pytest.fixture(scope="session")
def deployment(tmp_path_factory) -> Iterator[Deployment]:
    with open_world(tmp_path_factory.mktemp("deployment")) as world:
        write_sources(world)
        with world.server(JUDGE_RATE_LIMIT="10000/minute") as server:
            yield Deployment(world, server)


@pytest.fixture(scope="session")
def locked_deployment(tmp_path_factory) -> Iterator[Deployment]:
    """A server that requires a key and uses the extractive model."""
    with open_world(tmp_path_factory.mktemp("locked")) as world:
        write_sources(world)
        with world.server(JUDGE_API_KEYS="open-sesame, clé 🗝", JUDGE_MODEL="extractive") as server:
            yield Deployment(world, server)


@pytest.fixture(scope="session")
def embedded_deployment(tmp_path_factory) -> Iterator[Deployment]:
    """A server that pages of the fake site, another origin, may call."""
    with open_world(tmp_path_factory.mktemp("hosting")) as world:
        write_sources(world)
        with world.server(JUDGE_CORS_ORIGINS=f"http://localhost:{world.site.port}") as server:
            yield Deployment(world, server)


@pytest.fixture(scope="session")
def locked_embedded_deployment(tmp_path_factory) -> Iterator[Deployment]:
    """The same, but a key is required."""
    with open_world(tmp_path_factory.mktemp("guarded")) as world:
        write_sources(world)
        origin = f"http://localhost:{world.site.port}"
        with world.server(JUDGE_CORS_ORIGINS=origin, JUDGE_API_KEYS="for-all-to-see") as server:
            yield Deployment(world, server)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    path = chromium()
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        await opened.close()


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser: Browser, deployment: Deployment) -> AsyncIterator[Visit]:
    """A new page; fails if the console has errors at the end."""
    deployment.world.gemini.forget()
    context = await browser.new_context(viewport=DESKTOP, locale="en-GB")
    context.set_default_timeout(PATIENCE_MS)
    visit = Visit(await context.new_page(), deployment)
    visit.page.on("pageerror", lambda error: visit.console_errors.append(str(error)))
    visit.page.on("console", lambda said: visit.hear(said.text) if said.type == "error" else None)
    yield visit
    await context.close()
    assert visit.console_errors == []
