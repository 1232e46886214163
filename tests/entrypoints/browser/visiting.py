"""What a test in the browser is about: the server visited, the page, and what it complained of."""

import os
import re
import shutil
from dataclasses import dataclass, field

import pytest
from playwright.async_api import Page

from tests.entrypoints.running_server import RunningServer, World

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


def chromium() -> str:
    """Where it is; without it the test is skipped, but fails in CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        reason = "chromium is not installed (Debian: apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


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
