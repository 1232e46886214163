"""The example site: our own pages on British guidance, served on loopback while a demo runs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

POLL_S = 0.05
"""How soon the site notices that it shall stop."""

PAGES = Path(__file__).parent / "pages"


@contextmanager
def example_site() -> Iterator[str]:
    """Serve the pages on a free port of 127.0.0.1 and give the address, without a slash."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _PageHandler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(POLL_S,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _PageHandler(SimpleHTTPRequestHandler):
    """Serves `repairs.html` as `/repairs`, and says nothing: the terminal belongs to the demo."""

    extensions_map = {  # noqa: RUF012 - its parent has it so
        ".html": "text/html; charset=utf-8",
        ".css": "text/css; charset=utf-8",
    }

    def __init__(self, *connection: Any) -> None:
        super().__init__(*connection, directory=str(PAGES))

    def translate_path(self, path: str) -> str:
        """The file of *path*, never one outside of the pages."""
        found = Path(super().translate_path(path))
        return str(found if found.exists() else found.with_suffix(".html"))

    def log_message(self, *_: object) -> None:
        """Nothing."""
