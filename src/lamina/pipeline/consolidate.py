"""Turns pending notes into entries without a model: the notes' entries and their marks in one batch.

Topics depend on the note and on what earlier sessions wrote, never on the order inside a batch, so an
import that was killed and started again gives the same store. The layers codebase and history are not
written here, and an entry that a person vouches for is never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime

from lamina.formats.entry import Draft, Entry, with_field
from lamina.formats.hashing import entry_hash
from lamina.formats.note import Note
from lamina.formats.scope import Scope
from lamina.pipeline.changes import conflicting
from lamina.pipeline.drafts import Planned, day_of, plan, scope_of
from lamina.pipeline.earlier import LAYERS_WRITTEN, Earlier, Past
from lamina.store import notes
from lamina.store.notes import NoteFile
from lamina.store.store import Store
from lamina.store.tombstones import Graves
from lamina.store.write import Writing

__all__ = ["LAYERS_WRITTEN", "Consolidated", "Review", "consolidate", "file_away"]

Review = str | Callable[[Note], str]
"""The setting `review`: one for all notes, or what says it of each (projects may be stricter)."""

_TURNING = ("correction", "decision")
_BATCH = 32  # notes whose entries are written together: a topic's file is written once for all of them


@dataclass(slots=True)
class Consolidated:
    """How many notes were handled and what became of their facts.

    `superseded` are the entries that a correction replaced or that a later session closed, `updated` those
    that got new words. With a model also: `rejected` counts by reason what it said and may not be kept,
    `unattributed` the notes that it left out and that wait, `parse_failed` that a reply could not be read,
    `write_failed` why something could not be written, `waits` why a model could not be asked.
    """

    notes: int = 0
    entries: int = 0
    known: int = 0
    refused: int = 0
    superseded: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    candidates: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    unattributed: int = 0
    needs_review: int = 0
    calls: int = 0
    tokens: int = 0
    parse_failed: bool = False
    write_failed: list[str] = field(default_factory=list)
    waits: str = ""

    def add(self, other: Consolidated) -> None:
        """Count in what another pass did; why that one waits is why this one does."""
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            if isinstance(mine, dict):
                theirs = {reason: mine.get(reason, 0) + count for reason, count in theirs.items()}
                mine.update(theirs)
            elif isinstance(mine, bool):
                setattr(self, each.name, mine or theirs)
            elif not isinstance(mine, str):
                setattr(self, each.name, mine + theirs)
        self.waits = other.waits

    def reject(self, reason: str) -> None:
        """Count something that was said and is not kept."""
        self.rejected[reason] = self.rejected.get(reason, 0) + 1


def consolidate(
    store: Store,
    *,
    now: datetime,
    limit: int | None = None,
    dry_run: bool = False,
    review: Review = "doubtful",
) -> Consolidated:
    """Consolidate pending notes, the oldest session first, at most `limit`."""
    done = Consolidated()
    seen: dict[Scope, Earlier] = {}
    pending = sorted(
        notes.pending(store), key=lambda each: (day_of(each.note), str(each.note.started), each.name)
    )
    for some in _parts(pending[:limit]):
        with store.writing(label="consolidate", at=now, dry_run=dry_run) as batch:
            for each in some:
                file_away(batch, each, seen, done, review=review)
    return done


def file_away(
    batch: Writing,
    each: NoteFile,
    seen: dict[Scope, Earlier],
    done: Consolidated,
    *,
    review: Review = "doubtful",
) -> None:
    """Write the entries of one note by its labels and mark it as handled, in one batch.

    `seen` is kept over the notes of a run, oldest first; `done` is counted on.
    """
    _one(batch, each, seen, done, review if isinstance(review, str) else review(each.note))
    notes.save(
        batch,
        replace(each.note, consolidated=batch.at, through=each.note.last, needs_review=False),
        name=each.name,
    )
    done.notes += 1


def _one(batch: Writing, each: NoteFile, seen: dict[Scope, Earlier], done: Consolidated, review: str) -> None:
    """Write the entries of one note."""
    note, scope = each.note, scope_of(each.note)
    if scope not in seen:
        seen[scope] = Earlier(batch.store, scope)
    earlier = seen[scope]
    graves = Graves.load(batch.store, scope)
    for planned in plan(note, earlier.until(day_of(note)), own=earlier.own(note.session), review=review):
        draft = _beside(planned, earlier)
        if graves.refusal(planned.draft.heading, planned.draft.body) is not None:
            done.refused += 1
        elif batch.known(draft.scope, entry_hash(draft.heading, draft.body)) is not None:
            done.known += 1
        else:
            id_ = batch.add(draft).id
            done.entries += 1
            for past in _ended(planned, earlier):
                batch.change(past.id, _superseded(id_))
                earlier.gone(past)
                done.superseded.append(past.id)
            earlier.add(draft, id_, note.session)


def _beside(planned: Planned, earlier: Earlier) -> Draft:
    """Let what waits for a person name the entry that it would replace."""
    draft = planned.draft
    replaced = earlier.replaced(draft) if draft.trust == "candidate" and planned.label in _TURNING else None
    return draft if replaced is None else conflicting(draft, replaced.id)


def _ended(planned: Planned, earlier: Earlier) -> Sequence[Past]:
    """Give the entries that a new one puts out of force; what waits for a person ends none."""
    draft = planned.draft
    if draft.trust == "candidate":
        return ()
    replaced = earlier.replaced(draft) if planned.label in _TURNING else None
    closed = earlier.closed(draft)
    return [*closed, *([replaced] if replaced is not None and replaced not in closed else [])]


def _superseded(by: str) -> Callable[[Entry], Entry]:
    return lambda entry: with_field(entry, "Status", f"superseded by {by}")


def _parts(pending: Sequence[NoteFile]) -> Iterator[Sequence[NoteFile]]:
    """Cut into batches of one scope each, so that a batch holds the topics of one project in memory."""
    scopes: dict[Scope, list[NoteFile]] = {}
    for each in pending:
        scopes.setdefault(scope_of(each.note), []).append(each)
    for some in scopes.values():
        for start in range(0, len(some), _BATCH):
            yield some[start : start + _BATCH]
