"""A model server on this machine whose answers a test writes down. It streams in the vendors' own shapes.

    with scripted([Say("- [fix] one"), Say(status=429, headers={"retry-after": "7"})]) as server:
        ...  # any route of kind openai, anthropic or gemini with the base URL `server.url`
    assert server.requests[0].text == "what the model was shown"

The dialect follows from the path, so one address serves all three, below any prefix. A list is answered in
order, and what is asked beyond it gets a 500; one Say, or a function from the request to one, answers for ever.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_PIECE = 7
"""Characters in one piece of a stream: odd on purpose, so that lines and words are torn."""


@dataclass(frozen=True)
class Say:
    """One answer. With a `status` of 400 and more, `text` is the error's message.

    `finish` is OpenAI's word (stop, length, content_filter); the other dialects say it in theirs. The
    connection breaks after `break_after` characters of text. `delay_s` passes before the first byte,
    `pause_s` between pieces. `usage` is what is counted, False for none. `endless` says the text again and
    again. `body` is sent as it is, instead of all that. `error` is laid over the error object.
    """

    text: str = ""
    reasoning: str = ""
    finish: str = "stop"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    break_after: int | None = None
    delay_s: float = 0
    pause_s: float = 0
    usage: bool | tuple[int, int] = True
    endless: bool = False
    body: bytes | None = None
    error: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens in and out, as the endpoint counts them."""
        return self.usage if isinstance(self.usage, tuple) else (11, max(1, len(self.text) // 4))


@dataclass(frozen=True)
class Request:
    """What the server was asked. Header names are in lower case; `body` is None where it is no JSON."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def kind(self) -> str:
        """Name the dialect: openai, anthropic, gemini, or "" for anything else."""
        path = self.path.partition("?")[0]
        if path.endswith("/chat/completions"):
            return "openai"
        if path.endswith("/messages"):
            return "anthropic"
        return "gemini" if path.endswith((":streamGenerateContent", ":generateContent")) else ""

    @property
    def system(self) -> str:
        """What the model was told about how to work."""
        if self.kind == "openai":
            return self._said("system", "developer")
        if self.kind == "anthropic":
            return _flat(self.body.get("system", ""))
        return _flat(self.body.get("systemInstruction", {}).get("parts", []))

    @property
    def text(self) -> str:
        """What the person said, that is the material."""
        if self.kind == "gemini":
            return "".join(_flat(turn["parts"]) for turn in self.body["contents"])
        return self._said("user")

    def _said(self, *roles: str) -> str:
        return "".join(_flat(turn["content"]) for turn in self.body["messages"] if turn["role"] in roles)


Script = Say | Sequence[Say | str] | Callable[[Request], Say | str]


class Server:
    """A running script: where it listens, and what it was asked so far."""

    def __init__(self, script: Script, models: Sequence[str]) -> None:
        self.requests: list[Request] = []
        self.models = list(models)
        self.sent = 0
        """Bytes of bodies that went out."""
        self.over = threading.Event()
        self.url = ""
        self._script = script
        self._lock = threading.Lock()
        self._at = 0

    @property
    def asked(self) -> list[Request]:
        """The requests that reached a model, without listings of models."""
        return [request for request in self.requests if request.kind]

    def answer(self, request: Request) -> Say:
        """Note the request and return what the script says to it."""
        with self._lock:
            self.requests.append(request)
            if not request.kind:
                return self._listing(request)
            said = self._next(request)
        return Say(said) if isinstance(said, str) else said

    def _next(self, request: Request) -> Say | str:
        if isinstance(self._script, Say):
            return self._script
        if callable(self._script):
            return self._script(request)
        if self._at >= len(self._script):
            return Say("the script is over", status=500)
        self._at += 1
        return self._script[self._at - 1]

    def _listing(self, request: Request) -> Say:
        if self.models and request.path.endswith("/api/tags"):
            told: Any = {"models": [{"name": name, "model": name, "size": 1} for name in self.models]}
        elif self.models and request.path.endswith("/v1/models"):
            told = {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]}
        else:
            return Say(status=404, body=b'{"error": {"message": "no such path"}}')
        return Say(body=json.dumps(told).encode(), headers={"content-type": "application/json"})


@contextmanager
def scripted(script: Script = (), *, models: Sequence[str] = ()) -> Iterator[Server]:
    """Serve the script on loopback. `models` are listed as Ollama and OpenAI do; without any, 404."""
    server = Server(script, models)
    handler = type("Handler", (_Handler,), {"server_": server})
    listener = _Listener(("127.0.0.1", 0), handler)
    server.url = f"http://127.0.0.1:{listener.server_address[1]}"
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        listener.shutdown()
        thread.join()
        listener.server_close()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that hangs up; anything else is a fault of the test's own."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_: Server

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self._answer(json.loads(raw))
        except ValueError:
            self._answer(None)

    def _answer(self, body: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, body)
        say = self.server_.answer(request)
        try:
            if self.server_.over.wait(say.delay_s):
                return
            if say.body is not None or say.status >= 300:
                self._whole(say, request)
            else:
                self._stream(say, request)
        except OSError:
            self.close_connection = True  # the client went away, as it may

    def _whole(self, say: Say, request: Request) -> None:
        raw = say.body if say.body is not None else json.dumps(_error(say, request.kind)).encode()
        self.send_response(say.status)
        for name, value in {"content-type": "application/json", **say.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)
        self.server_.sent += len(raw)

    def _stream(self, say: Say, request: Request) -> None:
        self.send_response(say.status)
        for name, value in {"content-type": "text/event-stream; charset=utf-8", **say.headers}.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in _DIALECTS[request.kind](say, request.body or {}):
            self._chunk(event)
            if say.pause_s and self.server_.over.wait(say.pause_s):
                break
        if say.break_after is None:
            self._chunk(b"")
        else:
            self.close_connection = True  # without the last chunk: the body is not whole

    def _chunk(self, raw: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
        self.wfile.flush()
        self.server_.sent += len(raw)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _pieces(say: Say) -> Iterator[str]:
    text = say.text if say.break_after is None else say.text[: say.break_after]
    while True:
        for at in range(0, len(text), _PIECE if not say.endless else 4096):
            yield text[at : at + (_PIECE if not say.endless else 4096)]
        if not say.endless:
            return


def _openai(say: Say, body: Any) -> Iterator[bytes]:
    """Chat completions; usage comes in a last chunk without choices, and only to those that ask for it."""

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _data({**head, "choices": [choice]})

    model = body.get("model", "")
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_764_460_800, "model": model}
    yield chunk({"role": "assistant", "content": ""})
    if say.reasoning:
        yield chunk({"reasoning_content": say.reasoning})
    for piece in _pieces(say):
        yield chunk({"content": piece})
    if say.break_after is not None:
        return
    yield chunk({}, say.finish)
    if say.usage and (body.get("stream_options") or {}).get("include_usage"):
        asked, answered = say.tokens
        counts = {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}
        yield _data({**head, "choices": [], "usage": counts})
    yield b"data: [DONE]\n\n"


def _anthropic(say: Say, body: Any) -> Iterator[bytes]:
    """Messages: thinking and text are blocks of their own; tokens in stand at the start, tokens out at the end."""
    stop = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}.get(
        say.finish, say.finish
    )
    asked, answered = say.tokens if say.usage else (0, 0)
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", ""), "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": asked, "output_tokens": 1 if asked else 0},
    }  # fmt: skip
    yield _event("message_start", {"message": message})
    yield _event("ping", {})
    at = 0
    if say.reasoning:
        yield from _block(at, "thinking", "thinking_delta", [say.reasoning])
        at += 1
    if say.text:
        yield from _block(at, "text", "text_delta", _pieces(say), broken=say.break_after is not None)
    if say.break_after is not None:
        return
    yield _event(
        "message_delta",
        {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": answered}},
    )
    yield _event("message_stop", {})


def _block(
    at: int, kind: str, delta: str, pieces: Iterator[str] | list[str], *, broken: bool = False
) -> Iterator[bytes]:
    start = {"type": kind, kind: "", **({"signature": ""} if kind == "thinking" else {})}
    yield _event("content_block_start", {"index": at, "content_block": start})
    for piece in pieces:
        yield _event("content_block_delta", {"index": at, "delta": {"type": delta, kind: piece}})
    if not broken:
        yield _event("content_block_stop", {"index": at})


def _gemini(say: Say, body: Any) -> Iterator[bytes]:
    """Generate content: thoughts are parts with a mark; counts come with each chunk; nothing says the end."""
    finish = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}.get(say.finish, say.finish)
    asked, answered = say.tokens

    def chunk(parts: list[Any], finish: str | None = None) -> bytes:
        candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        counts = {
            "promptTokenCount": asked,
            "candidatesTokenCount": answered,
            "totalTokenCount": asked + answered,
        }
        told = {"candidates": [candidate], "modelVersion": "scripted", "responseId": "r1"}
        return _data({**told, **({"usageMetadata": counts} if say.usage else {})}, end="\r\n\r\n")

    if say.reasoning:
        yield chunk([{"text": say.reasoning, "thought": True}])
    for piece in _pieces(say):
        yield chunk([{"text": piece}])
    if say.break_after is None:
        yield chunk([{"text": ""}], finish)


_DIALECTS: dict[str, Callable[[Say, Any], Iterator[bytes]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "gemini": _gemini,
}
_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


def _error(say: Say, kind: str) -> dict[str, Any]:
    """Return an error's body in the dialect's shape."""
    message = say.text or "it failed"
    if kind == "anthropic":
        name = {429: "rate_limit_error", 529: "overloaded_error"}.get(say.status, "invalid_request_error")
        return {"type": "error", "error": {"type": name, "message": message, **say.error}}
    if kind == "gemini":
        status = _STATUS.get(say.status, "INTERNAL")
        return {"error": {"code": say.status, "message": message, "status": status, **say.error}}
    return {
        "error": {
            "message": message,
            "type": "invalid_request_error",
            "param": None,
            "code": None,
            **say.error,
        }
    }


def _data(value: Any, end: str = "\n\n") -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}{end}".encode()


def _event(name: str, value: dict[str, Any]) -> bytes:
    return f"event: {name}\n".encode() + _data({"type": name, **value})


def _flat(content: Any) -> str:
    """Return the text of a string or of a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(part if isinstance(part, str) else part.get("text", "") for part in content)
