"""Review: what becomes of that which waits for a person, once the person has decided.

A candidate waits in its file, a note that no model could handle in `digests/`. Approving makes the person
one of an entry's sources, so that no model overrules it; rejecting keeps the content from coming back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.formats.entry import Entry, with_body, with_field
from lamina.formats.source import USER, render_sources
from lamina.pipeline import forget
from lamina.pipeline.changes import conflict_of, without_conflict
from lamina.pipeline.consolidate import Consolidated, Review, file_away
from lamina.pipeline.filters import IN_FORCE
from lamina.pipeline.redact import redact
from lamina.pipeline.revise import revision
from lamina.pipeline.waiting import CANDIDATE, Target, target
from lamina.store import notes, tombstones
from lamina.store.notes import NoteFile
from lamina.store.store import Located

if TYPE_CHECKING:
    from datetime import datetime

    from lamina.formats.note import Note
    from lamina.formats.scope import Scope
    from lamina.pipeline.earlier import Earlier
    from lamina.store.store import Store
    from lamina.store.write import Writing

Json = dict[str, Any]
Step = Callable[["Writing", Target], Json]
_HINTS = {
    "approved": "`lamina edit ID` changes it, `lamina forget ID` takes it away",
    "superseded": "`lamina show ID` says by what",
    "forgotten": "`lamina forget ID --undo` releases it",
}


@dataclass(slots=True)
class Reviewed:
    """What was done, one row an id, and what was not: the id as it was given and why."""

    done: list[Json] = field(default_factory=list)
    failed: list[tuple[str, errors.LaminaError]] = field(default_factory=list)


def approve(
    store: Store,
    names: Sequence[str],
    now: datetime,
    *,
    keep_both: bool = False,
    review: Review = "doubtful",
    dry_run: bool = False,
) -> Reviewed:
    """Approve candidates, and file notes that wait for review by their labels.

    What a candidate conflicts with is superseded by it unless `keep_both`. `review` says which of a note's
    entries wait in turn.
    """
    seen: dict[Scope, Earlier] = {}

    def step(batch: Writing, found: Target) -> Json:
        if isinstance(found, NoteFile):
            return _file(batch, found, seen, review)
        return _settle(batch, found, _approved, keep_both=keep_both, status="approved")

    return _decide(store, names, now, label="review approve", step=step, dry_run=dry_run)


def edit(  # noqa: PLR0913 - one for each word of the command
    store: Store,
    name: str,
    now: datetime,
    *,
    text: str | None = None,
    heading: str | None = None,
    keep_both: bool = False,
    seen: str | None = None,
    dry_run: bool = False,
) -> Reviewed:
    """Change a candidate and approve it, in one write.

    `seen` is the entry's text as the person saw it: ChangedMeanwhile if it says something else by now.
    """
    said = {"trust": "approved"} | ({} if heading is None else {"heading": heading})
    change = revision(text=text, fields=said, today=now.date())

    def step(batch: Writing, found: Target) -> Json:
        if isinstance(found, NoteFile):
            raise errors.Refused(
                f"{found.name} is a note, no candidate",
                f"change its bullets in {found.path} with an editor, then approve it",
            )
        if seen is not None and found.entry.trust == CANDIDATE and found.entry.raw.strip() != seen.strip():
            raise _changed(found.entry.id or found.rel)
        if found.entry.trust == "approved":
            raise _no_candidate(found.entry)
        return _settle(
            batch, found, lambda entry: _plain(change(entry)), keep_both=keep_both, status="edited"
        )

    return _decide(store, [name], now, label="review edit", step=step, dry_run=dry_run)


def reject(
    store: Store, names: Sequence[str], now: datetime, *, reason: str, dry_run: bool = False
) -> Reviewed:
    """Forget candidates for a reason, so that they do not come back; settle notes with nothing filed."""
    why_not = " ".join(redact(reason).text.split())
    if not why_not:
        raise errors.UsageError(
            "reject wants a reason", "--reason TEXT; it is told when the value comes back"
        )

    def step(batch: Writing, found: Target) -> Json:
        if isinstance(found, NoteFile):
            settled = replace(_waiting_note(batch, found), consolidated=now, needs_review=False)
            notes.save(batch, settled, name=found.name)
            return {"id": found.name, "status": "rejected", "heading": "", "file": found.rel}
        entry = _candidate(batch, found)
        tombstones.bury(batch, found.scope, _plain(entry), reason=why_not)
        status = f"forgotten {now.date()}"
        _change(batch, entry, lambda old: with_field(_plain(old), "Status", status))
        return _told(found, "rejected")

    return _decide(store, names, now, label="review reject", step=step, dry_run=dry_run)


def _decide(
    store: Store, names: Sequence[str], now: datetime, *, label: str, step: Step, dry_run: bool
) -> Reviewed:
    """Do one thing to each of the named in one write; what is refused of one stops no other.

    Each step checks everything before it changes anything. A file that is in somebody's hands when all is
    written fails the whole write: then each is tried alone.
    """
    out = Reviewed()
    found = _targets(store, names, now, out, dry_run=dry_run)
    if not found:
        return out
    before = len(out.failed)
    try:
        with store.writing(label=label, at=now, dry_run=dry_run) as batch:
            for name, each in found.items():
                try:
                    out.done.append(step(batch, each))
                except (errors.Refused, errors.NoEntry) as problem:
                    out.failed.append((name, problem))
    except errors.ChangedMeanwhile as problem:
        out.done.clear()
        del out.failed[before:]
        if len(found) == 1:
            out.failed.append((next(iter(found)), problem))
            return out
        for name in found:
            alone = _decide(store, [name], now, label=label, step=step, dry_run=dry_run)
            out.done += alone.done
            out.failed += alone.failed
    return out


def _targets(
    store: Store, names: Sequence[str], now: datetime, out: Reviewed, *, dry_run: bool
) -> dict[str, Target]:
    """Find each of the named once; entries that a person wrote without an id get theirs."""
    found: dict[str, Target] = {}
    places = set()
    for name in dict.fromkeys(names):
        try:
            each = target(store, name)
        except errors.LaminaError as problem:
            out.failed.append((name, problem))
            continue
        if isinstance(each, Located) and not each.entry.id and each.entry.trust == CANDIDATE and not dry_run:
            each = next(iter(forget.identified(store, [each], now)), each)
        place = (each.rel, each.entry.line if isinstance(each, Located) else 0)
        if place not in places:
            places.add(place)
            found[name] = each
    return found


def _settle(
    batch: Writing, found: Located, change: Callable[[Entry], Entry], *, keep_both: bool, status: str
) -> Json:
    """Take a candidate into force, and what it conflicts with out of it."""
    if _now(batch, found).trust == "approved":
        return _told(found, "known")
    entry = _candidate(batch, found)
    against = "" if keep_both else _in_force(batch, entry)
    _change(batch, entry, change)
    if against:
        batch.change(against, partial(_replaced, by=entry.id))
    return _told(found, status) | {"superseded": [against] if against else []}


def _file(batch: Writing, found: NoteFile, seen: dict[Scope, Earlier], review: Review) -> Json:
    """Turn a note that waits into entries, by its labels."""
    told = {"id": found.name, "heading": "", "file": found.rel}
    fresh = notes.load(batch.store, found.name)
    if fresh is not None and fresh.note.consolidated is not None:
        return told | {"status": "known"}
    made, before = Consolidated(), len(batch.written)
    file_away(batch, found._replace(note=_waiting_note(batch, found)), seen, made, review=review)
    added = [each for each in batch.written[before:] if each.id not in made.superseded]
    return told | {
        "status": "filed",
        "entries": [each.id for each in added],
        "waiting": [each.id for each in added if each.entry.trust == CANDIDATE],
        "known": made.known,
        "refused": made.refused,
        "superseded": made.superseded,
    }


def _waiting_note(batch: Writing, found: NoteFile) -> Note:
    """Return the note as it is now; raises Refused for one that does not wait for review."""
    fresh = notes.load(batch.store, found.name)
    if fresh is None:
        raise errors.ChangedMeanwhile(f"{found.rel} is gone by now", "`lamina review` lists what waits")
    if fresh.note.consolidated is not None:
        raise errors.Refused(
            f"{found.name} was turned into memories already", "`lamina forget` takes them back"
        )
    if not fresh.note.needs_review:
        raise errors.Refused(
            f"{found.name} waits for no review", "`lamina consolidate` turns it into memories"
        )
    return fresh.note


def _candidate(batch: Writing, found: Located) -> Entry:
    """Return the entry as it is now; raises Refused if it is none, or another one than was meant."""
    entry = _now(batch, found)
    if entry.trust != CANDIDATE:
        raise _no_candidate(entry)
    if entry.raw.strip() != found.entry.raw.strip():
        raise _changed(entry.id)
    return entry


def _now(batch: Writing, found: Located) -> Entry:
    if not found.entry.id:  # only in a dry run, or where no id could be given
        return found.entry
    entry = batch.find(found.entry.id)
    if entry is None:
        raise errors.ChangedMeanwhile(
            f"{found.entry.id} was taken out of {found.rel} meanwhile", "`lamina review` lists what waits"
        )
    return entry


def _change(batch: Writing, seen: Entry, change: Callable[[Entry], Entry]) -> None:
    """Change an entry that nobody else changes before it is written."""

    def guarded(entry: Entry) -> Entry:
        if entry.raw.strip() != seen.raw.strip():
            raise _changed(seen.id)
        return change(entry)

    if seen.id:
        batch.change(seen.id, guarded)


def _approved(entry: Entry) -> Entry:
    entry = with_field(_plain(entry), "Trust", None)
    if USER in entry.sources:
        return entry
    return with_field(entry, "Source", render_sources((*entry.sources, USER)))


def _plain(entry: Entry) -> Entry:
    """Return an entry without the line that names a conflict."""
    return with_body(entry, without_conflict(entry.body)) if conflict_of(entry.body) else entry


def _in_force(batch: Writing, entry: Entry) -> str:
    """Return the id of the entry that a candidate conflicts with, "" for none that is in force."""
    other = batch.find(against) if (against := conflict_of(entry.body)) else None
    return other.id if other is not None and other.id != entry.id and other.trust in IN_FORCE else ""


def _replaced(entry: Entry, *, by: str) -> Entry:
    """Take an entry out of force; one that somebody forgot meanwhile stays forgotten."""
    return with_field(entry, "Status", f"superseded by {by}") if entry.trust in IN_FORCE else entry


def _told(found: Located, status: str) -> Json:
    entry = found.entry
    return {
        "id": entry.id or f"{found.rel}:{entry.line}",
        "status": status,
        "heading": entry.heading,
        "file": found.rel,
    }


def _no_candidate(entry: Entry) -> errors.Refused:
    hint = _HINTS.get(entry.trust, "").replace("ID", entry.id or "ID")
    return errors.Refused(f"{entry.id or entry.heading} is no candidate: it is {entry.trust}", hint)


def _changed(id_: str) -> errors.ChangedMeanwhile:
    return errors.ChangedMeanwhile(
        f"{id_} was changed meanwhile; nothing was written", f"look again: `lamina review show {id_}`"
    )
