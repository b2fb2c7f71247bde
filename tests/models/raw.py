"""A listener on loopback that does with each connection what a test says: no HTTP but what it writes."""

from __future__ import annotations

import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


class Raw:
    """Where it listens, how many came, and how many bytes `send` put out before the other side went away."""

    def __init__(self) -> None:
        self.url = ""
        self.came = 0
        self.sent = 0
        self.over = threading.Event()

    def send(self, peer: socket.socket, data: bytes, *, times: int = 1, every_s: float = 0) -> None:
        """Send the bytes so many times, until the other side or the test has had enough."""
        for _ in range(times):
            if self.over.wait(every_s):
                return
            try:
                peer.sendall(data)
            except OSError:
                return
            self.sent += len(data)


def _take_in(peer: socket.socket) -> None:
    """Read a whole request: closing with a rest unread would reset the connection and lose the answer."""
    raw = b""
    while b"\r\n\r\n" not in raw and (part := peer.recv(65536)):
        raw += part
    head, _, body = raw.partition(b"\r\n\r\n")
    length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
    left = int(length[1]) - len(body) if length else 0
    while left > 0 and (part := peer.recv(65536)):
        left -= len(part)


@contextmanager
def listening(
    answer: Callable[[Raw, socket.socket], None], *, tls: ssl.SSLContext | None = None
) -> Iterator[Raw]:
    """Serve each connection with `answer`, once its request is read, and close it."""
    raw = Raw()
    threads: list[threading.Thread] = []
    listener = socket.create_server(("127.0.0.1", 0))
    raw.url = f"{'https' if tls else 'http'}://127.0.0.1:{listener.getsockname()[1]}"

    def serve(peer: socket.socket) -> None:
        peer.settimeout(10)
        try:
            peer = tls.wrap_socket(peer, server_side=True) if tls else peer
        except OSError:
            peer.close()
            return
        with peer:
            try:
                _take_in(peer)
                answer(raw, peer)
            except OSError:
                return

    def accept() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            raw.came += 1
            threads.append(threading.Thread(target=serve, args=(peer,), daemon=True))
            threads[-1].start()

    main = threading.Thread(target=accept, daemon=True)
    main.start()
    try:
        yield raw
    finally:
        raw.over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        main.join(5)
        for each in threads:
            each.join(5)
