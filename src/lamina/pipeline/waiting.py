"""What waits for a person's review, why, and what there is to look at before deciding. Reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.formats.layers import LAYERS
from lamina.formats.source import SessionRef
from lamina.pipeline import browse
from lamina.pipeline.changes import conflict_of, without_conflict
from lamina.pipeline.drafts import day_of, scope_of
from lamina.pipeline.passage import passage
from lamina.pipeline.why import why
from lamina.pipeline.wording import compared
from lamina.store import notes
from lamina.store.notes import NoteFile
from lamina.store.store import Located
from lamina.store.tombstones import content_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from lamina.formats.entry import Entry
    from lamina.formats.scope import Scope
    from lamina.pipeline.filters import Filters
    from lamina.store.store import Store

Json = dict[str, Any]
Target = Located | NoteFile
CANDIDATE = "candidate"


def candidates(store: Store, filters: Filters) -> list[Located]:
    """Return the candidates that the filters let through, oldest first; their trust is not asked for."""
    wanted = filters._replace(trust=frozenset({CANDIDATE}))
    scopes = store.scopes() if filters.scopes is None else filters.scopes
    found = [
        each
        for scope in scopes
        for layer in _layers(scope, filters.layer)
        for each in _holding(store, scope, layer)
        if browse.passes(each, wanted)
    ]
    return sorted(found, key=lambda each: (str(each.entry.date or ""), each.entry.id, each.rel))


def doubtful_notes(store: Store, scopes: Sequence[Scope] | None = None) -> list[NoteFile]:
    """Return the notes that no model could handle, first captured first."""
    found = [
        each
        for each in notes.notes(store)
        if each.note.needs_review
        and each.note.consolidated is None
        and (scopes is None or scope_of(each.note) in scopes)
    ]
    return sorted(found, key=lambda each: (str(each.note.captured or ""), each.name))


def row(located: Located, today: date) -> Json:
    """Describe a candidate that waits."""
    return browse.item(located, today) | {
        "why": reasons(located),
        "conflicts_with": conflict_of(located.entry.body) or None,
    }


def note_row(each: NoteFile, today: date) -> Json:
    """Describe a note that waits."""
    note = each.note
    tries = f"{note.attempts} attempt{'' if note.attempts == 1 else 's'}"
    return {
        "id": each.name,
        "file": each.rel,
        "scope": scope_of(note).name,
        "session": f"{note.host}/{note.session}",
        "bullets": len(note.bullets),
        "attempts": note.attempts,
        "age_days": max(0, (today - day_of(note)).days) if note.started or note.captured else None,
        "why": [f"no usable reply of a model in {tries}" if note.attempts else "marked for review"],
    }


def reasons(located: Located) -> list[str]:
    """Say why a candidate waits; empty for an entry that does not."""
    entry = located.entry
    if entry.trust != CANDIDATE:
        return []
    said = entry.evidence.who if entry.evidence else ""
    told = []
    if said in ("assistant", "tool"):
        told.append(f"rests on {'the model' if said == 'assistant' else 'a tool'}'s words")
    elif not said and any(isinstance(ref, SessionRef) for ref in entry.sources):
        told.append("rests on no quoted words")
    if located.scope.key is None:
        told.append("global")
    against = conflict_of(entry.body)
    if against:
        told.append(f"conflicts with {against}")
    return told or ["held for review"]


def _layers(scope: Scope, only: str | None = None) -> list[str]:
    return [
        name
        for name, layer in LAYERS.items()
        if layer.many and only in (None, name) and (scope.key is not None or not layer.workspace_only)
    ]


def _holding(store: Store, scope: Scope, layer: str) -> Iterator[Located]:
    """Yield the entries of the files that may hold a candidate; the ledger knows which can't."""
    records = store.ledger(scope, layer).records
    for ref in store.topics(scope, layer):
        record = records.get(ref.path.name) if ref.slug else None
        if record is None or record.mentions(CANDIDATE):
            yield from store.entries_in(ref)


def target(store: Store, name: str) -> Target:
    """Return what is meant: an entry by id, alias or `file:line`, or a note by its name; raises NoEntry."""
    name = name.strip()
    try:
        return browse.found(store, name)
    except errors.NoEntry:
        plain = name.removeprefix("digests/").removesuffix(".md")
        found = notes.load(store, plain) if plain in notes.names(store) else None
        if found is None:
            raise errors.NoEntry(
                f"no entry and no note has the id {name!r}", "`lamina review` lists what waits"
            ) from None
        return found


def show(store: Store, name: str, today: date) -> Json:
    """Return one thing that may wait, with what it rests on and what it conflicts with."""
    found = target(store, name)
    if isinstance(found, NoteFile):
        return {"kind": "note", **note_row(found, today), "said": _bullets(found)}
    against = conflict_of(found.entry.body)
    return {
        "kind": "entry",
        **browse.whole(found, today),
        "own": without_conflict(found.entry.body),
        "why": reasons(found),
        "evidence": found.entry.evidence._asdict() if found.entry.evidence else None,
        "chain": why(store, found),
        "passage": _passage(store, found.entry),
        "conflict": _conflict(store, found.entry, against) if against else None,
    }


def _bullets(each: NoteFile) -> list[Json]:
    return [
        {
            "label": bullet.label,
            "text": bullet.text,
            "day": str(bullet.day) if bullet.day else None,
            "quote": bullet.quote,
            "who": bullet.who,
        }
        for bullet in each.note.bullets
    ]


def _passage(store: Store, entry: Entry) -> Json | None:
    for ref in entry.sources:
        found = passage(store, ref) if isinstance(ref, SessionRef) else None
        if found is not None:
            lines = [line._asdict() for line in found.lines]
            return {"file": found.file, "lines": lines, "more": found.more}
    return None


def _conflict(store: Store, entry: Entry, against: str) -> Json:
    """Describe the entry that a candidate conflicts with."""
    located = store.find(against)
    if located is None:
        return {"id": against, "trust": None, "heading": "", "text": "", "diff": None}
    old, new = _text(located.entry), _text(entry)
    return {
        "id": located.entry.id or against,
        "trust": located.entry.trust,
        "heading": located.entry.heading,
        "text": old,
        "diff": compared(old, new),
    }


def _text(entry: Entry) -> str:
    return content_of(entry.heading, without_conflict(entry.body)).strip()
