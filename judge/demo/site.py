"""The example site: pages that come with the package, served on loopback while a demo runs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

POLL_S = 0.05
"""Seconds within which the site notices that it should stop."""

PAGES = Path(__file__).parent / "pages"


@contextmanager
def example_site() -> Iterator[str]:
    """Serve the pages on a free port of 127.0.0.1; yields the URL without a slash at its end."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _PageHandler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(POLL_S,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


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
