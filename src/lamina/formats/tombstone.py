r"""Tombstones: what was forgotten and must not come back, one JSON object a line in `suppressed.jsonl`.

A line is never changed in its meaning: an undo is a later line for the same hash with `released`, so
it travels in a merge, and the latest line of a hash says whether it still binds. A purge leaves only
a salted, slow hash (`slow`), from which the content can't be guessed by trying out likely texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from lamina.formats.dates import parse_time, render_time
from lamina.formats.lines import newline_of
from lamina.formats.structure import split_lines

_HASH: Final = re.compile("[0-9a-f]{64}")
_HEX: Final = re.compile("(?:[0-9a-f]{2}){8,64}")
_COST: Final = {"n": 2**14, "r": 8, "p": 1}
_COST_LIMIT: Final = {"n": 2**16, "r": 16, "p": 4}  # a line from elsewhere can't make us work for hours


class SlowHash(NamedTuple):
    """scrypt of a content hash; `salt` and `key` are lower-case hex."""

    salt: str
    key: str
    n: int
    r: int
    p: int

    def of(self, content_hash: str) -> str:
        """Compute this salt's and cost's key for another content hash."""
        return _scrypt(content_hash, self.salt, self.n, self.r, self.p)


@dataclass(frozen=True, slots=True)
class Tombstone:
    """One line. `released` is when an undo took the binding back; `extra` keeps unknown keys.

    Exactly one of `hash` (the content hash, 64 hex digits) and `slow` is set.
    """

    hash: str
    id: str
    heading: str
    time: datetime
    reason: str
    released: datetime | None = None
    slow: SlowHash | None = None
    extra: tuple[tuple[str, Any], ...] = field(default=(), hash=False)
    raw: str = field(default="", compare=False, repr=False)

    @property
    def moment(self) -> datetime:
        """When this line was written."""
        return max(self.time, self.released) if self.released else self.time

    @property
    def key(self) -> str:
        """What the line speaks of; the latest line of a key counts."""
        return f"slow:{self.slow.salt}:{self.slow.key}" if self.slow else self.hash

    def releasing(self, at: datetime) -> Tombstone:
        """Return the line that undoes this one, stamped after it: within one second forgetting would win."""
        return replace(self, released=max(at, self.moment + timedelta(seconds=1)), raw="")

    def purging(self, salt: bytes) -> Tombstone:
        """Return the line that goes on binding without hash, heading or unknown keys.

        One salt for a whole store keeps a look-up at one slow hash, however many lines there are.
        """
        if self.slow:
            return self
        key = _scrypt(self.hash, salt.hex(), **_COST)
        return Tombstone(
            "", self.id, "", self.time, "purged", self.released, SlowHash(salt.hex(), key, **_COST)
        )


class Problem(NamedTuple):
    """A line that is no tombstone; it is kept when the file is written. `line` is 1-based."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Tombstones:
    """A file of tombstones: its lines in order, those that are none as they stand."""

    lines: tuple[Tombstone | str, ...] = ()
    newline: str = "\n"

    @property
    def records(self) -> tuple[Tombstone, ...]:
        """All lines that could be read, releases too."""
        return tuple(line for line in self.lines if isinstance(line, Tombstone))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The lines that could not be read; blank ones are none."""
        found = []
        for number, line in enumerate(self.lines, 1):
            if isinstance(line, str) and line.strip():
                found.append(Problem(number, str(_read(line))))
        return tuple(found)

    @property
    def standing(self) -> tuple[Tombstone, ...]:
        """The tombstones that bind: the latest line of each key unless it is a release.

        Forgetting wins over a release of the same second.
        """
        latest: dict[str, Tombstone] = {}
        for record in self.records:
            held = latest.get(record.key)
            if held is None or _rank(record) >= _rank(held):
                latest[record.key] = record
        return tuple(record for record in latest.values() if record.released is None)

    def find(self, content_hash: str) -> Tombstone | None:
        """Return the tombstone that binds this content; computes one slow hash a salt, not a line."""
        plain = {record.hash: record for record in self.standing if not record.slow}
        if found := plain.get(content_hash):
            return found
        keys: dict[tuple[str, int, int, int], str] = {}
        for record in self.standing:
            if slow := record.slow:
                cost = (slow.salt, slow.n, slow.r, slow.p)
                if cost not in keys:
                    keys[cost] = slow.of(content_hash)
                if keys[cost] == slow.key:
                    return record
        return None

    def adding(self, record: Tombstone) -> Tombstones:
        """Return the file with one more line; an equal one is not repeated."""
        return self if record in self.records else replace(self, lines=(*self.lines, record))

    def purging(self, content_hash: str, salt: bytes) -> Tombstones:
        """Return the file with every line of this content reduced to its slow hash."""
        reduced = (
            line.purging(salt) if isinstance(line, Tombstone) and line.hash == content_hash else line
            for line in self.lines
        )
        return replace(self, lines=tuple(dict.fromkeys(reduced)))


def _rank(record: Tombstone) -> tuple[datetime, bool]:
    return record.moment, record.released is None


def matches(tombstone: Tombstone, content_hash: str) -> bool:
    """Tell whether a line speaks of this content; slow for a purged one."""
    if tombstone.slow:
        return tombstone.slow.of(content_hash) == tombstone.slow.key
    return tombstone.hash == content_hash


def parse_tombstones(text: str) -> Tombstones:
    """Read a file; never fails, and `render_tombstones` gives `text` back byte for byte."""
    lines: list[Tombstone | str] = []
    for line in split_lines(text):
        found = _read(line)
        lines.append(found if isinstance(found, Tombstone) else line)
    return Tombstones(tuple(lines), newline_of(text))


def render_tombstones(file: Tombstones) -> str:
    """Write a file; lines as they were read keep their bytes."""
    out: list[str] = []
    for line in file.lines:
        if out and not out[-1].endswith(("\n", "\r")):
            out[-1] += file.newline
        if isinstance(line, str):
            out.append(line)
        else:
            unchanged = line.raw and _read(line.raw) == line
            out.append(line.raw if unchanged else render_tombstone(line) + file.newline)
    return "".join(out)


def merge_tombstones(files: Iterable[Tombstones]) -> Tombstones:
    """Join files as sets of lines, oldest first, unreadable lines behind; order of `files` is no matter."""
    records: dict[str, Tombstone] = {}
    broken: set[str] = set()
    for file in files:
        records |= {render_tombstone(record): record for record in file.records}
        broken |= {line.rstrip("\r\n") for line in file.lines if isinstance(line, str) and line.strip()}
    ordered = sorted(records.items(), key=lambda each: (each[1].moment, each[0]))
    return Tombstones(
        (*(replace(record, raw="") for _, record in ordered), *(f"{line}\n" for line in sorted(broken)))
    )


def render_tombstone(record: Tombstone) -> str:
    """Write one line without its line end: JSON with sorted keys, non-ASCII as it is."""
    shown: dict[str, Any] = dict(record.extra)
    shown |= {"id": record.id, "reason": record.reason, "time": render_time(record.time)}
    if record.slow:
        shown["slow"] = {"kdf": "scrypt", **record.slow._asdict()}
    else:
        shown |= {"hash": record.hash, "heading": record.heading}
    if record.released:
        shown["released"] = render_time(record.released)
    text = json.dumps(shown, ensure_ascii=False, sort_keys=True)
    return text if text.isascii() else re.sub("[\ud800-\udfff]", lambda lone: f"\\u{ord(lone[0]):04x}", text)


_KNOWN: Final = ("hash", "heading", "id", "reason", "released", "slow", "time")


def _read(line: str) -> Tombstone | str:
    """Read one line: the tombstone, or why it is none."""
    try:
        data = json.loads(line.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return "no JSON object"
    if not isinstance(data, dict):
        return "no JSON object"
    slow = _read_slow(data.get("slow"))
    content_hash = _string(data, "hash") if not slow else ""
    if not slow and not _HASH.fullmatch(content_hash):
        return "neither a content hash nor a usable slow hash"
    time, released = parse_time(_string(data, "time")), parse_time(_string(data, "released"))
    if time is None or (released is None and data.get("released") is not None):
        return "no readable time"
    extra = tuple((key, value) for key, value in data.items() if key not in _KNOWN)
    texts = (_string(data, key) for key in ("id", "heading", "reason"))
    entry, heading, reason = texts
    return Tombstone(content_hash, entry, heading, time, reason, released, slow, extra, line)


def _string(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _read_slow(data: object) -> SlowHash | None:
    if not isinstance(data, dict) or data.get("kdf") != "scrypt":
        return None
    costs = {name: data.get(name) for name in _COST}
    if any(type(cost) is not int or not 1 <= cost <= _COST_LIMIT[name] for name, cost in costs.items()):
        return None
    salt, key, n = _string(data, "salt"), _string(data, "key"), data["n"]
    if not _HEX.fullmatch(salt) or not _HEX.fullmatch(key) or n < 2 or n & (n - 1):
        return None
    return SlowHash(salt, key, n, data["r"], data["p"])


def _scrypt(content_hash: str, salt: str, n: int, r: int, p: int) -> str:
    import hashlib

    memory = 128 * r * (n + p + 2) + 2**20
    made = hashlib.scrypt(
        content_hash.encode(), salt=bytes.fromhex(salt), n=n, r=r, p=p, maxmem=memory, dklen=32
    )
    return made.hex()
