"""The example site: our own pages on British guidance, served on loopback while a demo runs."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files

POLL_S = 0.05
"""How soon the site notices that it shall stop."""

TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8"}
"""What we ship, by the ending of its file."""

HOME = "/index"


@contextmanager
def example_site() -> Iterator[str]:
    """Serve the pages on a free port of 127.0.0.1 and give the address, without a slash."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(read_pages())) as server:
        thread = threading.Thread(target=server.serve_forever, args=(POLL_S,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def read_pages() -> dict[str, tuple[str, bytes]]:
    """Content type and content of what is served, by path: `/repairs` for `repairs.html`."""
    pages: dict[str, tuple[str, bytes]] = {}
    for file in files("judge.demo").joinpath("pages").iterdir():
        stem, dot, ending = file.name.rpartition(".")
        path = f"/{stem}" if ending == "html" else f"/{file.name}"
        pages[path] = (TYPES[dot + ending], file.read_bytes())
    return pages


def _handler(pages: Mapping[str, tuple[str, bytes]]) -> type[BaseHTTPRequestHandler]:
    """A request handler that knows *pages* and nothing of the disk."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            page = pages.get(HOME if path == "/" else path)
            if page is None:
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            kind, body = page
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its parent's name
            """Say nothing: the terminal belongs to the demo."""

    return Handler
