"""Standard input and output as the protocol's wire: one JSON message a line, and nothing else on it."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

LONGEST = 32 << 20
"""Bytes of one line at most."""
_CHUNK = 1 << 16


class Unusable(Exception):
    """A line holds no message."""


class Wire:
    """The two ends. Descriptor 1 is standard error meanwhile, so that a stray print stays off the wire."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._lock = threading.Lock()
        self.broken = False
        """Whether the reader of our output went away."""

    @classmethod
    def claim(cls) -> Wire:
        """Take standard input and output for the protocol alone."""
        source, sink = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # standard error is closed
            os.dup2(nothing, 1)
        os.close(nothing)
        return cls(source, sink)

    def lines(self) -> Iterator[bytes | None]:
        """Yield the lines that come in, None for one that is too long; ends with the input."""
        kept: list[bytes] = []
        size = 0
        while part := self._read():
            first, *rest = part.split(b"\n")
            size += len(first)
            if size <= LONGEST:
                kept.append(first)
            if not rest:
                continue
            yield b"".join(kept) if size <= LONGEST else None
            yield from rest[:-1]
            kept, size = [rest[-1]], len(rest[-1])
        if size:
            yield b"".join(kept) if size <= LONGEST else None

    def _read(self) -> bytes:
        try:
            return os.read(self._source, _CHUNK)
        except OSError:
            return b""

    def send(self, message: Any) -> None:
        """Write one message, whole; where nobody reads any more it is dropped."""
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        left = memoryview(text.encode("utf-8", "replace") + b"\n")
        with self._lock:
            while left and not self.broken:
                try:
                    left = left[os.write(self._sink, left) :]
                except OSError:
                    self.broken = True

    def is_read(self) -> bool:
        """Tell whether somebody may still read what is written."""
        import select

        if self.broken or sys.platform == "win32":
            return not self.broken
        look = select.poll()
        look.register(self._sink, 0)
        gone = select.POLLERR | select.POLLHUP | select.POLLNVAL
        return not any(event & gone for _, event in look.poll(0))


def parse(line: bytes | None) -> Any:
    """Return what a line says; raises Unusable, also for None: a line that was too long.

    Lone surrogates, which no file could hold, become replacement characters.
    """
    if line is None:
        raise Unusable(f"the line is longer than {LONGEST} bytes")
    try:
        text = line.decode("utf-8").lstrip("\ufeff")
        value = json.loads(text, parse_constant=_no_number)
        return clean(value) if "\\u" in text and _has_surrogate(text) else value
    except UnicodeDecodeError:
        raise Unusable("it is not UTF-8") from None
    except RecursionError:
        raise Unusable("it is nested too deeply") from None
    except ValueError as problem:
        raise Unusable(str(problem)[:200]) from None


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _has_surrogate(text: str) -> bool:
    low = text.lower()
    return any(f"\\ud{digit}" in low for digit in "89abcdef")


def clean(value: Any) -> Any:
    """Return a value without lone surrogates, which no message can hold."""
    match value:
        case str():
            return (
                value
                if _encodes(value)
                else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            )
        case list():
            return [clean(each) for each in value]
        case dict():
            return {clean(name): clean(each) for name, each in value.items()}
        case _:
            return value


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def tell(text: str) -> None:
    """Say something on standard error, if there is one."""
    if sys.stderr is not None:
        try:
            sys.stderr.write(f"lamina mcp: {text}\n")
            sys.stderr.flush()
        except OSError:
            return
