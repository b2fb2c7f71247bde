"""Numbers a session's records across its files, and finds a file's line again from a number.

A session's first file keeps its own line numbers. What a second file adds, or what a file adds
after another one was read, is counted on behind; each such run of lines is a stretch. They are
kept with the watermark, so `why` can name file and line while the files are there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from lamina.errors import LaminaError
from lamina.formats.dates import parse_time
from lamina.formats.event import Damage, Event, Position, Session
from lamina.hosts.base import Host, Transcript, host_named
from lamina.hosts.jsonlines import is_unchanged
from lamina.pipeline.redact import redact
from lamina.store.files import parse_json
from lamina.store.watermarks import Read, Watermark

DAMAGES = 50  # named of one file; what is more is counted


class Stretch(NamedTuple):
    """Lines `start` up to `stop` of file number `file` are the session's records from `base` on."""

    file: int
    start: int
    stop: int
    base: int


class Source(NamedTuple):
    """One transcript file and the adapter that reads it."""

    path: Path
    host: Host


class Known(NamedTuple):
    """What the caller's word of a watermark says."""

    status: str = ""
    stretches: tuple[Stretch, ...] = ()
    mtimes: tuple[int, ...] = ()
    latest: datetime | None = None


def known_of(mark: Watermark | None) -> Known:
    """Read the word; a damaged one says nothing."""
    try:
        said = parse_json(mark.state) if mark and mark.state else {}
        stretches = tuple(Stretch(*map(int, each)) for each in said.get("stretches", ()))
        latest = parse_time(said["latest"]) if said.get("latest") else None
        return Known(str(said.get("status", "")), stretches, tuple(map(int, said.get("mtimes", ()))), latest)
    except (ValueError, TypeError, AttributeError):
        return Known()


def word_of(known: Known) -> str:
    """Write the word as JSON text."""
    said: dict[str, Any] = {
        "status": known.status,
        "stretches": [list(each) for each in known.stretches],
        "mtimes": list(known.mtimes),
        "latest": known.latest.isoformat() if known.latest else "",
    }
    return json.dumps(said, separators=(",", ":"))


def locate(mark: Watermark, seq: int) -> tuple[str, int] | None:
    """Find the file and the 1-based line of a session's record, None for one that was never read."""
    for stretch in known_of(mark).stretches:
        if stretch.base <= seq < stretch.base + stretch.stop - stretch.start and stretch.file < len(
            mark.files
        ):
            return mark.files[stretch.file].path, stretch.start + seq - stretch.base + 1
    return None


def shown_path(path: Path) -> str:
    """Give a path as it may be written down."""
    return redact(str(path)).text


def is_same(read: Read, mtime: int, source: Source) -> bool:
    """Say whether a transcript has not changed since it was read, going by size and time alone."""
    return source.host.stamp(source.path) == (read.size, mtime)


def is_here(host: str, path: str) -> bool:
    """Say whether a transcript that was read is still on this machine."""
    adapter = host_named(host)
    return adapter is not None and adapter.stamp(Path(path)) is not None


@dataclass
class Reader:
    """Reads what is new in a session's files, as events with the session's own numbers.

    `damaged`, `count`, `session` and what `mark` gives grow while `events` is being iterated.
    """

    sources: list[Source]
    mark: Watermark | None
    ancestors: list[Source] = field(default_factory=list)
    after: int = -1
    damaged: list[Damage] = field(default_factory=list)
    count: int = 0
    lines: int = 0

    def __post_init__(self) -> None:
        self._known = known_of(self.mark)
        self._reads = list(self.mark.files) if self.mark else []
        self._mtimes = list(self._known.mtimes) + [0] * (len(self._reads) - len(self._known.mtimes))
        self._stretches = list(self._known.stretches)
        self._last = self.mark.last if self.mark else -1
        self._latest = self._known.latest
        self._before = self._latest

    def watermark(self, session: Session, status: str, captured: datetime) -> Watermark:
        """Give the mark of all that was read by now."""
        known = Known(status, tuple(self._stretches), tuple(self._mtimes), self._latest)
        return Watermark(session.host, session.id, tuple(self._reads), self._last, captured, word_of(known))

    def events(self) -> Iterator[Event]:
        """Yield the new events of all files, in the order of the files."""
        for source in self.sources:
            yield from self._file(source)

    def pass_over(self) -> None:
        """Note that the files were seen, without reading them any further."""
        for source in self.sources:
            place = self._place(source)
            stamp = source.host.stamp(source.path)
            if stamp is not None:
                self._reads[place] = replace(self._reads[place], size=stamp[0])
                self._mtimes[place] = stamp[1]

    def _file(self, source: Source) -> Iterator[Event]:
        place = self._place(source)
        read = self._reads[place]
        if is_same(read, self._mtimes[place], source):
            return
        stamp = source.host.stamp(source.path) or (-1, 0)
        try:
            transcript = source.host.read(source.path, read.position if read.position.offset else None)
            yield from self._new(transcript, source, place)
        except (LaminaError, OSError) as problem:
            self._damage(Damage(str(source.path), 0, str(problem)))
            return
        self._reads[place] = Read(shown_path(source.path), stamp[0], transcript.position)
        self._mtimes[place] = stamp[1]

    def _new(self, transcript: Transcript, source: Source, place: int) -> Iterator[Event]:
        read, begin = self._reads[place].position, transcript.position
        shift = self._last + 1 - begin.line if self._stretches else 0
        rewritten = read.line if read.offset > 0 and begin.offset == 0 else 0
        others = self._others(source)
        for item in transcript:
            if isinstance(item, Damage):
                self._damage(item)
            elif not self._is_old(item, others, rewritten, shift):
                self.count += 1
                if item.time is not None:
                    self._latest = max(self._latest or item.time, item.time)
                yield replace(item, seq=item.seq + shift) if shift else item
        end = transcript.position.line
        self.lines += end - begin.line
        if end > begin.line:
            self._stretch(Stretch(place, begin.line, end, begin.line + shift))
            self._last = max(self._last, end - 1 + shift)

    def _place(self, source: Source) -> int:
        """Give the file's number, a new one for a new file; a file that was moved keeps its own."""
        shown = shown_path(source.path)
        for index, read in enumerate(self._reads):
            if read.path == shown:
                return index
        for index, read in enumerate(self._reads):
            gone = source.host.stamp(Path(read.path)) is None
            if gone and is_unchanged(source.path, read.position):
                self._reads[index] = replace(read, path=shown)
                return index
        self._reads.append(Read(shown, -1, Position()))
        self._mtimes.append(0)
        return len(self._reads) - 1

    def _is_old(self, event: Event, others: set[int], line: int, shift: int) -> bool:
        """Say whether an event was captured before: from another file, or before a file was rewritten."""
        if event.key and hash(event.key) in others:
            return True
        if event.seq + shift <= self.after:
            return True
        if not line:
            return False
        if event.time is not None and self._before is not None:
            return event.time <= self._before
        return event.seq < line

    def _others(self, source: Source) -> set[int]:
        """Collect the identities of what was read of the session's other files and its ancestors."""
        found: set[int] = set()
        behind = False
        for each in (*self.ancestors, *self.sources):
            if each.path == source.path:
                behind = True
                continue
            limit = self._line_of(each) if behind else None
            if limit != 0:
                found.update(_keys(each, limit))
        return found

    def _line_of(self, source: Source) -> int:
        """Say how many lines of a file were read by earlier runs."""
        shown = shown_path(source.path)
        return next((read.position.line for read in self._reads if read.path == shown), 0)

    def _stretch(self, new: Stretch) -> None:
        last = self._stretches[-1] if self._stretches else None
        joins = last and last.file == new.file and last.stop == new.start
        if last and joins and new.base - last.base == new.start - last.start:
            self._stretches[-1] = last._replace(stop=new.stop)
        else:
            self._stretches.append(new)

    def _damage(self, item: Damage) -> None:
        where, why = redact(item.file).text, redact(item.reason).text
        count = sum(each.file == where for each in self.damaged)
        if count <= DAMAGES:
            why = why if count < DAMAGES else "and more lines like these"
            self.damaged.append(replace(item, file=where, reason=why))


def _keys(source: Source, limit: int | None) -> Iterator[int]:
    """Yield the hashed identities of a file's records, of its first `limit` lines only if that is given."""
    try:
        for item in source.host.read(source.path):
            if isinstance(item, Event):
                if limit is not None and item.seq >= limit:
                    return
                if item.key:
                    yield hash(item.key)
    except (LaminaError, OSError):
        return
