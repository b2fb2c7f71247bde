"""One line of JSON over a socket, within a size and a time; and who is at the other end."""

from __future__ import annotations

import sys
import time
from json import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from typing import Any

    Json = dict[str, Any]

PROTOCOL = 1
REQUEST = 256 << 10
ANSWER = 32 << 20
"""Bytes of a request and of an answer at most."""

_PEER = {"linux": (1, 17, 12), "darwin": (0, 1, 76)}
"""Level, option and size of SO_PEERCRED and LOCAL_PEERCRED; the user stands in bytes 4 to 7 of both."""
_CHUNK = 1 << 16


class Broken(Exception):
    """The other end went away, was too slow, or said what is no line of JSON."""


def send(connection: socket, value: Json, *, until: float) -> None:
    """Send one object as one line. Raises Broken."""
    view = memoryview(dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
    try:
        while view:
            connection.settimeout(_left(until))
            view = view[connection.send(view) :]
    except OSError as problem:
        raise Broken(str(problem)) from problem


def receive(connection: socket, *, most: int, until: float) -> Json:
    """Return the object that the next line holds. Raises Broken."""
    parts: list[bytes] = []
    size = 0
    try:
        while not parts or b"\n" not in parts[-1]:
            connection.settimeout(_left(until))
            part = connection.recv(_CHUNK)
            size += len(part)
            if not part or size > most:
                raise Broken("the line is too long" if part else "it ended in the middle of a line")
            parts.append(part)
        value = loads(b"".join(parts).partition(b"\n")[0])
    except (OSError, ValueError, RecursionError) as problem:  # ValueError: no JSON, or too long a number
        raise Broken(str(problem)) from problem
    if not isinstance(value, dict):
        raise Broken("it is no object")
    return value


def peer(connection: socket) -> int | None:
    """Return the user at the other end, None where the system does not tell."""
    option = _PEER.get(sys.platform)
    if option is None:
        return None
    try:
        return int.from_bytes(connection.getsockopt(*option)[4:8], sys.byteorder)
    except OSError:
        return -1


def _left(until: float) -> float:
    """Return the seconds left; raises TimeoutError when there are none."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("it took too long")
    return left
