"""Checks what was written, on the bytes on disk, before success is reported (the seed's section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lamina import errors
from lamina.formats.dates import parse_time
from lamina.formats.digest import REFINE, STATE, SYNC, Digest
from lamina.formats.digestreader import parse_digest
from lamina.formats.structure import split_lines
from lamina.pipeline.digest.section import Composed
from lamina.pipeline.digest.sync import Sync
from lamina.pipeline.digest.view import View
from lamina.pipeline.verified import Check
from lamina.store import files, memoryfolder
from lamina.store.memoryfolder import Dailies, MemoryFolder


def appended_checks(view: View, section: Composed, sync: Sync, text: str, last_run: str) -> Iterator[Check]:
    """Yield the checks of a run that appended a section; `text` is what we wrote."""
    there = on_disk(view.folder.digest)
    yield "the digest exists with the bytes that were written", there == text
    digest = parse_digest(there)
    yield from header_checks(digest, sync, last_run)
    yield (
        "the state marker names the newest day that was considered",
        (digest.processed is not None and digest.processed >= section.last),
    )
    sections = len(view.digest.sections) if view.digest else 0
    yield "there is one section more", len(digest.sections) == sections + 1
    last = digest.sections[-1] if digest.sections else None
    yield "the new section is the last one", last is not None and last.id == section.id
    yield "the section names its sources", last is not None and last.sources == section.sources
    said = {(item.id, item.hash) for item in last.items} if last else set()
    yield (
        "every item stands in it with id, hash and source",
        last is not None
        and (
            said == {(item.id, item.hash) for item in section.items}
            and all(item.hash == item.content and item.sources for item in last.items)
        ),
    )
    before = _body(view.digest)
    yield "the older sections are unchanged", not before.strip() or _body(digest).startswith(before)
    yield from daily_checks(view.folder, view.dailies)


def retried_checks(view: View, sync: Sync, text: str, last_run: str) -> Iterator[Check]:
    """Yield the checks of a run that only asked the core again."""
    there = on_disk(view.folder.digest)
    yield "the digest exists with the bytes that were written", there == text
    digest = parse_digest(there)
    yield from header_checks(digest, sync, last_run)
    yield "nothing but the header changed", _body(digest) == _body(view.digest)
    yield from daily_checks(view.folder, view.dailies)


def header_checks(digest: Digest, sync: Sync, last_run: str) -> Iterator[Check]:
    """Yield the checks of the first lines."""
    first = digest.places.get(STATE) == 0 and digest.fatal is None
    yield "the state marker is first", first and digest.state is not None
    yield (
        "the state marker tells of this run",
        (digest.state is not None and parse_time(digest.state.get("last-run")) == parse_time(last_run)),
    )
    yield sync_check(digest, sync)


def sync_check(digest: Digest, sync: Sync) -> Check:
    """Check that the sync marker tells how the core stands."""
    told = (digest.status, digest.pending) == (sync.status, sync.pending)
    return "the sync marker tells how the core stands", told


def daily_checks(folder: MemoryFolder, dailies: Dailies) -> Iterator[Check]:
    """Yield that each daily file still begins with the bytes that were read; it may have grown."""
    for name, data in dailies.data.items():
        try:
            held = files.read_bytes(folder.path / name).startswith(data)
        except errors.LaminaError:
            held = False
        yield f"{name} is as it was", held


def on_disk(path: Path) -> str:
    """Return what stands in a file now, "" for what can't be read."""
    try:
        return memoryfolder.read(path) or ""
    except errors.LaminaError:
        return ""


def _body(digest: Digest | None) -> str:
    """Return a digest's text without its header's markers."""
    if digest is None:
        return ""
    lines = split_lines(digest.text.removeprefix("\ufeff"))
    gone = {digest.places[name] for name in (STATE, REFINE, SYNC) if name in digest.places}
    return "".join(line for number, line in enumerate(lines) if number not in gone)
