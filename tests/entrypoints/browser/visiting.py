"""What browser tests share: the server, the page, and its console errors."""

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
    """Two pages, one of which contains escaped markup."""
    page = "<html><body><main><h1>Page</h1><p>{}</p></main></body></html>"
    world.site.page("/repairs", page.format(escaped(REPAIRS)))
    world.site.page("/rent", page.format(escaped(MARKUP)))
    urls = {path: world.site.url(f"/{path}") for path in ("repairs", "rent")}
    (world.directory / "sources.toml").write_text(SOURCES.format(**urls))


@dataclass(frozen=True)
class Deployment:
    """A server and the fakes that it uses."""

    world: World
    server: RunningServer


def chromium() -> str:
    """The path of Chromium; without it the test is skipped, but fails in CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        reason = "chromium is not installed (Debian: apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@dataclass
class Visit:
    """A page in its own browser context, and its console errors."""

    page: Page
    deployment: Deployment
    console_errors: list[str] = field(default_factory=list)

    async def open(self, path: str = "/", deployment: Deployment | None = None) -> Page:
        await self.page.goto(f"{(deployment or self.deployment).server.url}{path}")
        return self.page

    def hear(self, text: str) -> None:
        """Record a console error, unless the browser only logs an error response."""
        if not re.match(r"Failed to load resource: (the server responded|net::ERR_INTERNET)", text):
            self.console_errors.append(text)

    @property
    def gemini(self):
        return self.deployment.world.gemini
