"""The words of a session that an entry rests on, read again while the transcript is on this machine."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lamina.errors import LaminaError
from lamina.formats.dates import render_time
from lamina.formats.event import Author, Event, Kind
from lamina.hosts.base import host_named
from lamina.hosts.jsonlines import is_unchanged
from lamina.pipeline.redact import redact
from lamina.pipeline.tracks import known_of
from lamina.store import watermarks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lamina.formats.source import SessionRef
    from lamina.hosts.base import Host
    from lamina.store.store import Store
    from lamina.store.watermarks import Watermark

EVENTS = 20
CHARS = 600
_SAID = {(Kind.USER, Author.PERSON): "user", (Kind.ASSISTANT, Author.MODEL): "assistant"}


class Line(NamedTuple):
    """What was said in one record. `line` is the 1-based line of the file, `who` `user` or `assistant`."""

    line: int
    who: str
    text: str
    time: str


class Passage(NamedTuple):
    """The words of a part of a session; `more` says that it goes on."""

    file: str
    lines: tuple[Line, ...]
    more: bool


def passage(store: Store, ref: SessionRef) -> Passage | None:
    """Read the words behind a reference, redacted and clipped, at most EVENTS of them.

    None where the transcript is gone, was written anew since, or holds no person's or model's words there.
    """
    mark = watermarks.load(store, ref.host, ref.session)
    host = host_named(ref.host)
    if mark is None or host is None or ref.first is None:
        return None
    for read, first, last in _places(mark, ref.first, ref.first if ref.last is None else ref.last):
        path = Path(mark.files[read].path)
        if is_unchanged(path, mark.files[read].position):
            found = tuple(islice(_words(host, path, first, last), EVENTS + 1))
            if found:
                return Passage(str(path), found[:EVENTS], len(found) > EVENTS)
    return None


def _places(mark: Watermark, first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """Yield the number of each file that holds some of the records, with its 0-based first and last line."""
    for stretch in known_of(mark).stretches:
        low = max(first, stretch.base)
        high = min(last, stretch.base + stretch.stop - stretch.start - 1)
        if low <= high and 0 <= stretch.file < len(mark.files):
            shift = stretch.start - stretch.base
            yield stretch.file, low + shift, high + shift


def _words(host: Host, path: Path, first: int, last: int) -> Iterator[Line]:
    """Yield what person and model said in these lines; reading stops quietly where the file can't be read."""
    try:
        for event in host.read(path):
            if not isinstance(event, Event) or event.seq < first:
                continue
            if event.seq > last:
                return
            who = _SAID.get((event.kind, event.author), "")
            text = redact(event.text).text.strip() if who and not event.sidechain else ""
            if text:
                clipped = text if len(text) <= CHARS else text[:CHARS].rstrip() + "…"
                yield Line(event.seq + 1, who, clipped, render_time(event.time) if event.time else "")
    except (LaminaError, OSError):
        return
