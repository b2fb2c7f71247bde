"""What a rendered session is made of: its turns, a clock, and ids drawn from hashes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class Said(NamedTuple):
    """Words of the person or of the model."""

    role: Literal["user", "assistant"]
    text: str


class Tool(NamedTuple):
    """A tool call and what came back; `arguments` is a text for a tool that takes free text."""

    name: str
    arguments: Mapping[str, Any] | str
    result: str = ""
    failed: bool = False


class Injected(NamedTuple):
    """Context that a hook put in front of the model."""

    text: str
    event: str = "UserPromptSubmit"


class Compacted(NamedTuple):
    """The host replaced the conversation so far by a summary."""

    summary: str


class Pause(NamedTuple):
    """The person went away; a long pause is a session resumed later."""

    minutes: int


Turn = Said | Tool | Injected | Compacted | Pause
Json = dict[str, Any]


@dataclass
class Tape:
    """The records written so far, the clock, and ids drawn from a hash of the session and a counter."""

    session: str
    now: datetime
    lines: list[Json] = field(default_factory=list)
    drawn: int = 0

    def digest(self) -> bytes:
        """Draw the next 32 bytes."""
        self.drawn += 1
        return blake2b(f"{self.session} {self.drawn}".encode(), digest_size=32).digest()

    def uuid(self) -> str:
        """Draw a UUID."""
        return uuid_of(self.digest())

    def code(self, prefix: str) -> str:
        """Draw an id of the kind model vendors give."""
        return prefix + "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in self.digest()[:22])

    def wait(self, seconds: float) -> str:
        """Let time pass, with a few milliseconds of jitter; give the new time as the hosts write it."""
        self.now += timedelta(seconds=seconds, milliseconds=self.digest()[0])
        return self.stamp()

    def stamp(self) -> str:
        """Give the time as the hosts write it."""
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now.microsecond // 1000:03d}Z"

    def text(self) -> str:
        """Give the records as JSON Lines."""
        return "".join(
            json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in self.lines
        )


def uuid_of(digest: bytes, version: int = 4) -> str:
    """Shape the first 16 bytes of a digest as a UUID."""
    raw = bytearray(digest[:16])
    raw[6] = raw[6] & 0x0F | version << 4
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def session_uuid(seed: str, version: int = 4) -> str:
    """Make a session id out of any name."""
    return uuid_of(blake2b(seed.encode(), digest_size=16).digest(), version)


def typing_time(text: str) -> float:
    """Say how many seconds a person takes to read on and type this."""
    return 8 + len(text) / 12


def thinking_time(text: str) -> float:
    """Say how many seconds a model takes to write this."""
    return 2 + len(text) / 60


def tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    return max(4, len(text) // 4)
