"""The one HTTP client below the vendors' clients. It decides what goes out and how much comes in.

The vendors' clients read the environment, follow redirects and wait ten minutes by themselves. Here only
named headers leave, only for the one address, with the one key; no redirect is followed; a call ends at its
time limit even when an endpoint sends a byte a second; and no answer is larger than a bound.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import httpx2

from lamina.formats.frozen import NamedTuple
from lamina.models.routes import is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lamina.models.routes import Endpoint

LARGEST = 32 << 20
"""Bytes of one answer: 4,096 tokens are some 2 MB of events, and a model may reason ten times that long."""
_LONGEST_LINE = 4 << 20
"""Bytes without a line's end: readers of events keep a line in memory until it ends."""
_LARGEST_ERROR = 64 << 10
_CONNECT_S = 10.0
SILENCE_S = 60.0
"""Seconds between two pieces of an answer that has begun."""

_HEADERS: Final = frozenset(
    {
        "accept",
        "anthropic-version",
        "connection",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
    }
)
_KEYS: Final = {"authorization": "Bearer {}", "x-api-key": "{}", "x-goog-api-key": "{}"}
"""Where the clients put a key. What they put there is replaced: it may come from the environment."""


class Refused(NamedTuple):
    """An answer that was none: its status, its headers, and the beginning of its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Stopped(httpx2.TransportError):
    """The answer was stopped here, for the reason that the wire holds."""


class Wire:
    """One call's connection: a client to hand to a vendor's, and what became of it."""

    def __init__(
        self, endpoint: Endpoint, env: Mapping[str, str], *, within_s: float, silence_s: float
    ) -> None:
        self.refused: Refused | None = None
        self.too_large = False
        self.answered = False
        """Whether the endpoint sent a status at all."""
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._late = False
        self._until = time.monotonic() + within_s
        self._transport = _Guard(self, endpoint, env, silence_s=silence_s)
        self.client = httpx2.Client(
            transport=self._transport, trust_env=False, follow_redirects=False, timeout=None
        )

    @property
    def left_s(self) -> float:
        """Seconds that the call may still take."""
        return max(0.01, self._until - time.monotonic())

    @property
    def late(self) -> bool:
        """Whether the time limit ended the call."""
        return self._late or time.monotonic() >= self._until

    def opened(self, event: str, info: Mapping[str, Any]) -> None:
        """Note a connection's socket, so that the end of the time can shut it."""
        if event not in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            return
        made = info["return_value"].get_extra_info("socket")
        with self._lock:
            if made is not None:
                self._sockets.append(made)
            if self._late:
                self._shut()

    def end(self) -> None:
        """End the call now: a read that waits for the endpoint returns at once."""
        with self._lock:
            self._late = True
            self._shut()

    def _shut(self) -> None:
        for each in self._sockets:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # closed, or handed over to a TLS socket that is in the list too


@contextmanager
def wire(
    endpoint: Endpoint, env: Mapping[str, str], *, within_s: float, silence_s: float = SILENCE_S
) -> Iterator[Wire]:
    """Open a connection for one call, which ends when `within_s` seconds have passed."""
    made = Wire(endpoint, env, within_s=within_s, silence_s=silence_s)
    clock = threading.Timer(within_s, made.end)
    clock.daemon = True
    clock.start()
    try:
        yield made
    finally:
        clock.cancel()
        made.client.close()


class _Guard(httpx2.BaseTransport):
    def __init__(self, wire: Wire, endpoint: Endpoint, env: Mapping[str, str], *, silence_s: float) -> None:
        self._wire = wire
        self._endpoint = endpoint
        self._base = httpx2.URL(endpoint.url)
        self._silence_s = silence_s
        proxy = _proxy(self._base, env)
        secure = self._base.scheme == "https" or (proxy or "").startswith("https:")
        self._inner = httpx2.HTTPTransport(
            verify=_trusted(env) if secure else False, trust_env=False, proxy=proxy or None
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if _place(request.url) != _place(self._base):
            raise Stopped("the client turned to another address")
        self._dress(request)
        left = self._wire.left_s
        times = {"connect": min(_CONNECT_S, left), "read": left, "write": left, "pool": left}
        request.extensions = {**request.extensions, "timeout": times, "trace": self._wire.opened}
        response = self._inner.handle_request(request)
        self._wire.answered = True
        times["read"] = min(self._silence_s, self._wire.left_s)
        if response.status_code != 200 or response.headers.get("content-encoding", "identity") != "identity":
            self._wire.refused = _refused(response, self._wire)
            raise Stopped("the endpoint refused")
        body = _Bounded(response.stream, self._wire)
        return httpx2.Response(
            200, headers=response.headers, stream=body, extensions=response.extensions, request=request
        )

    def _dress(self, request: httpx2.Request) -> None:
        """Leave the headers that the protocol needs, and the one key."""
        signs = [name for name in _KEYS if name in request.headers]
        for name in list(request.headers):
            if name.lower() not in _HEADERS:
                del request.headers[name]
        request.headers["user-agent"] = "lamina"
        request.headers["accept-encoding"] = "identity"  # a few bytes packed could be gigabytes
        for name in signs if self._endpoint.key else ():
            request.headers[name] = _KEYS[name].format(self._endpoint.key)

    def close(self) -> None:
        self._inner.close()


class _Bounded(httpx2.SyncByteStream):
    """Passes an answer on until it is too large, or its time is over."""

    def __init__(self, stream: Any, wire: Wire) -> None:
        self._stream = stream
        self._wire = wire

    def __iter__(self) -> Iterator[bytes]:
        total = line = 0
        for piece in self._stream:
            total += len(piece)
            at = max(piece.rfind(b"\n"), piece.rfind(b"\r"))
            line = line + len(piece) if at < 0 else len(piece) - at - 1
            if total > LARGEST or line > _LONGEST_LINE:
                self._wire.too_large = True
                raise Stopped("the answer is too large")
            if self._wire.late:
                raise Stopped("the time is over")
            yield piece

    def close(self) -> None:
        self._stream.close()


def _refused(response: httpx2.Response, wire: Wire) -> Refused:
    """Read the beginning of an error's body, as far as it comes."""
    body = bytearray()
    try:
        for piece in response.stream:  # type: ignore[union-attr]
            body += piece
            if len(body) >= _LARGEST_ERROR or wire.late:
                break
    except httpx2.TransportError:
        pass  # the status says enough
    finally:
        response.close()
    return Refused(response.status_code, dict(response.headers), bytes(body[:_LARGEST_ERROR]))


def _place(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _trusted(env: Mapping[str, str]) -> ssl.SSLContext:
    """Return whom to trust: the file or folder that the environment names, as other programs do."""
    file, folder = env.get("SSL_CERT_FILE") or None, env.get("SSL_CERT_DIR") or None
    if file or folder:
        return ssl.create_default_context(cafile=file, capath=folder)
    return httpx2.create_ssl_context(trust_env=False)


def _proxy(url: httpx2.URL, env: Mapping[str, str]) -> str:
    """Return the proxy before an address, "" for none: none stands before this machine's own addresses."""
    from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

    def named(name: str) -> str:
        return env.get(name) or env.get(name.upper(), "")

    if is_loopback(url.host) or proxy_bypass_environment(url.host, {"no": named("no_proxy")}):
        return ""
    found = named(f"{url.scheme}_proxy") or named("all_proxy")
    return found if not found or "://" in found else f"http://{found}"
