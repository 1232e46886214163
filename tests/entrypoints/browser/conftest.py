"""A headless Chromium, and a real server with fakes behind it."""

import os
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright

from tests.entrypoints.running_server import RunningServer, World, opened_world

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 320, "height": 640}
REPAIRS = (
    "Your landlord has to keep the boiler in working order, and must start repairs within a "
    "reasonable time after you have told them that it has stopped working. How long that is "
    "depends on the repair; no heating in winter is urgent."
)
MARKUP = (
    "Write <script>window.broken = 1</script> and <img src=x onerror=window.broken=1> to nobody, "
    "but go on paying the rent while you wait for the repair to be done by your landlord."
)
SOURCES = """
[blocked]
help = [{{ title = "The Listening Line", url = "https://listen.example/", phone = "0800 000 000" }}]

[domains.tenancy]
title = "Renting a home"
[domains.tenancy.terms]
landlord = 3
boiler = 2
[[domains.tenancy.sources]]
url = "{repairs}"
title = "Repairs in rented homes"
[[domains.tenancy.sources]]
url = "{rent}"
title = "Paying the rent"

[domains.work]
title = "At work"
[domains.work.terms]
manager = 3
"""


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def write_sources(world: World) -> None:
    """Two pages, one of which is about markup and holds some."""
    page = "<html><body><main><h1>Page</h1><p>{}</p></main></body></html>"
    world.site.page("/repairs", page.format(escaped(REPAIRS)))
    world.site.page("/rent", page.format(escaped(MARKUP)))
    urls = {path: world.site.url(f"/{path}") for path in ("repairs", "rent")}
    (world.directory / "sources.toml").write_text(SOURCES.format(**urls))


@dataclass(frozen=True)
class House:
    """The server and the fakes around it."""

    world: World
    server: RunningServer


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Iterator[House]:
    with opened_world(tmp_path_factory.mktemp("house")) as world:
        write_sources(world)
        with world.server(JUDGE_RATE_LIMIT="10000/minute") as server:
            yield House(world, server)


@pytest.fixture(scope="module")
def locked_house(tmp_path_factory) -> Iterator[House]:
    """It asks for a key, and only quotes."""
    with opened_world(tmp_path_factory.mktemp("locked")) as world:
        write_sources(world)
        with world.server(JUDGE_API_KEYS="open-sesame", JUDGE_MODEL="extractive") as server:
            yield House(world, server)


def chromium() -> str:
    """Where it is; without it the test is skipped, but fails in CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        reason = "chromium is not installed (Debian: apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    path = chromium()
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        await opened.close()


@dataclass
class Visit:
    """A page in a browser of its own, and what it complained of."""

    page: Page
    house: House
    complaints: list[str] = field(default_factory=list)

    async def open(self, path: str = "/", house: House | None = None) -> Page:
        await self.page.goto(f"{(house or self.house).server.url}{path}")
        return self.page

    def hear(self, text: str) -> None:
        """Keep a complaint; that a refusal is logged by the browser is no news."""
        if not re.match(r"Failed to load resource: (the server responded|net::ERR_INTERNET)", text):
            self.complaints.append(text)

    @property
    def gemini(self):
        return self.house.world.gemini


@pytest_asyncio.fixture(loop_scope="module")
async def visit(browser: Browser, house: House) -> AsyncIterator[Visit]:
    """A fresh visit; in the end the page must not have complained of anything."""
    house.world.gemini.forget()
    context = await browser.new_context(viewport=DESKTOP, locale="en-GB")
    context.set_default_timeout(10_000)
    visit = Visit(await context.new_page(), house)
    visit.page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    visit.page.on("console", lambda said: visit.hear(said.text) if said.type == "error" else None)
    yield visit
    await context.close()
    assert visit.complaints == []


@pytest.fixture(scope="session")
def pictures(tmp_path_factory) -> Path:
    """Where screenshots go: the folder that SCREENSHOTS names, else nowhere that lasts."""
    named = os.environ.get("SCREENSHOTS")
    return Path(named) if named else tmp_path_factory.mktemp("screenshots")
