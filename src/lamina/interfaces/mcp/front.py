"""The front: reads the wire, answers the handshake and the lists at once, gives the rest to the SDK's server.

Importing the SDK costs more than a second of CPU, so that happens when the first request comes that needs it.
The answers here were generated from the server itself (answers.py), and a test compares them. Only what is
exactly of the expected form is answered here: the server judges everything else.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from lamina.interfaces.mcp.wire import Unusable, parse, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lamina.interfaces.mcp.wire import Wire

    Json = dict[str, Any]
    Serve = Callable[["Front"], Callable[[Json], None]]

MODERN = "2026-07-28"
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603
LAST_S = 10.0
"""How long the end of input waits for what was asked before."""

_VERSION = "io.modelcontextprotocol/protocolVersion"
_CLIENT = "io.modelcontextprotocol/clientCapabilities"
_REPLAYED = "lamina/replayed-initialize"
_LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


class Front:
    """One client at one wire.

    `answers` hold each method's result by era. `serve` starts the server behind and returns what feeds it;
    what that answers comes back through `answer`.
    """

    def __init__(self, wire: Wire, answers: Mapping[str, Mapping[str, Json]], serve: Serve) -> None:
        self._wire = wire
        self._answers = answers
        self._serve = serve
        self._feed: Callable[[Json], None] | None = None
        self._handshake: Json | None = None
        self._initialized: Json | None = None
        self._lock = threading.Lock()
        self._waiting: dict[object, Json] = {}
        self._batches: list[_Batch] = []

    def run(self) -> None:
        """Serve until the input ends and what was asked is answered, or nobody waits for it."""
        for line in self._wire.lines():
            try:
                self._take(line)
            except Exception as problem:  # noqa: BLE001 - the edge: one message must not end the others
                tell(f"a message was lost: {type(problem).__name__}: {problem}")
        until = time.monotonic() + LAST_S
        while self._waiting and time.monotonic() < until and self._wire.is_read():
            time.sleep(0.01)

    def _take(self, line: bytes | None) -> None:
        if line is not None and not line.strip():
            return
        try:
            said = parse(line)
        except Unusable as problem:
            self._wire.send(_error(None, PARSE_ERROR, f"Parse error: {problem}"))
            return
        if isinstance(said, list) and said:
            self._batch(said)
        else:
            self._message(said, None)

    def _batch(self, messages: list[Any]) -> None:
        """Take the messages of one line; their answers go out together (2025-03-26 has batches)."""
        batch = _Batch(len(messages) + 1)
        with self._lock:
            self._batches.append(batch)
        for said in messages:
            self._message(said, batch)
        self._settle(batch, None)

    def _message(self, said: Any, batch: _Batch | None) -> None:
        """Answer one message or pass it on."""
        problem = _fault(said)
        if problem:
            self._out(_error(_id(said), INVALID_REQUEST, f"Invalid request: {problem}"), batch)
        elif not _is_request(said):
            self._notice(said)
            self._settle(batch, None)
        elif (result := self._known(said)) is not None:
            self._out({"jsonrpc": "2.0", "id": said["id"], "result": result}, batch)
        else:
            self._pass_on(said, batch)

    def _known(self, asked: Json) -> Json | None:
        """Return the result of a request that needs no server, None for any other."""
        method, params = asked["method"], asked.get("params")
        if method == "initialize":
            return self._shake_hands(asked)
        if self._handshake is None:
            return self._answers[MODERN].get(method) if _is_modern(params) else None
        if params and (set(params) != {"_meta"} or not _is_meta(params["_meta"]) or _has_version(params)):
            return None
        if method == "ping":
            return {}
        return self._answers["handshake"].get(method) if method in _LISTS else None

    def _shake_hands(self, asked: Json) -> Json | None:
        """Answer `initialize` before the server runs, which gets it again then."""
        params = asked.get("params")
        if self._feed is not None or not isinstance(params, dict) or not _is_handshake(params):
            return None
        self._handshake = {**asked, "id": _REPLAYED}
        wanted = params["protocolVersion"]
        version = wanted if wanted in HANDSHAKES else HANDSHAKES[-1]
        return self._answers["handshake"]["initialize"] | {"protocolVersion": version}

    def _notice(self, said: Json) -> None:
        """Pass a notification or a response on, if there is somebody to hear it."""
        if said.get("method") == "notifications/cancelled":
            self._give_up((said.get("params") or {}).get("requestId"))
        if self._feed is not None:
            self._feed(said)
        elif said.get("method") == "notifications/initialized":
            self._initialized = said

    def _pass_on(self, asked: Json, batch: _Batch | None) -> None:
        with self._lock:
            self._waiting[_key(asked)] = asked
            if batch is not None:
                batch.keys.append(_key(asked))
        if self._feed is None:
            self._feed = self._serve(self)
            for before in (self._handshake, self._initialized):
                if before is not None:
                    self._feed(before)
        self._feed(asked)

    def answer(self, message: Json) -> None:
        """Send a message of the server's; from any thread."""
        if message.get("id") == _REPLAYED:
            return
        batch = None
        if "method" not in message:
            batch = self._done(_key(message))
        self._out(message, batch)

    def fail(self, reason: str) -> None:
        """Answer all that waits: the server could not be started, or has ended."""
        with self._lock:
            waiting = [*self._waiting.values()]
        for asked in waiting:
            self.answer(_error(asked["id"], INTERNAL_ERROR, reason))

    def _give_up(self, id_: Any) -> None:
        """Wait no more for a request that was cancelled: it is never answered."""
        with self._lock:
            known = _key({"id": id_}) in self._waiting
        if known:
            self._settle(self._done(_key({"id": id_})), None)

    def _done(self, key: object) -> _Batch | None:
        """Strike a request off; returns the batch that it came in."""
        with self._lock:
            self._waiting.pop(key, None)
            batch = next((each for each in self._batches if key in each.keys), None)
            if batch is not None:
                batch.keys.remove(key)
        return batch

    def _out(self, message: Json, batch: _Batch | None) -> None:
        if batch is None:
            self._wire.send(message)
        else:
            self._settle(batch, message)

    def _settle(self, batch: _Batch | None, message: Json | None) -> None:
        """Count one message of a batch as settled; with the last one its answers go out."""
        if batch is None:
            return
        with self._lock:
            batch.answers += [] if message is None else [message]
            batch.open -= 1
            if batch.open:
                return
            self._batches.remove(batch)
        if batch.answers:
            self._wire.send(batch.answers)


class _Batch:
    """How many messages of a batch are not settled, the requests among them, and the answers so far."""

    def __init__(self, count: int) -> None:
        self.open = count
        self.keys: list[object] = []
        self.answers: list[Json] = []


def _fault(said: Any) -> str:
    """Say what is wrong with a message, "" if nothing is."""
    if not isinstance(said, dict):
        return "a message is an object"
    if said.get("jsonrpc") != "2.0":
        return 'jsonrpc must be "2.0"'
    if "id" in said and (isinstance(said["id"], bool) or not isinstance(said["id"], str | int)):
        return "an id is a string or a whole number"
    if "method" not in said:
        return "" if "id" in said and ("result" in said or "error" in said) else "there is no method"
    if not isinstance(said["method"], str):
        return "a method is a string"
    return "" if isinstance(said.get("params", {}), dict) else "params is an object"


def _is_request(said: Any) -> bool:
    return isinstance(said, dict) and "method" in said and "id" in said


def _id(said: Any) -> Any:
    id_ = said.get("id") if isinstance(said, dict) else None
    return id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None


def _key(said: Any) -> object:
    """Tell ids apart: 1 is not "1"."""
    id_ = said.get("id") if isinstance(said, dict) else None
    return (type(id_).__name__, str(id_)[:500] if isinstance(id_, str) else repr(id_)[:500])


def _is_meta(meta: Any) -> bool:
    """Tell whether metadata holds nothing that the server might refuse."""
    token = meta.get("progressToken", 0) if isinstance(meta, dict) else None
    return isinstance(token, str | int) and not isinstance(token, bool)


def _has_version(params: Any) -> bool:
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and _VERSION in meta


def _is_modern(params: Any) -> bool:
    """Tell whether a request holds nothing but a whole envelope of the stateless era."""
    if not isinstance(params, dict) or set(params) != {"_meta"} or not _has_version(params):
        return False
    meta = params["_meta"]
    if meta[_VERSION] != MODERN or not isinstance(meta.get(_CLIENT), dict):
        return False
    info = meta.get("io.modelcontextprotocol/clientInfo", {"name": "", "version": ""})
    return isinstance(info, dict) and _has_texts(info, "name", "version")


def _is_handshake(params: Json) -> bool:
    info = params.get("clientInfo")
    return (
        isinstance(params.get("protocolVersion"), str)
        and isinstance(params.get("capabilities"), dict)
        and isinstance(info, dict)
        and _has_texts(info, "name", "version")
    )


def _has_texts(said: Json, *names: str) -> bool:
    return all(isinstance(said.get(name), str) for name in names)


def _error(id_: Any, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}
