"""A server on this machine that speaks the protocols of embedding endpoints, and misbehaves on demand."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WIDTH = 8


def vector(text: str, width: int = WIDTH) -> list[float]:
    """Return numbers that depend on the text alone."""
    return [byte / 255 + 0.01 for byte in hashlib.sha256(text.encode()).digest()[:width]]


def good(path: str, body: Any) -> tuple[int, Any]:
    """Answer as the real ones do; OpenAI's rows come in any order, with their index."""
    texts = body["input"]
    if path.endswith("/embeddings"):
        rows = [
            {"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(texts)
        ]
        return 200, {"object": "list", "data": rows[::-1], "model": body["model"]}
    if path.endswith("/api/embed"):
        return 200, {"model": body["model"], "embeddings": [vector(text) for text in texts]}
    return 404, {"error": {"message": f"no route {path}"}}


class Endpoint:
    """What the server was asked, and what it answers: a status with JSON, or with bytes as they are."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.answers: list[Callable[[str, Any], tuple[int, Any]]] = []
        self.wait = threading.Event()
        self.url = ""

    def then(self, status: int, body: Any) -> None:
        """Give this answer once, before the good ones."""
        self.answers.append(lambda _path, _body: (status, body))

    def hang(self) -> None:
        """Keep the next one waiting until the test ends."""

        def late(path: str, body: Any) -> tuple[int, Any]:
            self.wait.wait(20)
            return good(path, body)

        self.answers.append(late)

    def drip(self) -> None:
        """Send the next answer a byte at a time, without an end, until the test ends."""
        self.answers.append(lambda _path, _body: (200, self._drops()))

    def _drops(self) -> Iterator[bytes]:
        while not self.wait.wait(0.05):
            yield b" "


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    endpoint: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.endpoint.asked.append((self.path, dict(self.headers), body))
        answer = self.endpoint.answers.pop(0) if self.endpoint.answers else good
        status, value = answer(self.path, body)
        try:
            if isinstance(value, Iterator):
                self._drip(status, value)
                return
            raw = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            if status in (301, 302, 307, 308):
                self.send_header("Location", self.endpoint.url + "/elsewhere")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _drip(self, status: int, drops: Iterator[bytes]) -> None:
        self.close_connection = True
        self.send_response(status)
        self.end_headers()
        for drop in drops:
            self.wfile.write(drop)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def running() -> Iterator[Endpoint]:
    """Serve on a free port of this machine until the block ends."""
    endpoint = Endpoint()
    handler = type("Handler", (_Handler,), {"endpoint": endpoint})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    endpoint.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.wait.set()
        server.shutdown()
        thread.join()
        server.server_close()
