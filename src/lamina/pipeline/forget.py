"""Forgetting: the entry is marked, a tombstone keeps its content from coming back, a purge removes the text."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lamina.errors import NoEntry
from lamina.formats.entry import Entry, with_field
from lamina.formats.note import Note, parse_note, render_note
from lamina.formats.source import SessionRef
from lamina.store import journal, notes, tombstones

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date, datetime

    from lamina.store.store import Located, Store
    from lamina.store.write import Writing

SALT_BYTES = 16


def choose(
    store: Store,
    ids: Sequence[str],
    *,
    session: str | None = None,
    workspace: str | None = None,
    since: date | None = None,
    forgotten: bool = False,
) -> list[Located]:
    """Return the entries that are meant: by id (NoEntry if one is missing), or all that fit every other word.

    `forgotten` asks for those that are forgotten already, else for those that are not.
    """
    if ids:
        return [_found(store, id_) for id_ in dict.fromkeys(ids)]
    chosen = []
    for located in store.entries():
        entry = located.entry
        if (entry.trust == "forgotten") is not forgotten:
            continue
        if workspace is not None and located.scope.key != workspace:
            continue
        if since is not None and (entry.date is None or entry.date < since):
            continue
        if session is not None and not _is_from(entry, session):
            continue
        chosen.append(located)
    return chosen


def bury(
    store: Store,
    entries: Iterable[Located],
    now: datetime,
    *,
    reason: str = "",
    purge: bool = False,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Forget entries in one write; with `purge` their text leaves the disk as far as it is ours to remove."""
    chosen = list(entries)
    with store.writing(label="purge" if purge else "forget", at=now, dry_run=dry_run) as batch:
        for located in chosen:
            entry = located.entry
            tombstones.bury(batch, located.scope, entry, reason=reason)
            if purge:
                tombstones.purge(batch, located.scope, entry.content_hash, new_salt=_salt)
                batch.remove(_named(located))
            else:
                batch.change(
                    _named(located), lambda old: with_field(old, "Status", f"forgotten {now.date()}")
                )
        if purge:
            _purge_notes(store, batch, chosen)
    if purge and not dry_run:
        _purge_local(store)
    return {"entries": [_told(each) for each in chosen], "left": _left(store, chosen) if purge else []}


def release(
    store: Store, entries: Iterable[Located], now: datetime, *, dry_run: bool = False
) -> dict[str, Any]:
    """Bring forgotten entries back and let their content be written again."""
    chosen = [each for each in entries if each.entry.trust == "forgotten"]
    with store.writing(label="release", at=now, dry_run=dry_run) as batch:
        for located in chosen:
            tombstones.release(batch, located.scope, located.entry)
            batch.change(_named(located), lambda old: with_field(old, "Status", None))
    return {"entries": [_told(each) for each in chosen], "left": []}


def _found(store: Store, id_: str) -> Located:
    located = store.find(id_)
    if located is None:
        raise NoEntry(f"no entry has the id {id_!r}", "`lamina list` and `lamina search` show ids")
    return located


def _named(located: Located) -> str:
    if not located.entry.id:
        raise NoEntry(
            f"{located.rel}:{located.entry.line} has no id yet", "the next write to that file gives it one"
        )
    return located.entry.id


def _is_from(entry: Entry, session: str) -> bool:
    return any(
        isinstance(ref, SessionRef) and session in (ref.session, f"{ref.host}/{ref.session}")
        for ref in entry.sources
    )


def _told(located: Located) -> dict[str, str]:
    return {"id": located.entry.id, "heading": located.entry.heading, "file": located.rel}


def _purge_notes(store: Store, batch: Writing, entries: Sequence[Located]) -> None:
    """Take what the entries were made from out of the notes."""
    wanted: dict[tuple[str, str], list[SessionRef]] = {}
    for located in entries:
        for ref in located.entry.sources:
            if isinstance(ref, SessionRef):
                wanted.setdefault((ref.host, ref.session), []).append(ref)
    for (host, session), refs in wanted.items():
        name = Note(session, host).name
        found = notes.load(store, name)
        if found is not None:
            batch.put(found.rel, render_note(_without(found.note, refs)))


def _without(note: Note, refs: Sequence[SessionRef]) -> Note:
    from dataclasses import replace

    spans = {(ref.first, ref.last) for ref in refs}
    sections = tuple(
        replace(section, bullets=tuple(b for b in section.bullets if (b.first, b.last) not in spans), raw="")
        for section in note.sections
    )
    return parse_note(render_note(replace(note, sections=sections, raw="")))


def _purge_local(store: Store) -> None:
    """Drop old texts that local records keep: the journal of writes and the logs."""
    journal.clear(store.layout)
    try:
        left = [path for path in store.layout.logs.iterdir() if path.is_file()]
    except OSError:
        return
    for path in left:
        path.unlink(missing_ok=True)


def _left(store: Store, entries: Sequence[Located]) -> list[str]:
    """Say what a purge may not touch and which commands remove the text from git's history."""
    lines = [
        "The transcripts of the hosts were not touched; delete them yourself if they hold it.",
        "The text is still in the store's git history. To remove it there (needs git-filter-repo):",
    ]
    files = sorted({located.rel for located in entries})
    lines += [f"  git -C {store.root} filter-repo --force --invert-paths --path {rel}" for rel in files]
    lines.append(
        "  then write what remains of these files anew, and on every other clone: lamina sync --adopt-remote"
    )
    return lines


def _salt() -> bytes:
    return os.urandom(SALT_BYTES)
