"""Forgetting: the entry is marked and a tombstone keeps its content from coming back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lamina.errors import NoEntry
from lamina.formats.entry import Entry, parse_topic, render_topic, with_field
from lamina.formats.source import SessionRef
from lamina.formats.tombstone import Tombstone, parse_tombstones, render_tombstones
from lamina.pipeline.redact import redact
from lamina.store import tombstones

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime

    from lamina.store.store import Located, Store
    from lamina.store.write import Writing


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

    `forgotten` asks for those that are forgotten already, else for those that are not; one that is named by
    its id is meant either way.
    """
    if ids:
        found = [_found(store, id_) for id_ in dict.fromkeys(ids)]
        return list({(each.rel, each.entry.line): each for each in found}.values())
    chosen = []
    for located in store.entries():
        entry = located.entry
        if (entry.trust == "forgotten") is not forgotten:
            continue
        if workspace is not None and located.scope.key != workspace:
            continue
        if since is not None and (entry.date is None or entry.date < since):
            continue
        if session is not None and not is_from(entry, session):
            continue
        chosen.append(located)
    return chosen


def bury(
    store: Store, entries: Sequence[Located], now: datetime, *, reason: str = "", dry_run: bool = False
) -> list[dict[str, str]]:
    """Forget entries in one write; those that are forgotten already stay as they are."""
    why = redact(reason).text
    if dry_run:
        return [tell(each) for each in entries]
    chosen = identified(store, entries, now)
    with store.writing(label="forget", at=now) as batch:
        for each in chosen:
            if each.entry.trust != "forgotten":
                tombstones.bury(batch, each.scope, each.entry, reason=why)
                batch.change(each.entry.id, lambda old: with_field(old, "Status", f"forgotten {now.date()}"))
    return [tell(each) for each in chosen]


def release(
    store: Store, entries: Sequence[Located], now: datetime, *, dry_run: bool = False
) -> list[dict[str, str]]:
    """Bring forgotten entries back and let their content be written again."""
    chosen = [each for each in entries if each.entry.trust == "forgotten"]
    if dry_run:
        return [tell(each) for each in chosen]
    chosen = identified(store, chosen, now)
    with store.writing(label="release", at=now) as batch:
        for each in chosen:
            tombstones.release(batch, each.scope, each.entry)
            batch.change(each.entry.id, lambda old: with_field(old, "Status", None))
    return [tell(each) for each in chosen]


def release_content(store: Store, id_: str, now: datetime, *, dry_run: bool = False) -> list[dict[str, str]]:
    """Let the content come back whose entry is gone from disk.

    Raises NoEntry if no tombstone names the id.
    """
    told = []
    with store.writing(label="release", at=now, dry_run=dry_run) as batch:
        for scope in store.scopes():
            rel = store.layout.rel(store.layout.suppressed(scope))
            file = parse_tombstones(batch.text(rel) or "")
            bound = [each for each in file.standing if each.id == id_]
            if bound:
                batch.edit(rel, partial(_released, bound, now))
                told.append({"id": id_, "heading": bound[0].heading or "(purged)", "file": rel})
    if not told:
        raise missing(id_)
    return told


def identified(store: Store, entries: Sequence[Located], now: datetime) -> list[Located]:
    """Return the entries with ids.

    Those that a person wrote without get theirs, with all others of their files.
    """
    unnamed = {each.rel: each for each in entries if not each.entry.id}
    if not unnamed:
        return list(entries)
    with store.writing(label="ids", at=now) as batch:
        for rel, located in unnamed.items():
            if not located.slug:
                place = f"{rel}:{located.entry.line}"
                raise NoEntry(f"{place} has no id yet", "give it one with an `**Id:**` line")
            batch.edit(rel, partial(_name, batch, located))
    again = {
        (each.rel, each.entry.content_hash): each
        for located in unnamed.values()
        for each in store.entries(located.scope, located.layer)
    }
    named = (each if each.entry.id else again.get((each.rel, each.entry.content_hash)) for each in entries)
    return [each for each in named if each is not None]


def _name(batch: Writing, located: Located, text: str | None) -> str:
    topic = parse_topic(text or "")
    for place, entry in enumerate(topic.entries):
        if not entry.id:
            id_ = batch.new_id(located.scope, located.layer)
            topic = topic.replacing(place, with_field(entry, "Id", id_))
    return render_topic(topic)


def is_from(entry: Entry, session: str) -> bool:
    """Tell whether an entry was learnt in a session, named with or without its host."""
    name = session.removeprefix("session:")
    return any(
        isinstance(ref, SessionRef) and name in (ref.session, f"{ref.host}/{ref.session}")
        for ref in entry.sources
    )


def missing(id_: str) -> NoEntry:
    """Make the error for an id that no entry has."""
    return NoEntry(f"no entry has the id {id_!r}", "`lamina list` and `lamina search` show ids")


def tell(located: Located) -> dict[str, str]:
    """Describe an entry that was forgotten or released."""
    return {"id": located.entry.id, "heading": located.entry.heading, "file": located.rel}


def _found(store: Store, id_: str) -> Located:
    located = store.find(id_)
    if located is None:
        raise missing(id_)
    return located


def _released(bound: Sequence[Tombstone], now: datetime, text: str | None) -> str:
    file = parse_tombstones(text or "")
    for record in bound:
        file = file.adding(record.releasing(now))
    return render_tombstones(file)
