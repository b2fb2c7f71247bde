"""Turns pending notes into entries without a model: one batch a note, its entries and its mark together.

Topics depend on the note and on what earlier sessions wrote, never on the order inside a batch, so an
import that was killed and started again gives the same store. The layers codebase and history are not
written here, and an entry that a person vouches for is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import NamedTuple

from lamina.formats.entry import Draft, with_field
from lamina.formats.hashing import entry_hash
from lamina.formats.scope import Scope
from lamina.formats.source import SessionRef, from_user
from lamina.pipeline import cues
from lamina.pipeline.drafts import day_of, plan, scope_of
from lamina.pipeline.exchanges import terms
from lamina.pipeline.topics import OWN, Known, keys
from lamina.store import notes
from lamina.store.notes import NoteFile
from lamina.store.store import Located, Store
from lamina.store.tombstones import Graves
from lamina.store.write import Writing

LAYERS_WRITTEN = ("semantic", "episodic", "procedural", "learnings", "decisions")


@dataclass(slots=True)
class Consolidated:
    """How many notes were handled and what became of their facts; `superseded` are corrected entries."""

    notes: int = 0
    entries: int = 0
    known: int = 0
    refused: int = 0
    superseded: list[str] = field(default_factory=list)


def consolidate(
    store: Store, *, now: datetime, limit: int | None = None, dry_run: bool = False
) -> Consolidated:
    """Consolidate pending notes, the oldest session first, at most `limit`."""
    done = Consolidated()
    seen: dict[Scope, _Topics] = {}
    pending = sorted(
        notes.pending(store), key=lambda each: (day_of(each.note), str(each.note.started), each.name)
    )
    for each in pending[:limit]:
        scope = scope_of(each.note)
        if scope not in seen:
            seen[scope] = _Topics(store, scope)
        _one(store, each, seen[scope], done, now=now, dry_run=dry_run)
    return done


def _one(
    store: Store, each: NoteFile, topics: _Topics, done: Consolidated, *, now: datetime, dry_run: bool
) -> None:
    note = each.note
    known, own = topics.before(day_of(note), note.session)
    hashes: set[str] = set()
    graves = Graves.load(store, topics.scope)
    with store.writing(label="consolidate", at=now, dry_run=dry_run) as batch:
        for label, draft in plan(note, known, own=own):
            hash_ = entry_hash(draft.heading, draft.body)
            if graves.refusal(draft.heading, draft.body) is not None:
                done.refused += 1
            elif hash_ in hashes or store.with_hash(draft.scope, hash_):
                done.known += 1
            else:
                hashes.add(hash_)
                id_ = batch.add(draft).id
                done.entries += 1
                if label == "correction" and draft.trust == "approved":
                    done.superseded += _correct(store, batch, draft, id_)
                topics.add(draft.topic, draft.heading, draft.date, note.session)
        notes.save(batch, replace(note, consolidated=now), name=each.name)
    done.notes += 1


class _Place(NamedTuple):
    topic: str
    about: frozenset[str]
    day: date
    session: str


class _Topics:
    """The topics of a scope, with the day and session of each of their entries."""

    def __init__(self, store: Store, scope: Scope) -> None:
        self.scope = scope
        self.places: list[_Place] = []
        for layer in LAYERS_WRITTEN:
            for located in store.entries(scope, layer):
                refs = [ref.session for ref in located.entry.sources if isinstance(ref, SessionRef)]
                self.add(located.topic, located.entry.heading, located.entry.date or date.min, *refs[:1])

    def add(self, topic: str, heading: str, day: date, session: str = "") -> None:
        """Take in an entry."""
        self.places.append(_Place(topic, keys(heading), day, session))

    def before(self, day: date, session: str) -> tuple[list[Known], str]:
        """Give the topics of other sessions up to a day, and the one this session wrote to already."""
        about: dict[str, set[str]] = {}
        own: list[str] = []
        for place in self.places:
            if place.session == session and session:
                own += [place.topic] if place.topic not in OWN.values() else []
            elif place.day <= day:
                about.setdefault(place.topic, set()).update(place.about)
        return [Known(topic, frozenset(words)) for topic, words in sorted(about.items())], min(
            own, default=""
        )


def _correct(store: Store, batch: Writing, draft: Draft, id_: str) -> Iterator[str]:
    """Supersede the one earlier entry of the topic that holds the value a person's correction replaces."""
    said = f"{draft.heading} {draft.body} {draft.evidence}"
    gone = {value for found in cues.LOST.finditer(said) for value in _values(found[1])}
    found = [each for each in _earlier(store, draft) if gone & _values(_text(each))]
    if len(found) == 1 and _same_subject(terms(_text(found[0])), terms(said)):
        batch.change(found[0].entry.id, lambda entry: with_field(entry, "Status", f"superseded by {id_}"))
        yield found[0].entry.id


def _same_subject(old: frozenset[str], new: frozenset[str]) -> bool:
    """Say whether a correction covers at least half of what an entry says; else too much would go with it."""
    return 2 * len(old & new) >= len(old)


def _text(each: Located) -> str:
    return f"{each.entry.heading} {each.entry.body}"


def _earlier(store: Store, draft: Draft) -> Iterator[Located]:
    for layer in LAYERS_WRITTEN:
        for each in store.entries(draft.scope, layer):
            entry = each.entry
            in_force = entry.trust in ("approved", "candidate") and not from_user(entry.sources)
            earlier = entry.date is not None and entry.date <= draft.date and entry.source != draft.source
            if each.topic == draft.topic and in_force and earlier and entry.id:
                yield each


def _values(text: str) -> set[str]:
    """Give what can be a value that is put right: names, numbers, identifiers; folded."""
    return {found.casefold().strip("`") for found in _VALUE.findall(text)}


_VALUE = re.compile(r"`[^`]{1,60}`|\b(?:[A-Z][\w.+-]*|\w*\d[\w.+-]*|\w+[_.]\w+)\b")
