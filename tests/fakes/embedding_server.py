"""Gemini's embeddings on loopback, in a thread: FakeEmbedder's vectors, in 768 dimensions."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from judge.adapters.embedders.services import GEMINI_DIMENSIONS
from tests.fakes.embedder import subjects_of


class EmbeddingServer:
    """A context manager that gives the address; `texts` were received, `is_down` refuses more."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.is_down = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, body: dict) -> tuple[int, dict]:
        texts = [item["content"]["parts"][0]["text"] for item in body["requests"]]
        if self.is_down:
            return 400, {"error": {"code": 400, "message": "no", "status": "X"}}
        self.texts += texts
        vectors = [subjects_of(text) + [0.0] * (GEMINI_DIMENSIONS - 4) for text in texts]
        return 200, {"embeddings": [{"values": vector} for vector in vectors]}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, told = outer.answer(body)
                raw = json.dumps(told).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
