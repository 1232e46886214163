"""The example: a dispute, settings that need no key and no network, and a site on loopback."""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from judge.settings import EXTRACTIVE, OPENAI, DemoSettings, Settings, read_environment

CONTEXT = (
    "The boiler in my rented flat broke down three weeks ago, so there is no heating "
    "and no hot water. I told my landlord the same day, in writing, and twice since. He answers "
    "that he is busy, that an electric heater will do, and that I am making a fuss."
)
QUERY = "Am I being unreasonable to expect my landlord to repair the boiler now?"

SITE_PLACEHOLDER = "http://example-site"
"""The placeholder in sources.toml for the site's address, which is known only when it runs."""

DEADLINE_S = 300.0
"""Enough for a model on the user's machine that writes a few words per second."""

PAGES = Path(__file__).parent / "pages"


@contextmanager
def open_demo() -> Iterator[tuple[str, Settings]]:
    """Serve the example site, and keep what the demo writes, while the block runs.

    Yields the site's address and settings that use it. Raises ConfigurationError if one of the few
    environment variables that the demo reads cannot be used.
    """
    with tempfile.TemporaryDirectory(prefix="judge-demo-") as folder, example_site() as site:
        yield site, demo_settings(site, Path(folder), read_environment(DemoSettings))


def demo_settings(site: str, folder: Path, chosen: DemoSettings) -> Settings:
    """Settings for a demo with the example pages at *site*; its files are written to *folder*.

    Few of the *chosen* settings matter, so that a demo is the same on every machine: an `openai:`
    model with its server and thinking, the deadline, and the CORS origins.
    """
    sources = folder / "sources.toml"
    template = files("judge.demo").joinpath("sources.toml").read_text(encoding="utf-8")
    sources.write_text(template.replace(SITE_PLACEHOLDER, site), encoding="utf-8")
    model = chosen.model if chosen.model.startswith(OPENAI) else EXTRACTIVE
    deadline_s = chosen.deadline_s if "deadline_s" in chosen.model_fields_set else DEADLINE_S
    return Settings.model_construct(
        **chosen.model_dump() | {"model": model, "deadline_s": deadline_s},
        sources=str(sources),
        data_dir=str(folder / "data"),
        trusted_hosts=(urlsplit(site).netloc,),
    )


@contextmanager
def example_site() -> Iterator[str]:
    """Serve the pages on a free port of 127.0.0.1; yields the URL without a slash at its end."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _PageHandler) as server:
        # It looks every 0.05 s whether it should stop.
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


class _PageHandler(SimpleHTTPRequestHandler):
    """Serves `repairs.html` as `/repairs`; logs nothing, since the demo prints to the terminal."""

    extensions_map = {  # noqa: RUF012 - declared so in the base class
        ".html": "text/html; charset=utf-8",
        ".css": "text/css; charset=utf-8",
    }

    def __init__(self, *connection: Any) -> None:
        super().__init__(*connection, directory=str(PAGES))

    def translate_path(self, path: str) -> str:
        """The file of *path*, never one outside PAGES."""
        file = Path(super().translate_path(path))
        return str(file if file.exists() else file.with_suffix(".html"))

    def log_message(self, *_: object) -> None:
        """Log nothing."""
