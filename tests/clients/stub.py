"""A stub model on loopback that every client can be pointed at.

It speaks Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini, notes every request, and
answers as the prompts' own scripts say (`tests.clients.script`). In a test it is a context manager; run as
`python -m tests.clients.stub FILE` it prints its port and appends each request to FILE as a JSON line.
"""

from __future__ import annotations

import gzip
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from tests.clients import wires
from tests.clients.script import Player, Turn, sample, shortens
from tests.clients.wires import Answer, Happening, Json

_MODELS = {
    "object": "list",
    "data": [{"id": "stub", "object": "model", "type": "model", "owned_by": "stub", "display_name": "stub"}],
    "models": [{"name": "models/stub"}],
    "has_more": False,
}
_SECRET = frozenset({"authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"})


class Asked(NamedTuple):
    """One request: the API (`anthropic`, `responses`, `chat`, `gemini`, `count`, `get`, `other`), its JSON."""

    api: str
    path: str
    headers: Mapping[str, str]
    body: Any

    def text(self) -> str:
        """Return the body as one JSON text, in which other scripts stand as they are."""
        return json.dumps(self.body, ensure_ascii=False)


class Api(NamedTuple):
    """How one API is read and answered."""

    name: str
    turn: Callable[[Json], Turn]
    whole: Callable[[Answer], Json]
    events: Callable[[Answer], Iterator[Happening]]


def api_of(path: str) -> Api | None:
    """Tell by the path which API is spoken."""
    streams = "streamGenerateContent" in path
    if path.endswith("/messages"):
        return Api("anthropic", wires.anthropic_turn, wires.anthropic_answer, wires.anthropic_events)
    if path.endswith("/responses"):
        return Api("responses", wires.responses_turn, wires.responses_answer, wires.responses_events)
    if path.endswith("/chat/completions"):
        return Api("chat", wires.chat_turn, wires.chat_answer, wires.chat_events)
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return Api(
            "gemini",
            lambda body: wires.gemini_turn(body, stream=streams),
            wires.gemini_answer,
            wires.gemini_events,
        )
    return None


SHORT = 1_200


class Stub:
    """The server: `port` is chosen by the system, `requests` grows while it runs.

    `tokens` is what every answer says the request measured: large, it makes clients compact.
    """

    def __init__(self, *, record: Path | None = None, tokens: int = 1200, reply: str = "") -> None:
        self.requests: list[Asked] = []
        self.tokens = tokens
        self._reply = reply
        self._record = record
        self._lock = threading.Lock()
        self._player = Player()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The root, without a slash at its end."""
        return f"http://127.0.0.1:{self.port}"

    def asked(self, api: str = "") -> list[Asked]:
        """Return what was asked so far: of a model (any of the four APIs), or of the API named."""
        named = {api} if api else {"anthropic", "responses", "chat", "gemini"}
        with self._lock:
            return [request for request in self.requests if request.api in named]

    def note(self, request: Asked) -> int:
        """Keep a request; return its number, from 1."""
        with self._lock:
            self.requests.append(request)
            if self._record is not None:
                with self._record.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(request._asdict(), ensure_ascii=False) + "\n")
            return len(self.requests)

    def answer(self, number: int, turn: Turn, model: str) -> Answer:
        """Decide what the model says."""
        text = self._reply or f"Stub reply {number}."
        if turn.schema is not None:
            text = json.dumps(sample(turn.schema))
        with self._lock:
            call = self._player.next_call(turn)
            tokens = self.tokens
            if shortens(turn):
                self.tokens = min(tokens, SHORT)  # a conversation that was shortened is short
        return Answer(number, text, call, model, tokens)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def serve(self) -> None:
        """Answer until the process ends."""
        self._server.serve_forever()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, stub: Stub) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stub = stub

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over clients that went away; anything else is a fault of the stub."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: the requests are kept."""

    def do_GET(self) -> None:
        """Answer with the models there are."""
        self._note("get", None)
        found = self.path.split("?")[0].endswith(("/models", "/models/stub"))
        self._send(_MODELS if found else _error("no such page"), 200 if found else 404)

    def do_HEAD(self) -> None:
        """Answer the same without the words."""
        self.do_GET()

    def do_POST(self) -> None:
        """Answer a request to a model."""
        path = self.path.split("?")[0]
        try:
            body = json.loads(self._body())
        except (ValueError, OSError):
            body = None
        if not isinstance(body, dict):
            self._note("other", None)
            self._send(_error("the body is no JSON object"), 400)
        elif path.endswith(("/count_tokens", ":countTokens")):
            self._note("count", body)
            tokens = self.server.stub.tokens
            self._send({"input_tokens": tokens, "totalTokens": tokens}, 200)
        elif api := api_of(path):
            self._say(api, body)
        else:
            self._note("other", body)
            self._send(_error("no such page"), 404)

    def _say(self, api: Api, body: Json) -> None:
        number = self._note(api.name, body)
        turn = api.turn(body)
        model = body.get("model") if isinstance(body.get("model"), str) else "stub"
        answer = self.server.stub.answer(number, turn, str(model))
        if not turn.stream:
            self._send(api.whole(answer), 200)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("connection", "close")
        self.end_headers()
        for event in api.events(answer):
            self.wfile.write(event.wire())

    def _note(self, api: str, body: Any) -> int:
        headers = {name.lower(): value for name, value in self.headers.items()}
        kept = {name: value for name, value in headers.items() if name not in _SECRET}
        return self.server.stub.note(Asked(api, self.path.split("?")[0], kept, body))

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b"".join(self._chunks())
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _send(self, value: Json, status: int) -> None:
        raw = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw)


def _error(message: str) -> Json:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def main(arguments: list[str]) -> None:
    """Serve until killed: the port goes to standard output, the requests into the file named."""
    stub = Stub(record=Path(arguments[0]), tokens=int(arguments[1]) if len(arguments) > 1 else 1200)
    print(stub.port, flush=True)
    stub.serve()


if __name__ == "__main__":
    main(sys.argv[1:])
